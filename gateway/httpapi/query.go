package httpapi

import (
	"strconv"

	"signpost/gateway"
	"signpost/resolver"
	"signpost/resolver/catalog"
	"signpost/resolver/snapshot"
)

// Reads of prepared queries.
// Source: reference, prepared queries, sections 1, 2 and 10.

// GET /v1/query: all queries in the order of their IDs.
func listQueries(c *call) error {
	return ask(c, &gateway.QueryList, gateway.None{}, func(_ *call, b []byte, list []*snapshot.QueryEntry) []byte {
		return appendList(b, list, appendQuery)
	})
}

// GET /v1/query/:query: a list of the one query with that ID.
func getQuery(c *call) error {
	id, err := c.name("query ID")
	if err != nil {
		return err
	}
	return ask(c, &gateway.QueryGet, id, func(_ *call, b []byte, q *snapshot.QueryEntry) []byte {
		return append(appendQuery(append(b, '['), q), ']')
	})
}

// GET /v1/query/:query/execute?limit=&connect=&near=: what the query with the
// ID or name finds.
func executeQuery(c *call) error {
	name, err := c.name("query name")
	if err != nil {
		return err
	}
	p := gateway.ExecuteParams{Query: name}
	if len(c.params) > 0 {
		if p.ExecuteOptions, err = c.executeOptions(); err != nil {
			return err
		}
	}
	return ask(c, &gateway.QueryExecute, p, encodeExecution)
}

func (c *call) executeOptions() (o resolver.ExecuteOptions, err error) {
	if text := c.params.get("limit"); text != "" {
		if o.Limit, err = strconv.Atoi(text); err != nil {
			return o, invalid("Bad limit: %s", err)
		}
	}
	if o.Connect, err = c.params.truth("connect"); err != nil {
		return o, invalid("Error parsing 'connect' value: %s", err)
	}
	return o, nil
}

func encodeExecution(c *call, b []byte, e resolver.Execution) []byte {
	b = appendField(b, `{"Service":`, e.Service)
	b = c.door.instances(append(b, `,"Nodes":`...), e.Nodes, formExecute)
	b = appendField(b, `,"DNS":{"TTL":`, e.DNS.TTL)
	b = appendField(b, `},"Datacenter":`, e.Datacenter)
	b = appendField(b, `,"PeerName":`, e.PeerName)
	b = appendInt(b, `,"Failovers":`, e.Failovers)
	b = appendIndex(b, `,"Index":`, c.index)
	b = appendInt(b, `,"LastContact":`, int(c.contact.Age)) // in nanoseconds, other than in the header
	b = appendBool(b, `,"KnownLeader":`, c.contact.Known)
	b = appendField(b, `,"ConsistencyLevel":`, effective(c.request.Consistency)[0])
	return append(b, `,"NotModified":false,"Backend":0,"ResultsFilteredByACLs":false}`...)
}

// appendQuery is a stored query: lists and maps as they were given, the
// indexes both by themselves and as RaftIndex.
func appendQuery(b []byte, q *snapshot.QueryEntry) []byte {
	b = appendField(b, `{"ID":`, q.ID)
	b = appendField(b, `,"Name":`, q.Name)
	b = appendField(b, `,"Session":`, q.Session)
	b = appendField(b, `,"Token":`, q.Token)
	b = appendField(b, `,"Template":{"Type":`, q.Template.Type)
	b = appendField(b, `,"Regexp":`, q.Template.Regexp)
	b = appendBool(b, `,"RemoveEmptyTags":`, q.Template.RemoveEmptyTags)
	b = appendQueryService(append(b, `},"Service":`...), &q.Service)
	b = appendField(b, `,"DNS":{"TTL":`, q.DNS.TTL)
	b = appendIndexes(append(b, '}'), q.CreateIndex, q.ModifyIndex)
	b = appendIndex(b, `,"RaftIndex":{"CreateIndex":`, q.CreateIndex)
	return append(appendIndex(b, `,"ModifyIndex":`, q.ModifyIndex), "}}"...)
}

func appendQueryService(b []byte, s *catalog.QueryService) []byte {
	b = appendField(b, `{"Service":`, s.Service)
	if s.Namespace != "" {
		b = appendField(b, `,"Namespace":`, s.Namespace)
	}
	b = appendField(b, `,"SamenessGroup":`, s.SamenessGroup)
	b = appendInt(b, `,"Failover":{"NearestN":`, s.Failover.NearestN)
	b = appendStrings(append(b, `,"Datacenters":`...), s.Failover.Datacenters)
	b = appendList(append(b, `,"Targets":`...), s.Failover.Targets, appendTarget)
	b = appendBool(b, `},"OnlyPassing":`, s.OnlyPassing)
	b = appendStrings(append(b, `,"IgnoreCheckIDs":`...), s.IgnoreCheckIDs)
	b = appendField(b, `,"Near":`, s.Near)
	b = appendStrings(append(b, `,"Tags":`...), s.Tags)
	b = appendPairs(append(b, `,"NodeMeta":`...), s.NodeMeta)
	b = appendPairs(append(b, `,"ServiceMeta":`...), s.ServiceMeta)
	b = appendBool(b, `,"Connect":`, s.Connect)
	return append(appendField(b, `,"Peer":`, s.Peer), '}')
}

func appendTarget(b []byte, t catalog.FailoverTarget) []byte {
	b = appendField(b, `{"Peer":`, t.Peer)
	return append(appendField(b, `,"Datacenter":`, t.Datacenter), '}')
}

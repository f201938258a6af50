package httpapi

import (
	"signpost/gateway"
	"signpost/resolver/catalog"
)

// Writes of prepared queries.
// Source: reference, prepared queries, sections 2 and 3.

// queryBody is a definition as clients send it. What the server gives out
// (indexes) may be sent back and is ignored.
type queryBody struct {
	ID          string
	Name        string
	Session     string
	Token       string
	Template    catalog.Template
	Service     queryServiceBody
	DNS         catalog.QueryDNS
	CreateIndex uint64
	ModifyIndex uint64
	RaftIndex   indexesBody
}

type indexesBody struct {
	CreateIndex uint64
	ModifyIndex uint64
}

type queryServiceBody struct {
	Service        string
	Namespace      string
	SamenessGroup  string
	Failover       catalog.Failover
	OnlyPassing    bool
	IgnoreCheckIDs []string
	Near           string
	Tags           []string
	NodeMeta       map[string]string
	ServiceMeta    map[string]string
	Connect        bool
	Peer           string
}

func (q *queryBody) query() (catalog.Query, error) {
	return catalog.Query{
		ID: q.ID, Name: q.Name, Session: q.Session, Token: q.Token,
		Template: q.Template, Service: catalog.QueryService(q.Service), DNS: q.DNS,
	}, checkNamespace(q.Service.Namespace)
}

// POST /v1/query: creates a query. Answer: {"ID": its UUID}.
func createQuery(c *call) error {
	var body queryBody
	if err := decode(c, &body); err != nil {
		return err
	}
	q, err := body.query()
	if err != nil {
		return err
	}
	id, err := do(c, &gateway.QueryCreate, q)
	if err != nil {
		return err
	}
	c.body = append(appendField(nil, `{"ID":`, id), '}')
	return nil
}

// PUT /v1/query/:query: replaces the query with that ID; an ID in the body
// is ignored, no body is an empty one. Answer: nothing.
func updateQuery(c *call) error {
	id, err := c.name("query ID")
	if err != nil {
		return err
	}
	var body queryBody
	if _, err := decodeOptional(c, &body); err != nil {
		return err
	}
	q, err := body.query()
	if err != nil {
		return err
	}
	_, err = do(c, &gateway.QueryUpdate, gateway.UpdateParams{ID: id, Query: q})
	return err
}

// DELETE /v1/query/:query: removes the query with that ID. Answer: nothing.
func deleteQuery(c *call) error {
	id, err := c.name("query ID")
	if err != nil {
		return err
	}
	_, err = do(c, &gateway.QueryDelete, id)
	return err
}

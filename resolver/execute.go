package resolver

import (
	"signpost/resolver/catalog"
	"signpost/resolver/snapshot"
)

// Rand gives a uniform number in [0, n). math/rand/v2.IntN is one.
type Rand func(n int) int

// Execution is the result of a prepared query.
// Source: spec, "Execution result".
type Execution struct {
	Service    string // that the query selected
	Nodes      []*snapshot.Instance
	DNS        catalog.QueryDNS
	Datacenter string // that supplied the nodes; empty when it was a peer
	PeerName   string
	Failovers  int
}

// ExecuteOptions are what a caller may ask of one execution.
type ExecuteOptions struct {
	Limit   int  // at most so many nodes; 0 or less: all
	Connect bool // only mesh-capable instances, whatever the query says
}

// FindQuery finds a query by its ID or else by its name, as clients may give
// either; nil if there is none.
// Source: reference, prepared queries, section 5.
func FindQuery(s *snapshot.Snapshot, nameOrID string) *snapshot.QueryEntry {
	if nameOrID == "" {
		return nil
	}
	if len(nameOrID) == 36 {
		if q := s.Query(nameOrID); q != nil {
			return q
		}
	}
	return s.QueryNamed(nameOrID)
}

// Execute runs a query in its own datacenter: the instances that pass its
// filters, in an order drawn anew by rnd, cut to the limit. Where nothing is
// found, failover to peers is counted as the reference counts it; instances
// of peers and of other datacenters are not in a snapshot.
// Source: reference, prepared queries, sections 7 and 9.
func Execute(s *snapshot.Snapshot, q *snapshot.QueryEntry, datacenter string, o ExecuteOptions, rnd Rand) Execution {
	e := Execution{Service: q.Service.Service, DNS: q.DNS, Datacenter: datacenter}
	if q.Service.Peer == "" {
		e.Nodes = Draw(q.Matches(s, o.Connect), o.Limit, rnd)
	}
	if len(e.Nodes) > 0 {
		return e
	}
	for _, target := range q.Service.Failover.Targets {
		if target.Peer != "" {
			e.Failovers++
			e.Datacenter, e.PeerName = "", target.Peer
		}
	}
	return e
}

// Draw gives limit instances in random order, every choice and order being
// equally likely; all of them if limit is 0 or less. The list stays as it is.
// It costs time by what it gives, not by what it draws from, while that is
// less than half of it.
func Draw(from []*snapshot.Instance, limit int, rnd Rand) []*snapshot.Instance {
	if limit <= 0 || limit > len(from) {
		limit = len(from)
	}
	if 2*limit < len(from) {
		return drawFew(from, limit, rnd)
	}
	out := append([]*snapshot.Instance(nil), from...)
	for i := range limit {
		j := i + rnd(len(out)-i)
		out[i], out[j] = out[j], out[i]
	}
	return out[:limit]
}

// drawFew is the same shuffle over a list of which only the places that were
// moved are written down.
func drawFew(from []*snapshot.Instance, limit int, rnd Rand) []*snapshot.Instance {
	moved := make(map[int]*snapshot.Instance, limit)
	at := func(i int) *snapshot.Instance {
		if inst, ok := moved[i]; ok {
			return inst
		}
		return from[i]
	}
	out := make([]*snapshot.Instance, limit)
	for i := range out {
		j := i + rnd(len(from)-i)
		out[i] = at(j)
		moved[j] = at(i)
	}
	return out
}

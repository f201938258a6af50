package db

import (
	"signpost/resolver/catalog"
)

// claims are the records that the writes of one transaction may change, each
// with the content that it would get. Two writes that want the same content
// agree; any other second write to a record has to wait for the next
// transaction. So a record has one content per index, for ever.
type claims map[string]string

// claim is one write's wish for one record.
type claim struct {
	record  string
	content string
}

// Contents that are not contents.
const (
	deleted = "\x00deleted"
	kept    = "\x00kept" // the write relies on the record being there
)

// admit adds the claims of a write, unless one contradicts those admitted.
func (c claims) admit(wanted []claim) bool {
	for _, w := range wanted {
		if have, ok := c[w.record]; ok && have != w.content {
			return false
		}
	}
	for _, w := range wanted {
		c[w.record] = w.content
	}
	return true
}

func nodeRecord(name string) string        { return "node\x00" + catalog.Fold(name) }
func serviceRecord(node, id string) string { return "service\x00" + catalog.Fold(node) + "\x00" + id }
func checkRecord(node, id string) string   { return "check\x00" + catalog.Fold(node) + "\x00" + id }
func queryRecord(id string) string         { return "query\x00" + id }
func queryNameRecord(name string) string   { return "query name\x00" + catalog.Fold(name) }
func sessionRecord(id string) string       { return "session\x00" + id }
func nodeIDRecord(id string) string        { return "node id\x00" + id }

func queryClaims(q *catalog.Query) []claim {
	content := mustJSON(q)
	out := []claim{{queryRecord(q.ID), content}}
	if q.Name != "" || q.IsTemplate() {
		out = append(out, claim{queryNameRecord(q.Name), content})
	}
	if catalog.IsUUID(q.Name) {
		out = append(out, claim{queryRecord(catalog.Fold(q.Name)), content})
	}
	if q.Session != "" {
		out = append(out, claim{sessionRecord(q.Session), kept})
	}
	return out
}

func registrationClaims(r *catalog.Registration) []claim {
	node := mustJSON(r.Node)
	if r.SkipNodeUpdate {
		node = kept
	}
	out := []claim{{nodeRecord(r.Node.Name), node}}
	if r.Node.ID != "" {
		out = append(out, claim{nodeIDRecord(r.Node.ID), catalog.Fold(r.Node.Name)})
	}
	if r.Service != nil {
		out = append(out, claim{serviceRecord(r.Node.Name, r.Service.ID), mustJSON(r.Service)})
	}
	for i := range r.Checks {
		c := &r.Checks[i]
		out = append(out, claim{checkRecord(r.Node.Name, c.ID), mustJSON(c)})
		if c.ServiceID != "" && (r.Service == nil || r.Service.ID != c.ServiceID) {
			out = append(out, claim{serviceRecord(r.Node.Name, c.ServiceID), kept})
		}
	}
	return out
}

func deregistrationClaims(d *catalog.Deregistration) []claim {
	switch {
	case d.ServiceID != "":
		// Its checks go along, whichever they are: nothing may be registered
		// on the node in the same transaction.
		return []claim{{nodeRecord(d.Node), deleted + " services"}, {serviceRecord(d.Node, d.ServiceID), deleted}}
	case d.CheckID != "":
		return []claim{{checkRecord(d.Node, d.CheckID), deleted}}
	}
	return []claim{{nodeRecord(d.Node), deleted}}
}

func claimsOf(w catalog.Write) []claim {
	switch w := w.(type) {
	case catalog.Registration:
		return registrationClaims(&w)
	case catalog.Deregistration:
		return deregistrationClaims(&w)
	case catalog.CreateQuery:
		return queryClaims(&w.Query)
	case catalog.UpdateQuery:
		return queryClaims(&w.Query)
	case catalog.DeleteQuery:
		return []claim{{queryRecord(w.ID), deleted}}
	}
	return nil
}

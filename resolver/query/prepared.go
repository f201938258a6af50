// Package query is what a prepared query means: which instances it lets
// through, and how long its answers live in DNS.
//
// A definition is compiled once, when a snapshot takes it in; after that
// nothing here changes, and every function is pure.
package query

import (
	"slices"
	"strings"
	"time"

	"signpost/resolver/catalog"
)

// Prepared is a query definition ready for execution.
type Prepared struct {
	*catalog.Query
	required []string // folded
	excluded []string // folded, without the "!"
	ttl      time.Duration
	hasTTL   bool
}

// Prepare compiles a stored definition. The definition was validated when it
// was written; should a hand-typed row hold a bad TTL, it counts as none.
func Prepare(q *catalog.Query) *Prepared {
	p := &Prepared{Query: q}
	for _, tag := range q.Service.Tags {
		if name, ok := strings.CutPrefix(tag, "!"); ok {
			p.excluded = append(p.excluded, catalog.Fold(name))
		} else {
			p.required = append(p.required, catalog.Fold(tag))
		}
	}
	if ttl, err := time.ParseDuration(q.DNS.TTL); err == nil && ttl >= 0 {
		p.ttl, p.hasTTL = ttl, true
	}
	return p
}

// TTL is how long answers may be kept over DNS. ok is false when the query
// does not say; then the server's setting for the service counts.
func (p *Prepared) TTL() (ttl time.Duration, ok bool) { return p.ttl, p.hasTTL }

// Accepts tells whether an instance passes every filter of the query.
// Source: reference, prepared queries, section 7, steps 3 to 6.
func (p *Prepared) Accepts(node *catalog.Node, service *catalog.Service, checks []*catalog.Check) bool {
	s := &p.Service
	return Healthy(checks, s.OnlyPassing, s.IgnoreCheckIDs) &&
		HasPairs(node.Meta, s.NodeMeta) &&
		HasPairs(service.Meta, s.ServiceMeta) &&
		p.acceptsTags(service.Tags)
}

func (p *Prepared) acceptsTags(tags []string) bool {
	for _, want := range p.required {
		if !HasTag(tags, want) {
			return false
		}
	}
	for _, bad := range p.excluded {
		if HasTag(tags, bad) {
			return false
		}
	}
	return true
}

// Healthy tells whether no considered check stands against an instance: a
// critical one, or with onlyPassing any that is not passing. Checks whose ID
// is in ignore are not considered; no checks at all is healthy.
func Healthy(checks []*catalog.Check, onlyPassing bool, ignore []string) bool {
	for _, c := range checks {
		bad := c.Status == catalog.Critical || onlyPassing && c.Status != catalog.Passing
		if bad && !slices.Contains(ignore, c.ID) {
			return false
		}
	}
	return true
}

// HasPairs tells whether meta has every wanted pair with the exact value.
func HasPairs(meta, want map[string]string) bool {
	for k, v := range want {
		if have, ok := meta[k]; !ok || have != v {
			return false
		}
	}
	return true
}

// HasTag tells whether tags has one that is equal without case to folded.
func HasTag(tags []string, folded string) bool {
	for _, t := range tags {
		if catalog.Fold(t) == folded {
			return true
		}
	}
	return false
}

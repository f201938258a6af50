package dnsapi

import (
	"context"
	"errors"
	"strings"

	"github.com/miekg/dns"

	"signpost/gateway"
	"signpost/resolver/catalog"
)

// reply is what a handler has to say. No answer at all means that the name
// exists but has no record of the type; that it does not exist is an error
// with the code NotFound.
type reply struct {
	answer    []dns.RR
	authority []dns.RR
	extra     []dns.RR
	// ends, where not nil, tells for each answer where its records in extra
	// end, so that both can be cut together.
	ends []int
	// forSubnet: the answer may depend on where the client is.
	forSubnet bool
}

var errNoName = catalog.Errorf(catalog.NotFound, "no such name")

// task is one name to be resolved: a question, or the target of an alias on
// the way to its answer.
type task struct {
	*handler
	ctx   context.Context
	w     *worker
	req   gateway.Request
	room  int // answers that fit at most
	owner string
	qtype uint16
	name  name
	ttl   uint32   // of the answer; set when instances are drawn
	chain []string // aliases that led here, folded; nil for a question
}

// reply resolves the task's name. Its zone must be known.
func (t *task) reply() (reply, error) {
	n := &t.name
	switch {
	case n.apex:
		return t.apexReply()
	case n.route == nil:
		if t.isDatacenter(n.parts) {
			return reply{}, nil // names below it exist
		}
		return reply{}, errNoName
	case !n.route.local(n.where):
		return reply{}, errNoName
	case len(n.parts) == 0:
		return reply{}, nil // "service" and the like: names below it exist
	}
	r, err := n.route.renderer(t.qtype)(t)
	switch {
	case n.implied && err == nil && t.qtype != dns.TypeSRV:
		return reply{}, nil // the short form is for SRV alone
	case errors.Is(err, errNoName) && len(n.parts) == 1 && strings.HasPrefix(n.parts[0], "_"):
		return reply{}, nil // "_tcp" and the like: names of RFC 2782 are below it
	}
	return r, err
}

// isDatacenter tells whether labels are the end of names that have our
// datacenter in them.
func (h *handler) isDatacenter(labels []string) bool {
	switch len(labels) {
	case 1:
		return labels[0] == h.datacenter || labels[0] == "dc"
	case 2:
		return labels[0] == h.datacenter && labels[1] == "dc"
	}
	return false
}

// maxAliases is how many of our own names an alias is followed through.
const maxAliases = 3

var errTooDeep = catalog.Errorf(catalog.Internal, "aliases lead too far or in a circle")

// alias gives a CNAME and what its target resolves to, if that is one of our
// own names. Where aliases lead in a circle or too far, it is the CNAME alone.
func (t *task) alias(target string, ttl uint32) ([]dns.RR, error) {
	out := []dns.RR{&dns.CNAME{Hdr: t.header(t.owner, dns.TypeCNAME, ttl), Target: target}}
	if t.qtype == dns.TypeCNAME {
		return out, nil
	}
	more, err := t.chase(target, t.qtype)
	if err != nil && t.chain != nil {
		return nil, err
	}
	return append(out, more...), nil
}

// chase resolves a name of our own to addresses. Its only error is errTooDeep:
// a target that does not exist yields nothing.
func (t *task) chase(target string, qtype uint16) ([]dns.RR, error) {
	labels := splitName(nil, target)
	n := t.parse(labels)
	if n.zone == nil {
		return nil, nil
	}
	folded := strings.Join(labels, ".")
	chain := append(append([]string{}, t.chain...), folded)
	if len(chain) > maxAliases || t.chain == nil && folded == catalog.Fold(strings.TrimSuffix(t.owner, ".")) {
		return nil, errTooDeep
	}
	for _, seen := range t.chain {
		if seen == folded {
			return nil, errTooDeep
		}
	}
	if qtype == dns.TypeTXT || qtype == dns.TypeSRV {
		qtype = dns.TypeANY
	}
	next := &task{
		handler: t.handler, ctx: t.ctx, w: t.w, req: t.req, room: t.room,
		owner: target, qtype: qtype, name: n, chain: chain,
	}
	r, err := next.reply()
	if err != nil {
		if errors.Is(err, errTooDeep) {
			return nil, err
		}
		return nil, nil
	}
	var out []dns.RR
	for _, rr := range r.answer {
		switch rr.(type) {
		case *dns.A, *dns.AAAA, *dns.CNAME:
			out = append(out, rr)
		}
	}
	return out, nil
}

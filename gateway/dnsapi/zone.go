package dnsapi

import (
	"slices"
	"strings"

	"github.com/miekg/dns"

	"signpost/gateway"
	"signpost/resolver"
	"signpost/resolver/catalog"
)

// zone is one of the domains that names are looked up under.
type zone struct {
	name   string   // lower case, with a dot at its end
	labels []string // of the name
}

func zoneName(domain string) string { return catalog.Fold(strings.Trim(domain, ".")) + "." }

func newZone(domain string) *zone {
	z := &zone{name: zoneName(domain)}
	z.labels = splitName(nil, z.name)
	return z
}

// zoneOf finds the zone that a name is in, the closest if one is in the
// other; nil if in none.
func (h *handler) zoneOf(labels []string) *zone {
	for _, z := range h.zones {
		if from := len(labels) - len(z.labels); from >= 0 && slices.Equal(labels[from:], z.labels) {
			return z
		}
	}
	return nil
}

// soa is the record at the apex and in negative answers. Its serial is the
// time: contents change with every registration, and there are no transfers.
// Source: reference, DNS, section 6.
func (h *handler) soa(z *zone) *dns.SOA {
	minTTL := seconds(h.SOA.MinTTL)
	return &dns.SOA{
		Hdr: dns.RR_Header{Name: z.name, Rrtype: dns.TypeSOA, Class: dns.ClassINET, Ttl: minTTL},
		Ns:  "ns." + z.name, Mbox: "hostmaster." + z.name, Serial: uint32(h.now().Unix()),
		Refresh: seconds(h.SOA.Refresh), Retry: seconds(h.SOA.Retry), Expire: seconds(h.SOA.Expire), Minttl: minTTL,
	}
}

// apexReply answers for the zone itself.
func (t *task) apexReply() (reply, error) {
	switch t.qtype {
	case dns.TypeSOA, dns.TypeNS, dns.TypeANY:
	default:
		return reply{}, nil
	}
	ns, glue, err := t.nameServer()
	if err != nil {
		return reply{}, err
	}
	var r reply
	if t.qtype != dns.TypeNS {
		r.answer = append(r.answer, t.soa(t.name.zone))
	}
	switch {
	case ns == nil:
	case t.qtype == dns.TypeSOA:
		r.authority = append(r.authority, ns)
		r.extra = glue
	default:
		r.answer = append(r.answer, ns)
		r.extra = glue
	}
	return r, nil
}

// nameServer is the logical agent, which all replicas are together. There is
// none if its name cannot stand in a host name.
func (t *task) nameServer() (dns.RR, []dns.RR, error) {
	node := strings.ToLower(t.g.NodeName)
	if strings.Trim(node, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || len(node) > 63 {
		return nil, nil, nil
	}
	n := &catalog.Node{Name: node, Address: t.g.NodeAddress}
	stored, err := gateway.Ask(t.ctx, t.g, &gateway.CatalogNode, &t.req, node)
	switch {
	case err == nil:
		n = stored.Value
	case catalog.CodeOf(err) != catalog.NotFound:
		return nil, nil, err
	}
	target := node + ".node." + t.datacenter + "." + t.name.zone.name
	ns := &dns.NS{Hdr: t.header(t.name.zone.name, dns.TypeNS, t.nodeTTL), Ns: target}
	var glue []dns.RR
	if ip, ok := parseIP(resolver.NodeAddress(n, resolver.AnyFamily)); ok {
		glue = append(glue, t.address(target, ip, t.nodeTTL))
	}
	return ns, glue, nil
}

package dnsapi

import (
	"encoding/hex"

	"github.com/miekg/dns"

	"signpost/resolver"
	"signpost/resolver/catalog"
	"signpost/resolver/snapshot"
)

// server is what SRV records are told apart by.
type server struct {
	node    *catalog.Node
	address string
	port    int
}

// instanceServers gives an SRV record for each distinct node, service address
// and port, and what is known of their targets.
// Source: reference, DNS, section 3, "SRV details".
func instanceServers(t *task) (reply, error) {
	var r reply
	var seen fewSet[server]
	start := func() {
		r = reply{answer: t.w.answer[:0], extra: t.w.beside[:0], ends: t.w.ends[:0], forSubnet: t.forSubnet()}
		seen = fewSet[server]{}
	}
	start()
	want := t.room + 1
	err := t.collect(want, start, func(inst *snapshot.Instance) bool {
		if seen.add(server{inst.Node, inst.Service.Address, inst.Service.Port}) {
			t.addServer(&r, inst)
		}
		return len(r.answer) == want
	})
	t.w.answer, t.w.beside, t.w.ends = r.answer, r.extra, r.ends
	return r, err
}

// addServer leaves an instance out that cannot be reached: without a usable
// address, or with a port that no record can hold.
func (t *task) addServer(r *reply, inst *snapshot.Instance) {
	port := inst.Service.Port
	if port < 0 || port > 65535 {
		return
	}
	node, named := t.nodeName(inst.Node)
	address, own := resolver.InstanceAddress(inst, resolver.AnyFamily)
	if own && t.isOwner(address) {
		address, own = resolver.NodeAddress(inst.Node, resolver.AnyFamily), false
	}
	target := node
	switch ip, ok := parseIP(address); {
	case !ok && !isHostName(address):
		return
	case !ok:
		target = dns.Fqdn(address)
		if more, err := t.chase(target, dns.TypeSRV); err == nil {
			r.extra = append(r.extra, more...)
		}
	case own || !named:
		target = hex.EncodeToString(ip.AsSlice()) + ".addr." + t.datacenter + "." + t.name.zone.name
		fallthrough
	default:
		r.extra = append(r.extra, t.address(target, ip, t.ttl))
	}
	if named && !t.NoNodeMetaTXT {
		r.extra = append(r.extra, t.texts(node, inst.Node, t.ttl)...)
	}
	rr := t.w.records.srv.next()
	*rr = dns.SRV{
		Hdr:      t.header(t.owner, dns.TypeSRV, t.ttl),
		Priority: 1, Weight: weight(inst), Port: uint16(port), Target: target,
	}
	r.answer = append(r.answer, rr)
	r.ends = append(r.ends, len(r.extra))
}

// weight is by the worst check of an instance.
func weight(inst *snapshot.Instance) uint16 {
	w := 1
	switch inst.Status() {
	case catalog.Passing:
		w = inst.Service.Weights.Passing
	case catalog.Warning:
		w = inst.Service.Weights.Warning
	case catalog.Critical:
		w = 0
	}
	return uint16(min(max(w, 0), 65535))
}

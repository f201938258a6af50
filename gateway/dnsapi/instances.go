package dnsapi

import (
	"encoding/hex"
	"net/netip"

	"github.com/miekg/dns"

	"signpost/resolver"
	"signpost/resolver/catalog"
	"signpost/resolver/snapshot"
)

// collect draws instances and hands them to take, until that has what it
// wants. First so many are drawn as fit; when they do not suffice, because
// some yield no record, all of them are, afresh.
// An error, errNoName if there is no instance at all, is passed on.
func (t *task) collect(want int, restart func(), take func(*snapshot.Instance) (enough bool)) error {
	for limit := want; ; limit = 0 {
		drawn, err := t.name.route.draw(t, limit)
		if err != nil {
			return err
		}
		if len(drawn) == 0 {
			return errNoName
		}
		for _, inst := range drawn {
			if take(inst) {
				return nil
			}
		}
		if limit == 0 || len(drawn) < limit {
			return nil
		}
		restart()
	}
}

// instanceAddresses gives the addresses of instances, each once.
// Source: reference, DNS, section 3.
func instanceAddresses(t *task) (reply, error) {
	found, err := t.addresses(family(t.qtype))
	if err != nil {
		return reply{}, err
	}
	r := reply{answer: found.records, forSubnet: t.forSubnet()}
	if len(r.answer) == 0 && found.alias != "" {
		r.answer, err = t.alias(found.alias, t.ttl)
	}
	return r, err
}

// instanceAliases is for types that instances have no records of: but where
// there is an alias, it stands for every type.
func instanceAliases(t *task) (reply, error) {
	found, err := t.addresses(resolver.AnyFamily)
	if err != nil || len(found.records) > 0 || found.alias == "" {
		return reply{}, err
	}
	answer, err := t.alias(found.alias, t.ttl)
	return reply{answer: answer}, err
}

// addressesFound are records of addresses, and the host name of one instance
// that has none.
type addressesFound struct {
	records []dns.RR
	alias   string
}

func (t *task) addresses(f resolver.Family) (addressesFound, error) {
	out := addressesFound{records: t.w.answer[:0]}
	if t.chain != nil {
		out.records = nil // the worker's list is the question's
	}
	want := t.room + 1 // one more than fits, so that the writer knows
	if t.ARecordLimit > 0 {
		want = min(want, t.ARecordLimit)
	}
	var seen addressSet
	err := t.collect(want,
		func() { out, seen = addressesFound{records: out.records[:0]}, addressSet{} },
		func(inst *snapshot.Instance) bool {
			address, own := resolver.InstanceAddress(inst, f)
			ip, ok := parseIP(address)
			if !ok && own && t.isOwner(address) {
				address = resolver.NodeAddress(inst.Node, f)
				ip, ok = parseIP(address)
			}
			switch {
			case ok && fits(ip, f) && seen.add(ip):
				out.records = append(out.records, t.address(t.owner, ip, t.ttl))
			case !ok && out.alias == "" && isHostName(address):
				out.alias = dns.Fqdn(address)
			}
			return len(out.records) == want
		})
	if t.chain == nil {
		t.w.answer = out.records
	}
	return out, err
}

// isOwner tells whether a host name is the one that is being asked for.
func (t *task) isOwner(address string) bool {
	return catalog.Fold(dns.Fqdn(address)) == catalog.Fold(t.owner)
}

// addressSet holds a few addresses in a list, and many in a map.
type addressSet struct {
	few  [16]netip.Addr
	n    int
	many map[netip.Addr]struct{}
}

// add tells whether ip is new.
func (s *addressSet) add(ip netip.Addr) bool {
	for i := range s.n {
		if s.few[i] == ip {
			return false
		}
	}
	if s.n < len(s.few) {
		s.few[s.n] = ip
		s.n++
		return true
	}
	if _, ok := s.many[ip]; ok {
		return false
	}
	if s.many == nil {
		s.many = map[netip.Addr]struct{}{}
	}
	s.many[ip] = struct{}{}
	return true
}

// instanceServers gives an SRV record for each distinct node, service address
// and port, and what is known of their targets.
// Source: reference, DNS, section 3, "SRV details".
func instanceServers(t *task) (reply, error) {
	type server struct {
		node    *catalog.Node
		address string
		port    int
	}
	var r reply
	var seen map[server]struct{}
	start := func() { r, seen = reply{forSubnet: t.forSubnet()}, map[server]struct{}{} }
	start()
	want := t.room + 1
	err := t.collect(want, start, func(inst *snapshot.Instance) bool {
		key := server{inst.Node, inst.Service.Address, inst.Service.Port}
		if _, twice := seen[key]; twice {
			return false
		}
		seen[key] = struct{}{}
		t.addServer(&r, inst)
		return len(r.answer) == want
	})
	return r, err
}

// addServer leaves an instance out that cannot be reached: without a usable
// address, or with a port that no record can hold.
func (t *task) addServer(r *reply, inst *snapshot.Instance) {
	port := inst.Service.Port
	target, extra, ok := t.target(inst)
	if !ok || port < 0 || port > 65535 {
		return
	}
	rr := t.w.records.srv.next()
	*rr = dns.SRV{
		Hdr:      t.header(t.owner, dns.TypeSRV, t.ttl),
		Priority: 1, Weight: weight(inst), Port: uint16(port), Target: target,
	}
	r.answer = append(r.answer, rr)
	r.extra = append(r.extra, extra...)
	if !t.NoNodeMetaTXT {
		if name, ok := t.nodeName(inst.Node); ok {
			r.extra = append(r.extra, t.texts(name, inst.Node, t.ttl)...)
		}
	}
	r.ends = append(r.ends, len(r.extra))
}

// target is the host that an SRV record leads to, with its addresses.
func (t *task) target(inst *snapshot.Instance) (string, []dns.RR, bool) {
	address, own := resolver.InstanceAddress(inst, resolver.AnyFamily)
	if own && t.isOwner(address) {
		address, own = resolver.NodeAddress(inst.Node, resolver.AnyFamily), false
	}
	ip, ok := parseIP(address)
	if !ok {
		if !isHostName(address) {
			return "", nil, false
		}
		extra, err := t.chase(dns.Fqdn(address), dns.TypeSRV)
		if err != nil {
			extra = nil
		}
		return dns.Fqdn(address), extra, true
	}
	target, ok := t.nodeName(inst.Node)
	if own || !ok {
		target = hex.EncodeToString(ip.AsSlice()) + ".addr." + t.datacenter + "." + t.name.zone.name
	}
	return target, []dns.RR{t.address(target, ip, t.ttl)}, true
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

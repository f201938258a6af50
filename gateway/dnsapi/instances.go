package dnsapi

import (
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
	var seen fewSet[netip.Addr]
	err := t.collect(want,
		func() { out, seen = addressesFound{records: out.records[:0]}, fewSet[netip.Addr]{} },
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

// fewSet holds a few keys in a list, and many in a map.
type fewSet[K comparable] struct {
	few  [16]K
	n    int
	many map[K]struct{}
}

// add tells whether k is new.
func (s *fewSet[K]) add(k K) bool {
	for i := range s.n {
		if s.few[i] == k {
			return false
		}
	}
	if s.n < len(s.few) {
		s.few[s.n] = k
		s.n++
		return true
	}
	if _, ok := s.many[k]; ok {
		return false
	}
	if s.many == nil {
		s.many = map[K]struct{}{}
	}
	s.many[k] = struct{}{}
	return true
}

package dnsapi

import (
	"encoding/hex"
	"net/netip"
	"strings"

	"github.com/miekg/dns"

	"signpost/gateway"
	"signpost/resolver"
	"signpost/resolver/catalog"
)

// node finds the node of a name, by name, ID or a unique prefix of the ID.
func (t *task) node() (*catalog.Node, error) {
	r, err := gateway.Ask(t.ctx, t.g, &gateway.CatalogNode, &t.req, strings.Join(t.name.parts, "."))
	if err != nil {
		if catalog.CodeOf(err) == catalog.NotFound {
			err = errNoName
		}
		return nil, err
	}
	return r.Value, nil
}

// nodeAddress gives the address of a node and, where configured, its metadata
// beside it; to ANY both are the answer.
func nodeAddress(t *task) (reply, error) {
	n, err := t.node()
	if err != nil {
		return reply{}, err
	}
	f := family(t.qtype)
	address := resolver.NodeAddress(n, f)
	var r reply
	ip, ok := parseIP(address)
	switch {
	case ok && fits(ip, f):
		r.answer = append(r.answer, t.address(t.owner, ip, t.nodeTTL))
	case !ok && isHostName(address):
		if r.answer, err = t.alias(dns.Fqdn(address), t.nodeTTL); err != nil {
			return reply{}, err
		}
	}
	if t.NoNodeMetaTXT {
		return r, nil
	}
	if t.qtype == dns.TypeANY {
		r.answer = append(r.answer, t.texts(t.owner, n, t.nodeTTL)...)
	} else if len(r.answer) > 0 {
		r.extra = t.texts(t.owner, n, t.nodeTTL)
	}
	return r, nil
}

// nodeText gives the metadata of a node.
func nodeText(t *task) (reply, error) {
	n, err := t.node()
	if err != nil {
		return reply{}, err
	}
	return reply{answer: t.texts(t.owner, n, t.nodeTTL)}, nil
}

// nodeAliases is for types that nodes have no records of.
func nodeAliases(t *task) (reply, error) {
	n, err := t.node()
	if err != nil {
		return reply{}, err
	}
	address := resolver.NodeAddress(n, resolver.AnyFamily)
	if _, ok := parseIP(address); ok || !isHostName(address) {
		return reply{}, nil
	}
	answer, err := t.alias(dns.Fqdn(address), t.nodeTTL)
	return reply{answer: answer}, err
}

// literalAddress answers for names that spell an address in hex digits, as
// the targets of SRV records do.
func literalAddress(t *task) (reply, error) {
	if len(t.name.parts) != 1 {
		return reply{}, errNoName
	}
	raw, err := hex.DecodeString(t.name.parts[0])
	if err != nil {
		return reply{}, errNoName
	}
	ip, ok := netip.AddrFromSlice(raw)
	if !ok {
		return reply{}, errNoName
	}
	switch t.qtype {
	case dns.TypeA, dns.TypeAAAA, dns.TypeANY:
		if fits(ip, family(t.qtype)) {
			return reply{answer: []dns.RR{t.address(t.owner, ip, t.nodeTTL)}}, nil
		}
	}
	return reply{}, nil
}

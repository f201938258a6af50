package resolver

import (
	"signpost/resolver/catalog"
	"signpost/resolver/snapshot"
)

// Family is the sort of address that a question is about.
type Family uint8

// The families. AnyFamily takes IPv6 before IPv4 where both are tagged.
const (
	AnyFamily Family = iota
	IPv4
	IPv6
)

// The tagged addresses by which a host with two families tells them apart.
const (
	tagIPv4 = "lan_ipv4"
	tagIPv6 = "lan_ipv6"
)

// tags are tried in turn; the plain address comes after them.
func (f Family) tags() []string {
	switch f {
	case IPv4:
		return tagsIPv4
	case IPv6:
		return tagsIPv6
	}
	return tagsAny
}

var (
	tagsIPv4 = []string{tagIPv4}
	tagsIPv6 = []string{tagIPv6}
	tagsAny  = []string{tagIPv6, tagIPv4}
)

// NodeAddress is where a node is reached: the tagged address of the family,
// or else the plain one, which may be of the other family or a host name.
// Source: reference, DNS, section 3, "Address choice".
func NodeAddress(n *catalog.Node, f Family) string {
	if len(n.TaggedAddresses) > 0 {
		for _, tag := range f.tags() {
			if a := n.TaggedAddresses[tag]; a != "" {
				return a
			}
		}
	}
	return n.Address
}

// InstanceAddress is where an instance is reached. own is false when it has
// no address but that of its node. There is no going over to the node because
// the service's address is of the wrong family.
// Source: reference, DNS, section 3, "Address choice".
func InstanceAddress(inst *snapshot.Instance, f Family) (address string, own bool) {
	s := inst.Service
	if len(s.TaggedAddresses) > 0 {
		for _, tag := range f.tags() {
			if a := s.TaggedAddresses[tag].Address; a != "" {
				return a, true
			}
		}
	}
	if s.Address != "" {
		return s.Address, true
	}
	return NodeAddress(inst.Node, f), false
}

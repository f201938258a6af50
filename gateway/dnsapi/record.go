package dnsapi

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/miekg/dns"

	"signpost/resolver"
	"signpost/resolver/catalog"
)

// records are the records of one answer, kept by a worker to be used again.
type records struct {
	a    stock[recordA]
	aaaa stock[recordAAAA]
	srv  stock[dns.SRV]
}

type recordA struct {
	dns.A
	ip [4]byte
}

type recordAAAA struct {
	dns.AAAA
	ip [16]byte
}

func (r *records) reset() {
	r.a.used, r.aaaa.used, r.srv.used = 0, 0, 0
}

// stock hands out pointers into a list. When the list is too short, a longer
// one takes its place; what was handed out stays valid.
type stock[T any] struct {
	list []T
	used int
}

func (s *stock[T]) next() *T {
	if s.used == len(s.list) {
		s.list, s.used = make([]T, max(16, 2*len(s.list))), 0
	}
	s.used++
	return &s.list[s.used-1]
}

func (h *handler) header(owner string, rrtype uint16, ttl uint32) dns.RR_Header {
	return dns.RR_Header{Name: owner, Rrtype: rrtype, Class: dns.ClassINET, Ttl: ttl}
}

// address is an A or an AAAA record.
func (t *task) address(owner string, ip netip.Addr, ttl uint32) dns.RR {
	if ip.Is4() {
		rr := t.w.records.a.next()
		rr.Hdr = t.header(owner, dns.TypeA, ttl)
		rr.ip = ip.As4()
		rr.A.A = rr.ip[:]
		return &rr.A
	}
	rr := t.w.records.aaaa.next()
	rr.Hdr = t.header(owner, dns.TypeAAAA, ttl)
	rr.ip = ip.As16()
	rr.AAAA.AAAA = rr.ip[:]
	return &rr.AAAA
}

// parseIP reads the address of a node or service; ok is false for a host
// name. IPv4 in IPv6 clothes counts as IPv4.
func parseIP(address string) (netip.Addr, bool) {
	if address == "" || address[0] > 'f' { // most host names
		return netip.Addr{}, false
	}
	ip, err := netip.ParseAddr(address)
	return ip.Unmap().WithZone(""), err == nil
}

// family is which addresses a question type is about.
func family(qtype uint16) resolver.Family {
	switch qtype {
	case dns.TypeA:
		return resolver.IPv4
	case dns.TypeAAAA:
		return resolver.IPv6
	}
	return resolver.AnyFamily
}

// fits tells whether an address may stand in the answer to a question of a
// family.
func fits(ip netip.Addr, f resolver.Family) bool {
	return f == resolver.AnyFamily || ip.Is4() == (f == resolver.IPv4)
}

// nodeName is the name under which a node is found; false if its name cannot
// be one of a record.
func (t *task) nodeName(n *catalog.Node) (string, bool) {
	tail := ".node." + t.datacenter + "." + t.name.zone.name
	if isHostName(n.Name) && len(n.Name)+len(tail) < 255 {
		return n.Name + tail, true
	}
	full := escape(n.Name) + tail
	_, ok := dns.IsDomainName(full)
	return full, ok
}

// escape writes the bytes of a name so that only its dots separate labels.
func escape(text string) string {
	const digits = "0123456789"
	var b strings.Builder
	for i := range len(text) {
		switch c := text[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', isDigit(c), c == '-', c == '_', c == '.':
			b.WriteByte(c)
		default:
			b.Write([]byte{'\\', digits[c/100], digits[c/10%10], digits[c%10]})
		}
	}
	return b.String()
}

// texts are the TXT records of a node's metadata, in the order of the keys.
// Source: reference, DNS, section 3, "node".
func (t *task) texts(owner string, n *catalog.Node, ttl uint32) []dns.RR {
	if len(n.Meta) == 0 {
		return nil
	}
	keys := make([]string, 0, len(n.Meta))
	for k := range n.Meta {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	out := make([]dns.RR, len(keys))
	for i, k := range keys {
		out[i] = &dns.TXT{Hdr: t.header(owner, dns.TypeTXT, ttl), Txt: characterStrings(metaText(k, n.Meta[k]))}
	}
	return out
}

// metaText is key=value in the form of RFC 1464, or the value alone.
func metaText(key, value string) string {
	const bare = "rfc1035-"
	if len(key) >= len(bare) && strings.EqualFold(key[:len(bare)], bare) {
		return value
	}
	key = strings.ReplaceAll(strings.ReplaceAll(key, "`", "``"), "=", "`=")
	inner := strings.TrimLeft(key, " ")
	left := len(key) - len(inner)
	inner = strings.TrimRight(inner, " ")
	right := len(key) - left - len(inner)
	key = strings.Repeat("` ", left) + inner + strings.Repeat("` ", right)
	return key + "=" + strings.ReplaceAll(value, "`", "``")
}

// characterStrings cuts text to the 255 bytes that one string of a TXT record
// may have, in the presentation form that the packer reads.
func characterStrings(text string) []string {
	const longest = 255
	var out []string
	for first := true; first || text != ""; first = false {
		n := min(len(text), longest)
		out = append(out, strings.ReplaceAll(text[:n], `\`, `\\`))
		text = text[n:]
	}
	return out
}

package dnsapi

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"signpost/resolver/catalog"
)

// Whatever comes in, what goes out is a well-formed answer to it that keeps
// within its limits, or nothing.
func FuzzPacket(f *testing.F) {
	a := askerOf(f, shop(f), Config{AltDomain: "alt.example"})
	for _, ask := range []string{
		"web.service.signpost. A", "web.service.signpost. SRV", "_web._v2.service.dc1.signpost. ANY", "quick.one.query.alt.example. A",
		"n1.node.signpost. TXT", "0a010001.addr.signpost. A", "signpost. SOA", "a1.service.signpost. AAAA", `with\032space.query.signpost. A`,
	} {
		for _, bufsize := range []uint16{0, 512, 4096} {
			f.Add(pack(f, question(f, ask, bufsize)), false)
		}
	}
	f.Fuzz(func(t *testing.T, packet []byte, tcp bool) {
		before := bytes.Clone(packet)
		out := a.packet(packet, tcp)
		if !bytes.Equal(before, packet) {
			t.Fatal("the question was written to")
		}
		if out == nil {
			if len(packet) >= headerSize && packet[2]&flagQR == 0 {
				t.Fatal("no answer to a question")
			}
			return
		}
		var m dns.Msg
		if err := m.Unpack(out); err != nil {
			t.Fatalf("answer %x: %v", out, err)
		}
		if !m.Response || m.Id != binary.BigEndian.Uint16(packet) {
			t.Fatalf("not an answer to it: %v", m.MsgHdr)
		}
		if !whole(&m, out) {
			t.Fatalf("the counts are wrong: %x", out)
		}
		if !tcp && len(out) > a.h.UDPMaxSize {
			t.Fatalf("%d bytes over udp", len(out))
		}
		var q dns.Msg
		if err := q.Unpack(packet); err == nil && len(m.Question) == 1 && m.Question[0] != q.Question[0] {
			t.Fatalf("question %v became %v", q.Question[0], m.Question[0])
		}
		if m.Rcode == dns.RcodeServerFailure {
			t.Fatalf("SERVFAIL: %v", m.Question)
		}
	})
}

// Taking a name apart gives the labels that were put together, and finds them
// in lower case.
func FuzzName(f *testing.F) {
	for _, name := range []string{"web.service", "A.b", "a b", "\x00.\xff", "_x._tcp", `back\slash`, "service.query.node", ""} {
		f.Add(name)
	}
	h := askerOf(f, shop(f), Config{}).h
	f.Fuzz(func(t *testing.T, name string) {
		var wire []byte
		var want []string
		for _, label := range strings.Split(name, ".") {
			if label == "" || len(label) > 63 {
				return
			}
			want = append(want, catalog.Fold(label))
			wire = append(append(wire, byte(len(label))), label...)
		}
		wire = append(wire, 0)
		if len(wire) > 255 {
			return
		}
		text, _, err := dns.UnpackDomainName(wire, 0)
		if err != nil {
			return
		}
		if got := splitName(nil, text); !slices.Equal(got, want) {
			t.Fatalf("%q: got %q, want %q", text, got, want)
		}
		if again, ok := dns.IsDomainName(escape(name) + "."); !ok || again != len(want) {
			t.Fatalf("%q escaped is %q, no name of %d labels", name, escape(name), len(want))
		}
		n := h.parse(append(slices.Clone(want), "signpost"))
		if n.zone == nil || len(n.parts)+len(n.where) > len(want) {
			t.Fatalf("%q: %+v", name, n)
		}
		q := new(dns.Msg)
		q.SetQuestion(strings.TrimSuffix(text, ".")+".signpost.", dns.TypeSRV)
		if packet, err := q.Pack(); err == nil {
			h.handle(context.Background(), newWorker(), packet, client{})
		}
	})
}

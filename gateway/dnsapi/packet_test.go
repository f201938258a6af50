package dnsapi

import (
	"encoding/binary"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"signpost/gateway"
	"signpost/resolver/catalog"
)

func pack(t testing.TB, m *dns.Msg) []byte {
	t.Helper()
	packet, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return packet
}

func TestMalformedPackets(t *testing.T) {
	a := askerOf(t, shop(t), Config{})
	good := func() *dns.Msg { return question(t, "web.service.signpost. A", 1232) }
	edit := func(f func(*dns.Msg)) []byte {
		m := good()
		f(m)
		return pack(t, m)
	}
	bytesOf := func(f func([]byte) []byte) []byte { return f(pack(t, good())) }
	const silence = -1
	for _, c := range []struct {
		name   string
		packet []byte
		rcode  int
	}{
		{"nothing", nil, silence},
		{"less than a header", bytesOf(func(b []byte) []byte { return b[:11] }), silence},
		{"an answer", edit(func(m *dns.Msg) { m.Response = true }), silence},
		{"a header alone", bytesOf(func(b []byte) []byte { return b[:12] }), dns.RcodeFormatError},
		{"half a question", bytesOf(func(b []byte) []byte { return b[:20] }), dns.RcodeFormatError},
		{"a missing OPT record", bytesOf(func(b []byte) []byte { return b[:len(b)-11] }), dns.RcodeFormatError},
		{"a cut OPT record", bytesOf(func(b []byte) []byte { return b[:len(b)-3] }), dns.RcodeFormatError},
		{"no question", edit(func(m *dns.Msg) { m.Question = nil }), dns.RcodeFormatError},
		{"two questions", edit(func(m *dns.Msg) { m.Question = append(m.Question, m.Question[0]) }), dns.RcodeFormatError},
		{"a pointer to itself", bytesOf(func(b []byte) []byte { b[12], b[13] = 0xC0, 12; return b }), dns.RcodeFormatError},
		{"a pointer outside", bytesOf(func(b []byte) []byte { b[12], b[13] = 0xFF, 0xFF; return b }), dns.RcodeFormatError},
		{"a reserved label type", bytesOf(func(b []byte) []byte { b[12] = 0x80; return b }), dns.RcodeFormatError},
		{"two OPT records", edit(func(m *dns.Msg) { m.Extra = append(m.Extra, m.Extra[0]) }), dns.RcodeFormatError},
		{"an OPT record that is not of the root", bytesOf(func(b []byte) []byte {
			opt := append([]byte{1, 'x'}, b[len(b)-11:]...)
			return append(b[:len(b)-11:len(b)-11], opt...)
		}), dns.RcodeFormatError},
		{"class CH", edit(func(m *dns.Msg) { m.Question[0].Qclass = dns.ClassCHAOS }), dns.RcodeRefused},
		{"class ANY", edit(func(m *dns.Msg) { m.Question[0].Qclass = dns.ClassANY }), dns.RcodeSuccess},
		{"an unknown type", edit(func(m *dns.Msg) { m.Question[0].Qtype = 1000 }), dns.RcodeSuccess},
		{"opcode STATUS", edit(func(m *dns.Msg) { m.Opcode = dns.OpcodeStatus }), dns.RcodeNotImplemented},
		{"opcode UPDATE", edit(func(m *dns.Msg) { m.Opcode = dns.OpcodeUpdate }), dns.RcodeNotImplemented},
		{"opcode 15", edit(func(m *dns.Msg) { m.Opcode = 15 }), dns.RcodeNotImplemented},
		{"opcode NOTIFY is taken for a question", edit(func(m *dns.Msg) { m.Opcode = dns.OpcodeNotify }), dns.RcodeSuccess},
		{"EDNS version 1", edit(func(m *dns.Msg) { m.IsEdns0().SetVersion(1) }), dns.RcodeBadVers},
		{"an unknown option", edit(func(m *dns.Msg) {
			m.IsEdns0().Option = []dns.EDNS0{&dns.EDNS0_LOCAL{Code: 100, Data: []byte("x")}}
		}), dns.RcodeSuccess},
		{"an unknown flag", edit(func(m *dns.Msg) { m.IsEdns0().Hdr.Ttl |= 0x40 }), dns.RcodeSuccess},
		{"bytes after the end", bytesOf(func(b []byte) []byte { return append(b, "garbage"...) }), dns.RcodeSuccess},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := a.packet(c.packet, false)
			if out == nil || c.rcode == silence {
				if out != nil || c.rcode != silence {
					t.Errorf("got %x", out)
				}
				return
			}
			var m dns.Msg
			if err := m.Unpack(out); err != nil {
				t.Fatalf("%x: %v", out, err)
			}
			if m.Rcode != c.rcode || !m.Response || m.Id != binary.BigEndian.Uint16(c.packet) || !m.RecursionDesired {
				t.Errorf("got %v", m.MsgHdr)
			}
			if opcode := int(c.packet[2]>>3) & 15; m.Opcode != opcode {
				t.Errorf("opcode %d, want %d", m.Opcode, opcode)
			}
			opt := m.IsEdns0()
			if readable := c.rcode != dns.RcodeFormatError && c.rcode != dns.RcodeNotImplemented; readable != (opt != nil) {
				t.Errorf("OPT record: %v", opt)
			}
			if opt != nil && (opt.Version() != 0 || len(opt.Option) != 0 || opt.Hdr.Ttl&0xFFFFFF != 0 || opt.UDPSize() != 1232) {
				t.Errorf("OPT record: %v", opt)
			}
		})
	}
}

func TestFlagsAreCopied(t *testing.T) {
	a := askerOf(t, shop(t), Config{})
	q := question(t, "own.service.signpost. A", 4096)
	q.RecursionDesired, q.CheckingDisabled, q.AuthenticatedData = false, true, true
	q.IsEdns0().SetDo()
	m, _ := a.msg(t, q, false)
	if flags(m) != " aa cd" || !m.IsEdns0().Do() {
		t.Errorf("got%s, do=%v", flags(m), m.IsEdns0().Do())
	}
}

func TestClientSubnet(t *testing.T) {
	a := askerOf(t, shop(t), Config{})
	for ask, scope := range map[string]uint8{
		"all-web.query.signpost. A": 24, "all-web.query.signpost. AAAA": 0, "none.query.signpost. A": 0,
		"web.service.signpost. A": 0, "example.com. A": 0,
	} {
		q := question(t, ask, 1232)
		sent := &dns.EDNS0_SUBNET{Code: dns.EDNS0SUBNET, Family: 1, SourceNetmask: 24, Address: net.IPv4(198, 51, 100, 0)}
		q.IsEdns0().Option = []dns.EDNS0{sent}
		m, _ := a.msg(t, q, false)
		got, ok := m.IsEdns0().Option[0].(*dns.EDNS0_SUBNET)
		if !ok || got.SourceScope != scope || got.SourceNetmask != 24 || got.Family != 1 || !got.Address.Equal(sent.Address) {
			t.Errorf("%s: got %v, want scope %d", ask, got, scope)
		}
	}
}

// Every code has a verdict, so that none becomes NOERROR by being forgotten.
func TestVerdictsAreComplete(t *testing.T) {
	for _, code := range catalog.Codes() {
		v, ok := verdicts[code]
		if !ok {
			t.Errorf("no verdict on %q", code)
		}
		if want := map[bool]int{true: dns.RcodeNameError, false: dns.RcodeServerFailure}[code == catalog.NotFound]; v.rcode != want {
			t.Errorf("%q: rcode %s", code, dns.RcodeToString[v.rcode])
		}
	}
	if _, text := explain(catalog.Wrap(catalog.Internal, nil, "secret")); text != "" {
		t.Errorf("an internal failure says %q", text)
	}
}

func extended(m *dns.Msg) (uint16, string) {
	if opt := m.IsEdns0(); opt != nil {
		for _, o := range opt.Option {
			if e, ok := o.(*dns.EDNS0_EDE); ok {
				return e.InfoCode, e.ExtraText
			}
		}
	}
	return 0, ""
}

func TestPostgresAway(t *testing.T) {
	m := shop(t)
	a := askerOf(t, m, Config{})
	for _, c := range []struct {
		name    string
		contact gateway.Contact
		ask     string
		edns    bool
		rcode   int
		info    uint16
		text    string
	}{
		{"there", gateway.Contact{Known: true}, "web.service.signpost. A", true, dns.RcodeSuccess, 0, ""},
		{"away", gateway.Contact{Age: 90 * time.Second}, "web.service.signpost. A", true, dns.RcodeSuccess, dns.ExtendedErrorCodeStaleAnswer, "1m30s"},
		{"away, no EDNS", gateway.Contact{Age: 90 * time.Second}, "web.service.signpost. A", false, dns.RcodeSuccess, 0, ""},
		{"away, no such name", gateway.Contact{Age: 90 * time.Second}, "nosuch.service.signpost. A", true, dns.RcodeNameError, dns.ExtendedErrorCodeStaleNXDOMAINAnswer, "1m30s"},
		{"away, not our name", gateway.Contact{Age: 90 * time.Second}, "example.com. A", true, dns.RcodeRefused, 0, ""},
		{"away for too long", gateway.Contact{Age: 73 * time.Hour}, "web.service.signpost. A", true, dns.RcodeServerFailure, dns.ExtendedErrorCodeNoReachableAuthority, "73h0m0s"},
		{"away for too long, no EDNS", gateway.Contact{Age: 73 * time.Hour}, "all-web.query.signpost. A", false, dns.RcodeServerFailure, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m.contact.Store(&c.contact)
			bufsize := uint16(0)
			if c.edns {
				bufsize = 1232
			}
			got, _ := a.msg(t, question(t, c.ask, bufsize), false)
			info, text := extended(got)
			if got.Rcode != c.rcode || info != c.info || !strings.Contains(text, c.text) || (got.IsEdns0() != nil) != c.edns {
				t.Errorf("got %s, %d %q; want %s, %d %q", dns.RcodeToString[got.Rcode], info, text, dns.RcodeToString[c.rcode], c.info, c.text)
			}
			if c.rcode == dns.RcodeServerFailure && len(got.Ns)+len(got.Answer) > 0 {
				t.Errorf("SERVFAIL with records: %v", got)
			}
		})
	}
}

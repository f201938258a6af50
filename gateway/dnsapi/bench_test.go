package dnsapi

import (
	"context"
	"net"
	"testing"

	"github.com/miekg/dns"
)

// One packet of <name>.query A with EDNS over 10 instances, bytes in to bytes
// out; beside it the smallest handler of miekg/dns that gives the same bytes
// out from records made beforehand.
func BenchmarkHandle(b *testing.B) {
	a := askerOf(b, crowd(b, 10, nil), Config{})
	for name, ask := range map[string]string{
		"query-A": "many.query.signpost. A", "query-SRV": "many.query.signpost. SRV",
		"service-A": "many.service.signpost. A", "nxdomain": "nosuch.query.signpost. A",
	} {
		packet := pack(b, question(b, ask, 1232))
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				a.h.handle(context.Background(), a.w, packet, client{})
			}
		})
	}
}

func BenchmarkEcho(b *testing.B) {
	packet := pack(b, question(b, "many.query.signpost. A", 1232))
	var records []dns.RR
	for i := range 10 {
		records = append(records, &dns.A{
			Hdr: dns.RR_Header{Name: "many.query.signpost.", Rrtype: dns.TypeA, Class: dns.ClassINET}, A: net.IPv4(10, 5, 0, byte(i)),
		})
	}
	b.ReportAllocs()
	for b.Loop() {
		var q, m dns.Msg
		if err := q.Unpack(packet); err != nil {
			b.Fatal(err)
		}
		m.SetReply(&q)
		m.Compress = true
		m.Answer = records
		m.SetEdns0(1232, false)
		if _, err := m.Pack(); err != nil {
			b.Fatal(err)
		}
	}
}

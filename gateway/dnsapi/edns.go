package dnsapi

import (
	"net/netip"

	"github.com/miekg/dns"
)

// edns is what a question says by its OPT record.
type edns struct {
	present bool
	version uint8
	size    int // bytes that the client takes over udp, as it says
	do      bool
	subnet  *dns.EDNS0_SUBNET // where the client's client is; nil if not said
}

// readEDNS is false for what is not EDNS as RFC 6891 has it: several OPT
// records, or one that is not of the root.
func readEDNS(m *dns.Msg) (edns, bool) {
	var e edns
	for _, rr := range m.Extra {
		opt, ok := rr.(*dns.OPT)
		if !ok {
			continue
		}
		if e.present || opt.Hdr.Name != "." {
			return edns{}, false
		}
		e = edns{present: true, version: opt.Version(), size: int(opt.UDPSize()), do: opt.Do()}
		for _, o := range opt.Option {
			if s, ok := o.(*dns.EDNS0_SUBNET); ok && e.subnet == nil {
				e.subnet = s
			}
		}
	}
	return e, true
}

// source is the address that sorting by distance starts from.
func (e *edns) source(client netip.Addr) netip.Addr {
	if e.subnet != nil && e.subnet.Family != 0 {
		if ip, ok := netip.AddrFromSlice(e.subnet.Address); ok {
			return ip.Unmap()
		}
	}
	return client
}

// explain adds an Extended DNS Error to the answer's OPT record.
func (w *worker) explain(info uint16, text string) {
	w.opt.Option = append(w.opt.Option, &dns.EDNS0_EDE{InfoCode: info, ExtraText: text})
}

// setOPT prepares the OPT record of an answer: our own size, no flag but DO
// (RFC 3225 wants it copied), the client subnet with the scope that the
// answer is good for.
func (w *worker) setOPT(e *edns, size int, forSubnet bool) {
	w.opt = dns.OPT{Hdr: dns.RR_Header{Name: ".", Rrtype: dns.TypeOPT}, Option: w.opt.Option[:0]}
	w.opt.SetUDPSize(uint16(size))
	if e.do {
		w.opt.SetDo()
	}
	if e.subnet != nil {
		s := *e.subnet
		s.SourceScope = 0
		if forSubnet {
			s.SourceScope = s.SourceNetmask
		}
		w.opt.Option = append(w.opt.Option, &s)
	}
}

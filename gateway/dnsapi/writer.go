package dnsapi

import (
	"fmt"
	"sort"
	"time"

	"github.com/miekg/dns"

	"signpost/resolver/catalog"
)

// limits are what an answer must keep within.
type limits struct {
	size    int // bytes
	answers int // records in the answer section
}

// Source: reference, DNS, section 7.
const (
	margin        = 8 // bytes that are left free over udp
	maxTCPSize    = 65523
	maxTCPAnswers = 4096
	maxTCPServers = 1024 // SRV
	maxOldAnswers = 8    // to askers without EDNS, whatever the setting
	smallestA     = 16   // bytes of an A record whose owner is a pointer
)

func (h *handler) limits(e *edns, tcp bool, qtype uint16) limits {
	if tcp {
		if qtype == dns.TypeSRV {
			return limits{maxTCPSize, maxTCPServers}
		}
		return limits{maxTCPSize, maxTCPAnswers}
	}
	if !e.present || e.size <= minUDPSize {
		return limits{minUDPSize - margin, min(maxOldAnswers, h.UDPAnswerLimit)}
	}
	size := min(e.size, h.UDPMaxSize) - margin
	return limits{size, size / smallestA}
}

// write makes the packet: the only place that knows of flags, negative
// answers, EDNS, sizes and compression. A reply that does not fit loses, in
// this order, its authority, metadata texts, and answers from the end; at
// least one answer is kept, if need be without anything beside it.
func (h *handler) write(w *worker, e *edns, l limits, r *reply, rcode int, err error) []byte {
	m, t := &w.out, &w.task
	inZone := t.name.zone != nil
	w.setOPT(e, h.UDPMaxSize, r.forSubnet && len(r.answer) > 0)
	if err != nil {
		v, text := explain(err)
		rcode, *r = v.rcode, reply{}
		if text != "" {
			w.explain(v.info, text)
		}
		if catalog.CodeOf(err) == catalog.Internal { // others are told to the client
			h.log.Error("answering a DNS question", "name", t.owner, "error", err)
		}
	}
	if inZone {
		h.tellAge(w, rcode)
	}
	negative := len(r.answer) == 0 && (rcode == dns.RcodeSuccess || rcode == dns.RcodeNameError)
	if negative && inZone {
		r.authority = append(r.authority, h.soa(t.name.zone))
	}
	q := &w.question
	w.outQ[0] = q.Question[0]
	*m = dns.Msg{
		MsgHdr: dns.MsgHdr{
			Id: q.Id, Response: true, Opcode: q.Opcode, Rcode: rcode, Authoritative: inZone,
			RecursionDesired: q.RecursionDesired, CheckingDisabled: q.CheckingDisabled,
		},
		Compress: !h.DisableCompression, Question: w.outQ[:],
	}
	return h.fit(w, e, l, r)
}

// tellAge says, to those who speak EDNS, that Postgres is away.
func (h *handler) tellAge(w *worker, rcode int) {
	contact := h.g.Contact()
	if contact.Known || rcode == dns.RcodeServerFailure {
		return
	}
	info := dns.ExtendedErrorCodeStaleAnswer
	if rcode == dns.RcodeNameError {
		info = dns.ExtendedErrorCodeStaleNXDOMAINAnswer
	}
	w.explain(info, fmt.Sprintf("the catalog was last current %s ago", contact.Age.Round(time.Second)))
}

// fit packs the reply, of which it leaves out what does not fit.
func (h *handler) fit(w *worker, e *edns, l limits, r *reply) []byte {
	trimmed := false
	if len(r.answer) > l.answers {
		r.cut(l.answers)
		trimmed = true
	}
	pack := func() []byte { return h.pack(w, e, r, trimmed && h.EnableTruncate) }
	fits := func(packet []byte) bool { return packet != nil && len(packet) <= l.size }
	packet := pack()
	if fits(packet) || len(r.answer) == 0 {
		return packet
	}
	r.authority = nil
	r.dropTexts()
	if packet = pack(); fits(packet) {
		return packet
	}
	trimmed = true
	whole := *r
	n := sort.Search(len(whole.answer)-1, func(n int) bool { // the first n+2 do not fit
		*r = whole
		r.cut(n + 2)
		return !fits(pack())
	})
	*r = whole
	r.cut(n + 1)
	if packet = pack(); fits(packet) {
		return packet
	}
	r.extra = nil
	if packet = pack(); fits(packet) {
		return packet
	}
	r.answer = nil // one record larger than the limit: only tcp can help
	return h.pack(w, e, r, true)
}

func (h *handler) pack(w *worker, e *edns, r *reply, truncated bool) []byte {
	m := &w.out
	m.Answer, m.Ns, m.Truncated = r.answer, r.authority, truncated
	m.Extra = r.extra
	if e.present {
		w.extra = append(append(w.extra[:0], r.extra...), &w.opt)
		m.Extra = w.extra
	}
	packet, err := m.PackBuffer(w.buf)
	if err != nil {
		h.log.Error("packing a DNS answer", "name", w.task.owner, "error", err)
		m.Rcode, m.Answer, m.Ns, m.Extra = dns.RcodeServerFailure, nil, nil, nil
		return bare(w, []byte{byte(m.Id >> 8), byte(m.Id), byte(m.Opcode) << 3}, dns.RcodeServerFailure)
	}
	return packet
}

// cut keeps the first n answers with what belongs to them.
func (r *reply) cut(n int) {
	r.answer = r.answer[:n]
	if r.ends != nil {
		r.ends = r.ends[:n]
		r.extra = r.extra[:r.ends[n-1]]
	}
}

// dropTexts leaves out of the additional section what is there for courtesy:
// metadata, and records that are there twice.
func (r *reply) dropTexts() {
	type key struct {
		name, data string
		rrtype     uint16
	}
	seen := make(map[key]struct{}, len(r.extra))
	kept := make([]dns.RR, 0, len(r.extra))
	ends, next := make([]int, 0, len(r.ends)), 0
	for i := 0; i <= len(r.extra); i++ {
		for next < len(r.ends) && r.ends[next] == i {
			ends = append(ends, len(kept))
			next++
		}
		if i == len(r.extra) {
			break
		}
		rr := r.extra[i]
		k := key{name: rr.Header().Name, rrtype: rr.Header().Rrtype}
		switch rr := rr.(type) {
		case *dns.TXT:
			continue
		case *dns.A:
			k.data = string(rr.A)
		case *dns.AAAA:
			k.data = string(rr.AAAA)
		case *dns.CNAME:
			k.data = rr.Target
		}
		if _, twice := seen[k]; !twice {
			seen[k] = struct{}{}
			kept = append(kept, rr)
		}
	}
	r.extra = kept
	if r.ends != nil {
		r.ends = ends
	}
}

package dnsapi

import (
	"cmp"
	"context"
	"encoding/binary"
	"log/slog"
	"net/netip"
	"runtime/debug"
	"slices"
	"time"

	"github.com/miekg/dns"

	"signpost/gateway"
	"signpost/resolver/catalog"
)

// handler turns packets into packets. It is shared by all sockets.
type handler struct {
	Config
	g          *gateway.Gateway
	log        *slog.Logger
	now        func() time.Time
	zones      []*zone // the one with most labels first
	routes     map[string]*route
	datacenter string // folded
	nodeTTL    uint32
	serviceTTL serviceTTLs
}

func newHandler(g *gateway.Gateway, c Config, log *slog.Logger) *handler {
	h := &handler{
		Config: c, g: g, log: log, now: time.Now,
		zones:      []*zone{newZone(c.Domain)},
		datacenter: catalog.Fold(g.Datacenter),
		nodeTTL:    seconds(c.NodeTTL), serviceTTL: newServiceTTLs(c.ServiceTTL),
	}
	if c.AltDomain != "" {
		h.zones = append(h.zones, newZone(c.AltDomain))
	}
	slices.SortStableFunc(h.zones, func(a, b *zone) int { return cmp.Compare(len(b.labels), len(a.labels)) })
	h.routes = h.newRoutes()
	return h
}

// worker is the memory that one goroutine answers packets in, again and
// again.
type worker struct {
	question dns.Msg
	out      dns.Msg
	outQ     [1]dns.Question
	opt      dns.OPT
	task     task
	labels   []string
	answer   []dns.RR // of the question itself
	beside   []dns.RR // what its SRV records lead to
	ends     []int    // where, for each of them
	extra    []dns.RR // the additional section with the OPT record
	records  records
	buf      []byte
}

func newWorker() *worker {
	return &worker{buf: make([]byte, dns.MaxMsgSize), labels: make([]string, 0, maxLabels)}
}

// client is who asks.
type client struct {
	addr netip.Addr
	tcp  bool
}

const (
	headerSize = 12
	flagQR     = 1 << 7
)

// handle answers one packet; nil means silence. The answer is valid until the
// worker's next packet.
func (h *handler) handle(ctx context.Context, w *worker, packet []byte, from client) (answer []byte) {
	if len(packet) < headerSize || packet[2]&flagQR != 0 {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			h.log.Error("panic while answering a DNS question", "panic", p, "packet", packet, "stack", string(debug.Stack()))
			answer = bare(w, packet, dns.RcodeServerFailure)
		}
	}()
	switch opcode := int(packet[2]>>3) & 0xF; {
	case opcode != dns.OpcodeQuery && opcode != dns.OpcodeNotify:
		return bare(w, packet, dns.RcodeNotImplemented)
	case binary.BigEndian.Uint16(packet[4:]) != 1:
		return bare(w, packet, dns.RcodeFormatError)
	}
	q := &w.question
	if err := q.Unpack(packet); err != nil || !whole(q, packet) {
		return bare(w, packet, dns.RcodeFormatError)
	}
	e, ok := readEDNS(q)
	if !ok {
		return bare(w, packet, dns.RcodeFormatError)
	}
	return h.respond(ctx, w, &e, from)
}

// whole tells whether a packet had as many records as its header says; the
// unpacker lets a packet end early.
func whole(m *dns.Msg, packet []byte) bool {
	count := func(at int) int { return int(binary.BigEndian.Uint16(packet[at:])) }
	return len(m.Question) == count(4) && len(m.Answer) == count(6) && len(m.Ns) == count(8) && len(m.Extra) == count(10)
}

// bare is an answer without any section, to what cannot be read further than
// its header.
func bare(w *worker, packet []byte, rcode int) []byte {
	const keep = 0x79 // of the third byte: opcode and RD
	out := w.buf[:headerSize]
	clear(out)
	copy(out, packet[:2])
	out[2] = flagQR | packet[2]&keep
	out[3] = byte(rcode)
	return out
}

// respond answers a well-formed question.
func (h *handler) respond(ctx context.Context, w *worker, e *edns, from client) []byte {
	started := h.now()
	w.records.reset()
	question := &w.question.Question[0]
	t := &w.task
	*t = task{handler: h, ctx: ctx, w: w, owner: question.Name, qtype: question.Qtype}
	t.req = gateway.Request{Source: e.source(from.addr), Consistency: gateway.Stale}
	l := h.limits(e, from.tcp, question.Qtype)
	t.room = l.answers

	var r reply
	rcode := h.refusal(question, e)
	if rcode == dns.RcodeSuccess {
		w.labels = splitName(w.labels[:0], question.Name)
		if t.name = h.parse(w.labels); t.name.zone == nil {
			rcode = dns.RcodeRefused
		}
	}
	var err error
	if rcode == dns.RcodeSuccess {
		r, err = t.reply()
	}
	out := h.write(w, e, l, &r, rcode, err)
	if h.log.Enabled(ctx, slog.LevelDebug) {
		h.log.Debug("dns question", "name", question.Name, "type", dns.Type(question.Qtype).String(),
			"class", dns.Class(question.Qclass).String(), "client", from.addr, "tcp", from.tcp,
			"rcode", dns.RcodeToString[w.out.Rcode], "answers", len(w.out.Answer), "bytes", len(out), "took", h.now().Sub(started), "error", err)
	}
	return out
}

// refusal tells by the form of a question that it is not answered.
func (h *handler) refusal(q *dns.Question, e *edns) int {
	switch {
	case e.version > 0:
		return dns.RcodeBadVers
	case q.Qclass != dns.ClassINET && q.Qclass != dns.ClassANY:
		return dns.RcodeRefused
	case q.Qtype == dns.TypeAXFR, q.Qtype == dns.TypeIXFR:
		return dns.RcodeNotImplemented
	}
	return dns.RcodeSuccess
}

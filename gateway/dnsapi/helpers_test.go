package dnsapi

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"

	"signpost/gateway"
	"signpost/resolver/catalog"
	"signpost/resolver/snapshot"
)

// memory is a gateway.State over one snapshot that never changes.
type memory struct {
	snap    *snapshot.Snapshot
	contact atomic.Pointer[gateway.Contact]
}

func (m *memory) Snapshot() *snapshot.Snapshot               { return m.snap }
func (m *memory) Barrier(context.Context) error              { return nil }
func (m *memory) Reach(context.Context, catalog.Index) error { return nil }
func (m *memory) Contact() gateway.Contact                   { return *m.contact.Load() }
func (m *memory) Subscribe([]snapshot.Thing) (<-chan struct{}, func()) {
	return make(chan struct{}), func() {}
}

// rows collects a catalog.
type rows struct {
	b  *snapshot.Builder
	at catalog.Index
}

func newRows() *rows { return &rows{b: snapshot.NewBuilder(snapshot.Empty())} }

func (r *rows) next() catalog.Index {
	r.at++
	return r.at
}

func (r *rows) node(n catalog.Node) {
	n.ModifyIndex = r.next()
	r.b.PutNode(&n)
}

// service registers s on its node, with weights of 1 unless it has others,
// and a check with each of the statuses.
func (r *rows) service(s catalog.Service, statuses ...catalog.Status) {
	s.ModifyIndex = r.next()
	if s.ID == "" {
		s.ID = s.Name
	}
	if s.Weights == (catalog.Weights{}) {
		s.Weights = catalog.DefaultWeights
	}
	r.b.PutService(&s)
	for i, status := range statuses {
		r.b.PutCheck(&catalog.Check{Node: s.Node, ID: fmt.Sprint(s.ID, i), ServiceID: s.ID, Status: status, ModifyIndex: r.next()})
	}
}

func (r *rows) query(q catalog.Query) {
	q.ModifyIndex = r.next()
	if q.ID == "" {
		q.ID = fmt.Sprintf("00000000-0000-0000-0000-%012d", q.ModifyIndex)
	}
	r.b.PutQuery(&q)
}

func (r *rows) memory(t testing.TB) *memory {
	t.Helper()
	snap, _, err := r.b.Publish(r.at, "")
	if err != nil {
		t.Fatal(err)
	}
	m := &memory{snap: snap}
	m.contact.Store(&gateway.Contact{Known: true})
	return m
}

var quiet = slog.New(slog.DiscardHandler)

// serverOf makes a server that does not listen. Its clock stands still.
func serverOf(t testing.TB, m *memory, c Config) *Server {
	t.Helper()
	g := gateway.New(gateway.Config{NodeAddress: "192.0.2.1"}, m, nil, quiet)
	s, err := New(g, c, quiet)
	if err != nil {
		t.Fatal(err)
	}
	s.handler.now = func() time.Time { return time.Unix(1700000000, 0) }
	return s
}

// asker asks a handler, packet by packet.
type asker struct {
	h *handler
	w *worker
}

func askerOf(t testing.TB, m *memory, c Config) *asker {
	return &asker{serverOf(t, m, c).handler, newWorker()}
}

func (a *asker) packet(packet []byte, tcp bool) []byte {
	return a.h.handle(context.Background(), a.w, packet, client{netip.MustParseAddr("192.0.2.99"), tcp})
}

// msg asks a question and gives the answer with its size in bytes.
func (a *asker) msg(t testing.TB, q *dns.Msg, tcp bool) (*dns.Msg, int) {
	t.Helper()
	packet, err := q.Pack()
	if err != nil {
		t.Fatal(err)
	}
	out := a.packet(packet, tcp)
	if out == nil {
		t.Fatal("no answer")
	}
	var m dns.Msg
	if err := m.Unpack(out); err != nil {
		t.Fatalf("unpacking the answer %x: %v", out, err)
	}
	if m.Id != q.Id || !m.Response {
		t.Fatalf("not an answer to the question: %v", m.MsgHdr)
	}
	return &m, len(out)
}

// question makes one from its name and type, as "web.service.signpost. A".
func question(t testing.TB, text string, bufsize uint16) *dns.Msg {
	t.Helper()
	name, word, _ := strings.Cut(text, " ")
	qtype, ok := dns.StringToType[word]
	if !ok {
		t.Fatalf("no type %q", word)
	}
	m := new(dns.Msg)
	m.SetQuestion(name, qtype)
	if bufsize > 0 {
		m.SetEdns0(bufsize, false)
	}
	return m
}

// testCase is a question and all that is to be answered. want is text: first
// the rcode and the flags, then the records as in a zone file, those of the
// authority and additional sections after a line with that word.
type testCase struct {
	ask  string
	want string
}

func check(t *testing.T, a *asker, c testCase) {
	t.Helper()
	t.Run(c.ask, func(t *testing.T) {
		m, _ := a.msg(t, question(t, c.ask, 0), true)
		got, want := format(m), normalise(t, c.want)
		if got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}

// format writes an answer as normalise does what is wanted. The order of
// records in a section does not count.
func format(m *dns.Msg) string {
	out := []string{dns.RcodeToString[m.Rcode] + flags(m)}
	for _, s := range []struct {
		name string
		list []dns.RR
	}{{"", m.Answer}, {"authority", m.Ns}, {"additional", m.Extra}} {
		if s.name != "" && len(s.list) > 0 {
			out = append(out, s.name)
		}
		out = append(out, lines(s.list)...)
	}
	return strings.Join(out, "\n")
}

func lines(list []dns.RR) []string {
	var out []string
	for _, rr := range list {
		out = append(out, strings.Join(strings.Fields(rr.String()), " "))
	}
	slices.Sort(out)
	return out
}

func flags(m *dns.Msg) string {
	out := ""
	for _, f := range []struct {
		set  bool
		name string
	}{{m.Authoritative, " aa"}, {m.Truncated, " tc"}, {m.RecursionDesired, " rd"}, {m.RecursionAvailable, " ra"}, {m.AuthenticatedData, " ad"}, {m.CheckingDisabled, " cd"}} {
		if f.set {
			out += f.name
		}
	}
	return out
}

const soaText = "signpost. 0 IN SOA ns.signpost. hostmaster.signpost. 1700000000 3600 600 86400 0"

// normalise writes the wanted text as format does. "SOA" stands for the SOA
// record of the zone signpost.
func normalise(t *testing.T, text string) string {
	t.Helper()
	var out []string
	var section []dns.RR
	end := func() {
		out = append(out, lines(section)...)
		section = nil
	}
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		line = strings.TrimSpace(line)
		switch {
		case i == 0:
			out = append(out, line)
			continue
		case line == "authority", line == "additional":
			end()
			out = append(out, line)
			continue
		case line == "SOA":
			line = soaText
		}
		rr, err := dns.NewRR(line)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		section = append(section, rr)
	}
	end()
	return strings.Join(out, "\n")
}

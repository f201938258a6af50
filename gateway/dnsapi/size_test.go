package dnsapi

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"signpost/resolver/catalog"
)

// crowd is a service "many" with n instances, each on a node of its own.
func crowd(t testing.TB, n int, meta map[string]string) *memory {
	r := newRows()
	for i := range n {
		name := fmt.Sprintf("fx-many%d", i+1)
		r.node(catalog.Node{Name: name, Address: fmt.Sprintf("10.5.%d.%d", i/250, i%250+1), Meta: meta})
		r.service(catalog.Service{Node: name, Name: "many", Port: 7001 + i})
	}
	r.query(catalog.Query{Name: "many", Service: catalog.QueryService{Service: "many"}})
	return r.memory(t)
}

// With 60 instances the reference was seen to give these numbers.
func TestAnswersAreCutToWhatFits(t *testing.T) {
	m := crowd(t, 60, nil)
	const (
		old = 0
		tcp = -1
	)
	for _, c := range []struct {
		name         string
		config       Config
		ask          string
		bufsize      int // 0: no EDNS; -1: tcp
		answers, add int
		tc           bool
	}{
		{"A without EDNS", Config{}, "A", old, 3, 0, false},
		{"A with a size of 100", Config{}, "A", 100, 3, 0, false},
		{"A with a size of 512", Config{}, "A", 512, 3, 0, false},
		{"A with a size of 513", Config{}, "A", 513, 28, 0, false},
		{"A with a size of 1232", Config{}, "A", 1232, 60, 0, false},
		{"A with a size of 65535", Config{}, "A", 65535, 60, 0, false},
		{"A over tcp", Config{}, "A", tcp, 60, 0, false},
		{"SRV without EDNS", Config{}, "SRV", old, 3, 3, false},
		{"SRV with a size of 1232", Config{}, "SRV", 1232, 19, 19, false},
		{"SRV with a size of 65535 is held to our own", Config{}, "SRV", 65535, 19, 19, false},
		{"SRV where we take 4096", Config{UDPMaxSize: 4096}, "SRV", 4096, 60, 60, false},
		{"SRV over tcp", Config{}, "SRV", tcp, 60, 60, false},
		{"more without EDNS where the setting says so", Config{UDPAnswerLimit: 5}, "A", old, 5, 0, false},
		{"but not over 8", Config{UDPAnswerLimit: 50}, "A", old, 8, 0, false},
		{"TC by count", Config{EnableTruncate: true}, "A", old, 3, 0, true},
		{"TC by size", Config{EnableTruncate: true}, "SRV", 1232, 19, 19, true},
		{"no TC where nothing is cut", Config{EnableTruncate: true}, "A", 1232, 60, 0, false},
		{"a_record_limit cuts without TC", Config{EnableTruncate: true, ARecordLimit: 2}, "A", old, 2, 0, false},
		{"a_record_limit with EDNS", Config{EnableTruncate: true, ARecordLimit: 5}, "A", 1232, 5, 0, false},
		{"a_record_limit for ANY", Config{ARecordLimit: 5}, "ANY", 1232, 5, 0, false},
		{"a_record_limit over tcp", Config{ARecordLimit: 5}, "A", tcp, 5, 0, false},
		{"a_record_limit is not for SRV", Config{ARecordLimit: 5}, "SRV", tcp, 60, 60, false},
		{"uncompressed answers hold less", Config{DisableCompression: true}, "A", 1232, 35, 0, false},
	} {
		for _, kind := range []string{"query", "service"} {
			t.Run(c.name+" by "+kind, func(t *testing.T) {
				c.config.Domain = "sample"
				a := askerOf(t, m, c.config)
				q := question(t, "many."+kind+".sample. "+c.ask, uint16(max(c.bufsize, 0)))
				got, size := a.msg(t, q, c.bufsize == tcp)
				extra := len(got.Extra)
				if opt := got.IsEdns0(); opt != nil {
					extra--
				} else if c.bufsize > 0 {
					t.Error("the OPT record is gone")
				}
				want := c.answers
				if kind == "service" && c.config.DisableCompression {
					want -= 2 // the name is longer
				}
				if len(got.Answer) != want || kind == "query" && extra != c.add || got.Truncated != c.tc {
					t.Errorf("%d answers, %d additional, tc=%v in %d bytes; want %d, %d, %v", len(got.Answer), extra, got.Truncated, size, want, c.add, c.tc)
				}
				limit := 65535
				if c.bufsize != tcp {
					limit = min(max(c.bufsize, 512), a.h.UDPMaxSize)
				}
				if size > limit {
					t.Errorf("%d bytes, the limit is %d", size, limit)
				}
				checkComplete(t, got)
			})
		}
	}
}

// checkComplete tells whether each SRV target has its address beside it, and
// nothing else is there.
func checkComplete(t *testing.T, m *dns.Msg) {
	t.Helper()
	targets := map[string]bool{}
	for _, rr := range m.Answer {
		if srv, ok := rr.(*dns.SRV); ok {
			targets[srv.Target] = false
		}
	}
	for _, rr := range m.Extra {
		switch rr := rr.(type) {
		case *dns.OPT:
		case *dns.A:
			if _, ok := targets[rr.Hdr.Name]; !ok {
				t.Errorf("an address of %s, which no SRV record leads to", rr.Hdr.Name)
			}
			targets[rr.Hdr.Name] = true
		}
	}
	for target, found := range targets {
		if !found {
			t.Errorf("no address of %s", target)
		}
	}
}

// Metadata goes before answers do, and is there again where it fits.
func TestMetadataIsCutFirst(t *testing.T) {
	a := askerOf(t, crowd(t, 12, map[string]string{"rack": "a", "text": strings.Repeat("x", 300)}), Config{})
	texts := func(m *dns.Msg) (n int) {
		for _, rr := range m.Extra {
			if txt, ok := rr.(*dns.TXT); ok {
				n++
				if len(txt.Txt[0]) > 255 {
					t.Errorf("a string of %d bytes", len(txt.Txt[0]))
				}
			}
		}
		return n
	}
	m, _ := a.msg(t, question(t, "many.query.signpost. SRV", 1232), false)
	if len(m.Answer) != 12 || texts(m) != 0 {
		t.Errorf("udp: %d answers and %d texts, want 12 and 0", len(m.Answer), texts(m))
	}
	m, _ = a.msg(t, question(t, "many.query.signpost. SRV", 1232), true)
	if len(m.Answer) != 12 || texts(m) != 24 {
		t.Errorf("tcp: %d answers and %d texts, want 12 and 24", len(m.Answer), texts(m))
	}
	m, size := a.msg(t, question(t, "fx-many1.node.signpost. A", 0), false)
	if len(m.Answer) != 1 || texts(m) != 2 || size > 504 {
		t.Errorf("node: %d answers and %d texts in %d bytes, want 1 and 2", len(m.Answer), texts(m), size)
	}
}

// One record that does not fit at all sends the client to tcp, whatever
// enable_truncate says: nothing else could be said.
func TestOneRecordTooLargeForUDP(t *testing.T) {
	r := newRows()
	r.node(catalog.Node{Name: "big", Address: "10.0.0.1", Meta: map[string]string{"a": strings.Repeat("x", 512)}})
	a := askerOf(t, r.memory(t), Config{})
	m, size := a.msg(t, question(t, "big.node.signpost. TXT", 0), false)
	if len(m.Answer) != 0 || !m.Truncated || size > 512 {
		t.Errorf("udp: %d answers, tc=%v, %d bytes", len(m.Answer), m.Truncated, size)
	}
	m, _ = a.msg(t, question(t, "big.node.signpost. TXT", 0), true)
	if len(m.Answer) != 1 || m.Truncated {
		t.Errorf("tcp: %d answers, tc=%v", len(m.Answer), m.Truncated)
	}
}

func TestThousandsOverTCP(t *testing.T) {
	a := askerOf(t, crowd(t, 5000, nil), Config{EnableTruncate: true})
	for ask, want := range map[string]int{"A": 4096, "SRV": 930} {
		m, size := a.msg(t, question(t, "many.query.signpost. "+ask, 0), true)
		if len(m.Answer) > want || len(m.Answer) < want-64 || size > maxTCPSize || !m.Truncated {
			t.Errorf("%s: %d answers in %d bytes, tc=%v; want about %d", ask, len(m.Answer), size, m.Truncated, want)
		}
	}
}

// Instances that yield no record, or the same one, do not take the place of
// others.
func TestShortAnswersAreFilled(t *testing.T) {
	r := newRows()
	r.node(catalog.Node{Name: "n6", Address: "2001:db8::6"})
	r.node(catalog.Node{Name: "n4", Address: "10.0.0.1"})
	r.node(catalog.Node{Name: "n5", Address: "10.0.0.2"})
	for i := range 40 {
		r.service(catalog.Service{Node: "n6", ID: fmt.Sprint(i), Name: "s", Port: i})
		r.service(catalog.Service{Node: "n4", ID: fmt.Sprint(i), Name: "s", Port: i})
	}
	r.service(catalog.Service{Node: "n5", Name: "s"})
	r.service(catalog.Service{Node: "n5", Name: "host", Address: "a.example.org"})
	for i := range 10 {
		r.service(catalog.Service{Node: "n6", ID: fmt.Sprint("h", i), Name: "host"})
	}
	a := askerOf(t, r.memory(t), Config{})
	for range 50 {
		m, _ := a.msg(t, question(t, "s.service.signpost. A", 0), false)
		if len(m.Answer) != 2 {
			t.Fatalf("%d answers, want both addresses", len(m.Answer))
		}
		m, _ = a.msg(t, question(t, "host.service.signpost. A", 0), false)
		if len(m.Answer) != 1 || m.Answer[0].Header().Rrtype != dns.TypeCNAME {
			t.Fatalf("got %v, want the one host name", m.Answer)
		}
	}
}

// 60,000 answers over plain udp, three of 60 instances each: every instance
// is drawn equally often, in every place, and follows every other.
func TestDrawIsFair(t *testing.T) {
	const instances, answers, places = 60, 60000, 3
	a := askerOf(t, crowd(t, instances, nil), Config{})
	for _, kind := range []string{"query", "service"} {
		packet, err := question(t, "many."+kind+".signpost. A", 0).Pack()
		if err != nil {
			t.Fatal(err)
		}
		var drawn [places][instances]int
		for range answers {
			out := a.h.handle(context.Background(), a.w, packet, client{})
			for place := range places { // the records are the end of the packet, 16 bytes each
				drawn[place][out[len(out)-16*(places-place)+15]-1]++
			}
		}
		for place, counts := range drawn {
			if chi := chiSquare(counts[:], answers/instances); chi > 98.3 { // 0.999 at 59 degrees of freedom
				t.Errorf("%s, place %d: chi-square %.1f", kind, place, chi)
			}
		}
	}
}

func chiSquare(counts []int, expected float64) (chi float64) {
	for _, n := range counts {
		d := float64(n) - expected
		chi += d * d / expected
	}
	return chi
}

// What two questions at once find out must not get mixed up in the pooled
// memory of a worker.
func TestWorkersKeepNothing(t *testing.T) {
	m := shop(t)
	shared := askerOf(t, m, Config{})
	names := []string{
		"web.service.signpost. SRV", "own.service.signpost. A", "six.service.signpost. AAAA", "nosuch.service.signpost. A",
		"n1.node.signpost. ANY", "a1.service.signpost. A", "signpost. SOA", "example.com. A", "twice.service.signpost. SRV",
	}
	want := map[string]string{}
	for _, n := range names {
		got, _ := askerOf(t, m, Config{}).msg(t, question(t, n, 0), true)
		want[n] = format(got)
	}
	for range 500 {
		n := names[rand.IntN(len(names))]
		got, _ := shared.msg(t, question(t, n, 0), true)
		if format(got) != want[n] {
			t.Fatalf("%s: got\n%s\nwant\n%s", n, format(got), want[n])
		}
	}
}

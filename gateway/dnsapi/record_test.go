package dnsapi

import (
	"strings"
	"testing"

	"github.com/miekg/dns"

	"signpost/resolver/catalog"
)

func TestMetadataText(t *testing.T) {
	for _, c := range []struct{ key, value, want string }{
		{"rack", "a", "rack=a"},
		{"RFC1035-note", "a=`b", "a=`b"},
		{"rfc1035-", "", ""},
		{"a=b", "c=d", "a`=b=c=d"},
		{"a`b", "c`d", "a``b=c``d"},
		{" a b  ", " c ", "` a b` ` = c "},
		{"  ", "x", "` ` =x"},
		{"", "x", "=x"},
	} {
		if got := metaText(c.key, c.value); got != c.want {
			t.Errorf("%q, %q: got %q, want %q", c.key, c.value, got, c.want)
		}
	}
}

// Whatever bytes metadata has, they arrive.
func TestMetadataArrives(t *testing.T) {
	value := "back\\slash \\032 \"quoted\" tab\t ü \x01\xff" + strings.Repeat("long ", 120)
	r := newRows()
	r.node(catalog.Node{Name: "n", Address: "10.0.0.1", Meta: map[string]string{"k": value}})
	m, _ := askerOf(t, r.memory(t), Config{}).msg(t, question(t, "n.node.signpost. TXT", 0), true)
	got := ""
	for _, part := range m.Answer[0].(*dns.TXT).Txt {
		got += strings.Join(splitEscaped(nil, strings.ReplaceAll(part, ".", `\.`)), "?")
	}
	if want := catalog.Fold("k=" + value); got != want {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

// A node whose name cannot be one in DNS is reached by its address.
func TestNamesThatAreNone(t *testing.T) {
	r := newRows()
	for i, name := range []string{strings.Repeat("x", 64), "a..b", strings.Repeat("y.", 120) + "z", strings.Repeat("\x01", 63)} {
		r.node(catalog.Node{Name: name, Address: "10.0.0.1"})
		r.service(catalog.Service{Node: name, Name: "s", Port: i})
	}
	r.node(catalog.Node{Name: "junk", Address: "not a host"})
	r.service(catalog.Service{Node: "junk", Name: "s", Port: 9})
	r.service(catalog.Service{Node: "junk", Name: "junk", Port: 9, Address: "http://10.0.0.1/"})
	a := askerOf(t, r.memory(t), Config{})
	m, _ := a.msg(t, question(t, "s.service.signpost. SRV", 0), true)
	literal := 0
	for _, rr := range m.Answer {
		if rr.(*dns.SRV).Target == "0a000001.addr.dc1.signpost." {
			literal++
		}
	}
	if len(m.Answer) != 4 || literal != 3 {
		t.Errorf("%d of %d targets are addresses:\n%v", literal, len(m.Answer), m)
	}
	for _, c := range []testCase{
		{"junk.service.signpost. A", "NOERROR aa rd\nauthority\nSOA"},
		{"junk.service.signpost. SRV", "NOERROR aa rd\nauthority\nSOA"},
		{"junk.node.signpost. A", "NOERROR aa rd\nauthority\nSOA"},
		{"junk.node.signpost. MX", "NOERROR aa rd\nauthority\nSOA"},
	} {
		check(t, a, c)
	}
}

package dnsapi

import (
	"testing"
	"time"

	"signpost/resolver/catalog"
)

// shop is a catalog with something of every form.
func shop(t testing.TB) *memory {
	r := newRows()
	r.node(catalog.Node{Name: "n1", ID: "aaaaaaaa-1111-2222-3333-444444444444", Address: "10.1.0.1", Meta: map[string]string{"rack": "a", "rfc1035-note": "plain text"}})
	r.node(catalog.Node{Name: "Mixed.Case", Address: "10.1.0.2"})
	r.node(catalog.Node{Name: "n6", Address: "2001:db8::6"})
	r.node(catalog.Node{Name: "named", Address: "backend.example.org"})
	r.node(catalog.Node{Name: "both", Address: "10.1.0.4", TaggedAddresses: map[string]string{"lan_ipv4": "10.3.1.1", "lan_ipv6": "2001:db8:1::3"}})
	r.node(catalog.Node{Name: "odd name", Address: "10.1.0.5"})
	r.node(catalog.Node{Name: "inside", Address: "n1.node.signpost"})

	r.service(catalog.Service{Node: "n1", Name: "web", Port: 8001, Tags: []string{"V1", "tag.one"}}, catalog.Passing)
	r.service(catalog.Service{Node: "Mixed.Case", Name: "web", Port: 8002, Tags: []string{"v2"}, Weights: catalog.Weights{Passing: 10, Warning: 3}}, catalog.Passing, catalog.Warning)
	r.service(catalog.Service{Node: "n6", Name: "web", Port: 8003}, catalog.Critical)

	r.service(catalog.Service{Node: "n1", Name: "own", Port: 9001, Address: "10.4.9.9"})
	r.service(catalog.Service{Node: "n6", Name: "six", Port: 9002})
	r.service(catalog.Service{Node: "n1", Name: "hosted", Port: 9003, Address: "backend.example.org"})
	r.service(catalog.Service{Node: "n1", ID: "m1", Name: "mixed", Port: 9004, Address: "backend.example.org"})
	r.service(catalog.Service{Node: "n1", ID: "m2", Name: "mixed", Port: 9005})
	r.service(catalog.Service{Node: "both", Name: "dual", Port: 9006})
	r.service(catalog.Service{Node: "n1", Name: "self", Port: 9007, Address: "Self.service.signpost"})
	r.service(catalog.Service{Node: "odd name", Name: "odd", Port: 9008})
	r.service(catalog.Service{Node: "n1", ID: "t1", Name: "twice", Port: 9009})
	r.service(catalog.Service{Node: "n1", ID: "t2", Name: "twice", Port: 9009})
	r.service(catalog.Service{Node: "n1", ID: "t3", Name: "twice", Port: 9010})
	r.service(catalog.Service{Node: "n1", Name: "inner", Port: 9011, Address: "own.service.signpost"})
	r.service(catalog.Service{Node: "n1", Name: "a1", Port: 1, Address: "a2.service.signpost"})
	r.service(catalog.Service{Node: "n1", Name: "a2", Port: 1, Address: "a3.service.signpost"})
	r.service(catalog.Service{Node: "n1", Name: "a3", Port: 1, Address: "own.service.signpost"})
	r.service(catalog.Service{Node: "n1", Name: "a0", Port: 1, Address: "a1.service.signpost"})
	r.service(catalog.Service{Node: "n1", Name: "loop1", Port: 1, Address: "loop2.service.signpost"})
	r.service(catalog.Service{Node: "n1", Name: "loop2", Port: 1, Address: "loop1.service.signpost"})
	r.service(catalog.Service{Node: "n1", ID: "px", Name: "web-proxy", Kind: catalog.KindConnectProxy, Port: 21000, Proxy: &catalog.Proxy{DestinationServiceName: "web"}})
	r.service(catalog.Service{Node: "n1", Name: "sick", Port: 1}, catalog.Critical)
	r.service(catalog.Service{Node: "n1", Name: "ill", Port: 1}, "unheard of")
	r.service(catalog.Service{Node: "n1", Name: "port", Port: 70000})

	r.query(catalog.Query{Name: "all-web", Service: catalog.QueryService{Service: "web"}})
	r.query(catalog.Query{ID: "bbbbbbbb-1111-2222-3333-444444444444", Name: "Quick.One", Service: catalog.QueryService{Service: "web", Tags: []string{"v2"}}, DNS: catalog.QueryDNS{TTL: "1500ms"}})
	r.query(catalog.Query{Name: "never", Service: catalog.QueryService{Service: "own"}, DNS: catalog.QueryDNS{TTL: "0s"}})
	r.query(catalog.Query{Name: "none", Service: catalog.QueryService{Service: "no-such"}})
	r.query(catalog.Query{Name: "_f1", Service: catalog.QueryService{Service: "own"}})
	r.query(catalog.Query{Name: "with space", Service: catalog.QueryService{Service: "own"}})
	return r.memory(t)
}

func TestServiceNames(t *testing.T) {
	a := askerOf(t, shop(t), Config{})
	for _, c := range []testCase{
		{"web.service.signpost. A", `NOERROR aa rd
			web.service.signpost. 0 A 10.1.0.1
			web.service.signpost. 0 A 10.1.0.2`},
		{"WEB.Service.SIGNPOST. A", `NOERROR aa rd
			WEB.Service.SIGNPOST. 0 A 10.1.0.1
			WEB.Service.SIGNPOST. 0 A 10.1.0.2`},
		{"web.service.signpost. ANY", `NOERROR aa rd
			web.service.signpost. 0 A 10.1.0.1
			web.service.signpost. 0 A 10.1.0.2`},
		{"web.service.signpost. TXT", `NOERROR aa rd
			web.service.signpost. 0 A 10.1.0.1
			web.service.signpost. 0 A 10.1.0.2`},
		{"web.service.signpost. AAAA", "NOERROR aa rd\nauthority\nSOA"},
		{"web.service.signpost. MX", "NOERROR aa rd\nauthority\nSOA"},
		{"web.service.signpost. CNAME", "NOERROR aa rd\nauthority\nSOA"},
		{"web.service.signpost. SOA", "NOERROR aa rd\nauthority\nSOA"},
		{"web.service.signpost. NS", "NOERROR aa rd\nauthority\nSOA"},
		{"web.service.signpost. SRV", `NOERROR aa rd
			web.service.signpost. 0 SRV 1 1 8001 n1.node.dc1.signpost.
			web.service.signpost. 0 SRV 1 3 8002 Mixed.Case.node.dc1.signpost.
			additional
			n1.node.dc1.signpost. 0 A 10.1.0.1
			n1.node.dc1.signpost. 0 TXT "rack=a"
			n1.node.dc1.signpost. 0 TXT "plain text"
			Mixed.Case.node.dc1.signpost. 0 A 10.1.0.2`},
		{"web.service.dc1.signpost. A", `NOERROR aa rd
			web.service.dc1.signpost. 0 A 10.1.0.1
			web.service.dc1.signpost. 0 A 10.1.0.2`},
		{"web.service.DC1.dc.signpost. A", `NOERROR aa rd
			web.service.DC1.dc.signpost. 0 A 10.1.0.1
			web.service.DC1.dc.signpost. 0 A 10.1.0.2`},
		{"v1.web.service.signpost. A", "NOERROR aa rd\nv1.web.service.signpost. 0 A 10.1.0.1"},
		{"Tag.One.web.service.signpost. A", "NOERROR aa rd\nTag.One.web.service.signpost. 0 A 10.1.0.1"},
		{"_web._tcp.service.signpost. A", `NOERROR aa rd
			_web._tcp.service.signpost. 0 A 10.1.0.1
			_web._tcp.service.signpost. 0 A 10.1.0.2`},
		{"_web._v2.service.signpost. A", "NOERROR aa rd\n_web._v2.service.signpost. 0 A 10.1.0.2"},
		{"_web._v2.service.dc1.signpost. A", "NOERROR aa rd\n_web._v2.service.dc1.signpost. 0 A 10.1.0.2"},
		{"_web._udp.service.signpost. A", "NXDOMAIN aa rd\nauthority\nSOA"},
		{"_own._tcp.signpost. SRV", `NOERROR aa rd
			_own._tcp.signpost. 0 SRV 1 1 9001 0a040909.addr.dc1.signpost.
			additional
			0a040909.addr.dc1.signpost. 0 A 10.4.9.9
			n1.node.dc1.signpost. 0 TXT "rack=a"
			n1.node.dc1.signpost. 0 TXT "plain text"`},
		{"_six._tcp.dc1.signpost. SRV", `NOERROR aa rd
			_six._tcp.dc1.signpost. 0 SRV 1 1 9002 n6.node.dc1.signpost.
			additional
			n6.node.dc1.signpost. 0 AAAA 2001:db8::6`},
		{"_own._tcp.signpost. A", "NOERROR aa rd\nauthority\nSOA"},
		{"_none._tcp.signpost. SRV", "NXDOMAIN aa rd\nauthority\nSOA"},
		{"web._tcp.signpost. SRV", "NXDOMAIN aa rd\nauthority\nSOA"},
		{"web.connect.signpost. SRV", `NOERROR aa rd
			web.connect.signpost. 0 SRV 1 1 21000 n1.node.dc1.signpost.
			additional
			n1.node.dc1.signpost. 0 A 10.1.0.1
			n1.node.dc1.signpost. 0 TXT "rack=a"
			n1.node.dc1.signpost. 0 TXT "plain text"`},
		{"any.web.connect.signpost. A", "NOERROR aa rd\nany.web.connect.signpost. 0 A 10.1.0.1"},
		{"own.connect.signpost. A", "NXDOMAIN aa rd\nauthority\nSOA"},
		{"v3.web.service.signpost. A", "NXDOMAIN aa rd\nauthority\nSOA"},
		{"nosuch.service.signpost. A", "NXDOMAIN aa rd\nauthority\nSOA"},
		{"sick.service.signpost. A", "NXDOMAIN aa rd\nauthority\nSOA"},
		{"web.service.dc9.signpost. A", "NXDOMAIN aa rd\nauthority\nSOA"},
		{"web.service.dc1.extra.signpost. A", "NXDOMAIN aa rd\nauthority\nSOA"},
		{"web.service.default.ns.signpost. A", "NXDOMAIN aa rd\nauthority\nSOA"},
		{"web.service.there.peer.signpost. A", "NXDOMAIN aa rd\nauthority\nSOA"},
		{"port.service.signpost. SRV", "NOERROR aa rd\nauthority\nSOA"},
	} {
		check(t, a, c)
	}
}

func TestQueryNames(t *testing.T) {
	a := askerOf(t, shop(t), Config{ServiceTTL: map[string]time.Duration{"*": 7 * time.Second}})
	for _, c := range []testCase{
		{"all-web.query.signpost. A", `NOERROR aa rd
			all-web.query.signpost. 7 A 10.1.0.1
			all-web.query.signpost. 7 A 10.1.0.2`},
		{"quick.one.query.signpost. A", "NOERROR aa rd\nquick.one.query.signpost. 1 A 10.1.0.2"},
		{"quick.one.query.dc1.signpost. ANY", "NOERROR aa rd\nquick.one.query.dc1.signpost. 1 A 10.1.0.2"},
		{"quick.one.query.signpost. AAAA", "NOERROR aa rd\nauthority\nSOA"},
		{"bbbbbbbb-1111-2222-3333-444444444444.query.signpost. A", `NOERROR aa rd
			bbbbbbbb-1111-2222-3333-444444444444.query.signpost. 1 A 10.1.0.2`},
		{"quick.one.query.signpost. SRV", `NOERROR aa rd
			quick.one.query.signpost. 1 SRV 1 3 8002 Mixed.Case.node.dc1.signpost.
			additional
			Mixed.Case.node.dc1.signpost. 1 A 10.1.0.2`},
		{"_all-web._tcp.query.signpost. A", `NOERROR aa rd
			_all-web._tcp.query.signpost. 7 A 10.1.0.1
			_all-web._tcp.query.signpost. 7 A 10.1.0.2`},
		{"_quick.one._any.query.dc1.signpost. A", "NOERROR aa rd\n_quick.one._any.query.dc1.signpost. 1 A 10.1.0.2"},
		{"_f1.query.signpost. A", "NOERROR aa rd\n_f1.query.signpost. 7 A 10.4.9.9"},
		{`with\032space.query.signpost. A`, "NOERROR aa rd\nwith\\032space.query.signpost. 7 A 10.4.9.9"},
		{`quick\.one.query.signpost. A`, "NOERROR aa rd\nquick\\.one.query.signpost. 1 A 10.1.0.2"},
		{"never.query.signpost. A", "NOERROR aa rd\nnever.query.signpost. 0 A 10.4.9.9"},
		{"none.query.signpost. A", "NXDOMAIN aa rd\nauthority\nSOA"},
		{"unknown.query.signpost. A", "NXDOMAIN aa rd\nauthority\nSOA"},
		{"all-web.query.dc9.signpost. A", "NXDOMAIN aa rd\nauthority\nSOA"},
		{"all-web.query.dc1.dc.signpost. A", "NXDOMAIN aa rd\nauthority\nSOA"},
	} {
		check(t, a, c)
	}
}

func TestNodeNames(t *testing.T) {
	a := askerOf(t, shop(t), Config{NodeTTL: 30 * time.Second})
	for _, c := range []testCase{
		{"n1.node.signpost. A", `NOERROR aa rd
			n1.node.signpost. 30 A 10.1.0.1
			additional
			n1.node.signpost. 30 TXT "rack=a"
			n1.node.signpost. 30 TXT "plain text"`},
		{"n1.node.dc1.signpost. ANY", `NOERROR aa rd
			n1.node.dc1.signpost. 30 A 10.1.0.1
			n1.node.dc1.signpost. 30 TXT "rack=a"
			n1.node.dc1.signpost. 30 TXT "plain text"`},
		{"n1.node.signpost. TXT", `NOERROR aa rd
			n1.node.signpost. 30 TXT "rack=a"
			n1.node.signpost. 30 TXT "plain text"`},
		{"n1.node.signpost. AAAA", "NOERROR aa rd\nauthority\nSOA"},
		{"n1.node.signpost. SRV", "NOERROR aa rd\nauthority\nSOA"},
		{"n6.node.signpost. TXT", "NOERROR aa rd\nauthority\nSOA"},
		{"n6.node.signpost. AAAA", "NOERROR aa rd\nn6.node.signpost. 30 AAAA 2001:db8::6"},
		{"MIXED.case.node.dc1.dc.signpost. A", "NOERROR aa rd\nMIXED.case.node.dc1.dc.signpost. 30 A 10.1.0.2"},
		{`odd\032name.node.signpost. A`, "NOERROR aa rd\nodd\\032name.node.signpost. 30 A 10.1.0.5"},
		{"aaaaaaaa-1111-2222-3333-444444444444.node.signpost. AAAA", "NOERROR aa rd\nauthority\nSOA"},
		{"AAAA.node.signpost. AAAA", "NOERROR aa rd\nauthority\nSOA"},
		{"both.node.signpost. A", "NOERROR aa rd\nboth.node.signpost. 30 A 10.3.1.1"},
		{"both.node.signpost. AAAA", "NOERROR aa rd\nboth.node.signpost. 30 AAAA 2001:db8:1::3"},
		{"both.node.signpost. ANY", "NOERROR aa rd\nboth.node.signpost. 30 AAAA 2001:db8:1::3"},
		{"named.node.signpost. A", "NOERROR aa rd\nnamed.node.signpost. 30 CNAME backend.example.org."},
		{"named.node.signpost. MX", "NOERROR aa rd\nnamed.node.signpost. 30 CNAME backend.example.org."},
		{"inside.node.signpost. A", `NOERROR aa rd
			inside.node.signpost. 30 CNAME n1.node.signpost.
			n1.node.signpost. 30 A 10.1.0.1`},
		{"inside.node.signpost. CNAME", "NOERROR aa rd\ninside.node.signpost. 30 CNAME n1.node.signpost."},
		{"nosuch.node.signpost. A", "NXDOMAIN aa rd\nauthority\nSOA"},
		{"n1.node.dc9.signpost. A", "NXDOMAIN aa rd\nauthority\nSOA"},
		{"n1.node.a.peer.signpost. A", "NXDOMAIN aa rd\nauthority\nSOA"},
		{"0a010001.addr.signpost. A", "NOERROR aa rd\n0a010001.addr.signpost. 30 A 10.1.0.1"},
		{"0A010001.ADDR.any.thing.signpost. ANY", "NOERROR aa rd\n0A010001.ADDR.any.thing.signpost. 30 A 10.1.0.1"},
		{"20010db8000000000000000000000006.addr.dc1.signpost. AAAA", "NOERROR aa rd\n20010db8000000000000000000000006.addr.dc1.signpost. 30 AAAA 2001:db8::6"},
		{"0a010001.addr.signpost. AAAA", "NOERROR aa rd\nauthority\nSOA"},
		{"0a010001.addr.signpost. SRV", "NOERROR aa rd\nauthority\nSOA"},
		{"0a0100.addr.signpost. A", "NXDOMAIN aa rd\nauthority\nSOA"},
		{"0a01000g.addr.signpost. A", "NXDOMAIN aa rd\nauthority\nSOA"},
		{"x.0a010001.addr.signpost. A", "NXDOMAIN aa rd\nauthority\nSOA"},
	} {
		check(t, a, c)
	}
}

func TestAddresses(t *testing.T) {
	a := askerOf(t, shop(t), Config{NoNodeMetaTXT: true})
	for _, c := range []testCase{
		{"own.service.signpost. A", "NOERROR aa rd\nown.service.signpost. 0 A 10.4.9.9"},
		{"own.service.signpost. SRV", `NOERROR aa rd
			own.service.signpost. 0 SRV 1 1 9001 0a040909.addr.dc1.signpost.
			additional
			0a040909.addr.dc1.signpost. 0 A 10.4.9.9`},
		{"six.service.signpost. AAAA", "NOERROR aa rd\nsix.service.signpost. 0 AAAA 2001:db8::6"},
		{"six.service.signpost. A", "NOERROR aa rd\nauthority\nSOA"},
		{"six.service.signpost. ANY", "NOERROR aa rd\nsix.service.signpost. 0 AAAA 2001:db8::6"},
		{"dual.service.signpost. A", "NOERROR aa rd\ndual.service.signpost. 0 A 10.3.1.1"},
		{"dual.service.signpost. AAAA", "NOERROR aa rd\ndual.service.signpost. 0 AAAA 2001:db8:1::3"},
		{"dual.service.signpost. SRV", `NOERROR aa rd
			dual.service.signpost. 0 SRV 1 1 9006 both.node.dc1.signpost.
			additional
			both.node.dc1.signpost. 0 AAAA 2001:db8:1::3`},
		{"hosted.service.signpost. A", "NOERROR aa rd\nhosted.service.signpost. 0 CNAME backend.example.org."},
		{"hosted.service.signpost. AAAA", "NOERROR aa rd\nhosted.service.signpost. 0 CNAME backend.example.org."},
		{"hosted.service.signpost. MX", "NOERROR aa rd\nhosted.service.signpost. 0 CNAME backend.example.org."},
		{"hosted.service.signpost. SRV", "NOERROR aa rd\nhosted.service.signpost. 0 SRV 1 1 9003 backend.example.org."},
		{"mixed.service.signpost. A", "NOERROR aa rd\nmixed.service.signpost. 0 A 10.1.0.1"},
		{"mixed.service.signpost. CNAME", "NOERROR aa rd\nauthority\nSOA"},
		{"mixed.service.signpost. SRV", `NOERROR aa rd
			mixed.service.signpost. 0 SRV 1 1 9004 backend.example.org.
			mixed.service.signpost. 0 SRV 1 1 9005 n1.node.dc1.signpost.
			additional
			n1.node.dc1.signpost. 0 A 10.1.0.1`},
		{"self.service.signpost. A", "NOERROR aa rd\nself.service.signpost. 0 A 10.1.0.1"},
		{"self.service.signpost. SRV", `NOERROR aa rd
			self.service.signpost. 0 SRV 1 1 9007 n1.node.dc1.signpost.
			additional
			n1.node.dc1.signpost. 0 A 10.1.0.1`},
		{"odd.service.signpost. SRV", `NOERROR aa rd
			odd.service.signpost. 0 SRV 1 1 9008 odd\032name.node.dc1.signpost.
			additional
			odd\032name.node.dc1.signpost. 0 A 10.1.0.5`},
		{"ill.service.signpost. SRV", `NOERROR aa rd
			ill.service.signpost. 0 SRV 1 1 1 n1.node.dc1.signpost.
			additional
			n1.node.dc1.signpost. 0 A 10.1.0.1`},
		{"twice.service.signpost. A", "NOERROR aa rd\ntwice.service.signpost. 0 A 10.1.0.1"},
		{"twice.service.signpost. SRV", `NOERROR aa rd
			twice.service.signpost. 0 SRV 1 1 9009 n1.node.dc1.signpost.
			twice.service.signpost. 0 SRV 1 1 9010 n1.node.dc1.signpost.
			additional
			n1.node.dc1.signpost. 0 A 10.1.0.1
			n1.node.dc1.signpost. 0 A 10.1.0.1`},
		{"inner.service.signpost. A", `NOERROR aa rd
			inner.service.signpost. 0 CNAME own.service.signpost.
			own.service.signpost. 0 A 10.4.9.9`},
		{"inner.service.signpost. SRV", `NOERROR aa rd
			inner.service.signpost. 0 SRV 1 1 9011 own.service.signpost.
			additional
			own.service.signpost. 0 A 10.4.9.9`},
		{"inner.service.signpost. AAAA", "NOERROR aa rd\ninner.service.signpost. 0 CNAME own.service.signpost."},
		{"a1.service.signpost. A", `NOERROR aa rd
			a1.service.signpost. 0 CNAME a2.service.signpost.
			a2.service.signpost. 0 CNAME a3.service.signpost.
			a3.service.signpost. 0 CNAME own.service.signpost.
			own.service.signpost. 0 A 10.4.9.9`},
		{"a0.service.signpost. A", "NOERROR aa rd\na0.service.signpost. 0 CNAME a1.service.signpost."},
		{"loop1.service.signpost. A", "NOERROR aa rd\nloop1.service.signpost. 0 CNAME loop2.service.signpost."},
		{"loop1.service.signpost. SRV", "NOERROR aa rd\nloop1.service.signpost. 0 SRV 1 1 1 loop2.service.signpost."},
	} {
		check(t, a, c)
	}
}

func TestZones(t *testing.T) {
	a := askerOf(t, shop(t), Config{AltDomain: "Alt.Example."})
	const altSOA = "alt.example. 0 SOA ns.alt.example. hostmaster.alt.example. 1700000000 3600 600 86400 0"
	for _, c := range []testCase{
		{"signpost. SOA", `NOERROR aa rd
			SOA
			authority
			signpost. 0 NS signpost.node.dc1.signpost.
			additional
			signpost.node.dc1.signpost. 0 A 192.0.2.1`},
		{"SIGNPOST. NS", `NOERROR aa rd
			signpost. 0 NS signpost.node.dc1.signpost.
			additional
			signpost.node.dc1.signpost. 0 A 192.0.2.1`},
		{"signpost. ANY", `NOERROR aa rd
			SOA
			signpost. 0 NS signpost.node.dc1.signpost.
			additional
			signpost.node.dc1.signpost. 0 A 192.0.2.1`},
		{"signpost. A", "NOERROR aa rd\nauthority\nSOA"},
		{"service.signpost. A", "NOERROR aa rd\nauthority\nSOA"},
		{"query.signpost. A", "NOERROR aa rd\nauthority\nSOA"},
		{"node.dc1.signpost. A", "NOERROR aa rd\nauthority\nSOA"},
		{"addr.signpost. A", "NOERROR aa rd\nauthority\nSOA"},
		{"dc1.signpost. A", "NOERROR aa rd\nauthority\nSOA"},
		{"dc1.dc.signpost. A", "NOERROR aa rd\nauthority\nSOA"},
		{"_tcp.service.signpost. A", "NOERROR aa rd\nauthority\nSOA"},
		{"_tcp.signpost. A", "NOERROR aa rd\nauthority\nSOA"},
		{"service.dc9.signpost. A", "NXDOMAIN aa rd\nauthority\nSOA"},
		{"dc9.signpost. A", "NXDOMAIN aa rd\nauthority\nSOA"},
		{"x.nonsense.signpost. A", "NXDOMAIN aa rd\nauthority\nSOA"},
		{"nonsense.signpost. SOA", "NXDOMAIN aa rd\nauthority\nSOA"},
		{"alt.example. SOA", `NOERROR aa rd
			` + altSOA + `
			authority
			alt.example. 0 NS signpost.node.dc1.alt.example.
			additional
			signpost.node.dc1.alt.example. 0 A 192.0.2.1`},
		{"six.service.ALT.example. SRV", `NOERROR aa rd
			six.service.ALT.example. 0 SRV 1 1 9002 n6.node.dc1.alt.example.
			additional
			n6.node.dc1.alt.example. 0 AAAA 2001:db8::6`},
		{"nosuch.service.alt.example. A", "NXDOMAIN aa rd\nauthority\n" + altSOA},
		{"example. A", "REFUSED rd"},
		{"example.com. A", "REFUSED rd"},
		{"notsignpost. A", "REFUSED rd"},
		{`web.service\.signpost. A`, "REFUSED rd"},
		{". NS", "REFUSED rd"},
		{"signpost. AXFR", "NOTIMP rd"},
		{"web.service.signpost. IXFR", "NOTIMP rd"},
	} {
		check(t, a, c)
	}
}

func TestOnlyPassing(t *testing.T) {
	a := askerOf(t, shop(t), Config{OnlyPassing: true})
	for _, c := range []testCase{
		{"web.service.signpost. A", "NOERROR aa rd\nweb.service.signpost. 0 A 10.1.0.1"},
		{"ill.service.signpost. A", "NXDOMAIN aa rd\nauthority\nSOA"},
		{"all-web.query.signpost. A", `NOERROR aa rd
			all-web.query.signpost. 0 A 10.1.0.1
			all-web.query.signpost. 0 A 10.1.0.2`},
	} {
		check(t, a, c)
	}
}

// One zone may be inside the other: the closer one answers.
func TestNestedZones(t *testing.T) {
	a := askerOf(t, shop(t), Config{AltDomain: "inner.signpost"})
	check(t, a, testCase{"nosuch.service.inner.signpost. A", `NXDOMAIN aa rd
		authority
		inner.signpost. 0 SOA ns.inner.signpost. hostmaster.inner.signpost. 1700000000 3600 600 86400 0`})
	check(t, a, testCase{"six.service.inner.signpost. AAAA", "NOERROR aa rd\nsix.service.inner.signpost. 0 AAAA 2001:db8::6"})
}

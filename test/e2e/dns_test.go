package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"
)

// resolve asks one question over a real socket.
func resolve(t testing.TB, g *gate, network, name string, qtype uint16) *dns.Msg {
	t.Helper()
	reply, err := tryResolve(g, network, name, qtype)
	require.NoError(t, err, "%s %s by %s", name, dns.TypeToString[qtype], network)
	return reply
}

func tryResolve(g *gate, network, name string, qtype uint16) (*dns.Msg, error) {
	question := new(dns.Msg)
	question.SetQuestion(dns.Fqdn(name), qtype)
	question.SetEdns0(1232, false)
	client := &dns.Client{Net: network, Timeout: 5 * time.Second}
	reply, _, err := client.Exchange(question, g.dns)
	return reply, err
}

// said is a reply as text: its code, and the records of a section without
// their classes, sorted.
func said(reply *dns.Msg, section []dns.RR) string {
	lines := []string{}
	for _, record := range section {
		if record.Header().Rrtype != dns.TypeOPT {
			lines = append(lines, strings.Join(strings.Fields(strings.Replace(record.String(), "\tIN\t", " ", 1)), " "))
		}
	}
	slices.Sort(lines)
	return strings.Join(append([]string{dns.RcodeToString[reply.Rcode]}, lines...), "\n")
}

func TestDNSAnswersOnEveryReplicaOverUDPAndTCP(t *testing.T) {
	t.Parallel()
	gates := fleet(t, 3)
	gates[0].register(t, `{"Node":"n1","Address":"10.0.0.1","NodeMeta":{"rack":"a"},"Service":{"Service":"web","Port":81,"Tags":["v1"]}}`)
	gates[1].register(t, `{"Node":"n2","Address":"10.0.0.2","Service":{"Service":"web","Port":82},"Check":{"CheckID":"c","ServiceID":"web","Status":"passing"}}`)
	gates[2].register(t, `{"Node":"n3","Address":"10.0.0.3","Service":{"Service":"web","Port":83},"Check":{"CheckID":"c","ServiceID":"web","Status":"critical"}}`)
	gates[0].register(t, `{"Node":"n6","Address":"2001:db8::6","Service":{"Service":"six","Port":86}}`)
	gates[1].createQuery(t, `{"Name":"find-web","Service":{"Service":"web"},"DNS":{"TTL":"7s"}}`)
	gates[1].createQuery(t, `{"Name":"find-six","Service":{"Service":"six"}}`)
	gates[1].createQuery(t, `{"Name":"find-none","Service":{"Service":"none"}}`)

	for i, g := range gates {
		g.get(t, "/v1/query?consistent") // everything has arrived
		for _, network := range []string{"udp", "tcp"} {
			t.Run(fmt.Sprint(network, " of replica ", i), func(t *testing.T) {
				t.Parallel()
				for _, tc := range []struct {
					name         string
					qtype        uint16
					want, beside string // answers; additional records, unless empty
				}{
					{"find-web.query.signpost", dns.TypeA, "NOERROR\nfind-web.query.signpost. 7 A 10.0.0.1\nfind-web.query.signpost. 7 A 10.0.0.2", ""},
					{"FIND-web.Query.dc1.signpost", dns.TypeANY, "NOERROR\nFIND-web.Query.dc1.signpost. 7 A 10.0.0.1\nFIND-web.Query.dc1.signpost. 7 A 10.0.0.2", ""},
					{"find-web.query.signpost", dns.TypeSRV, "NOERROR\nfind-web.query.signpost. 7 SRV 1 1 81 n1.node.dc1.signpost.\nfind-web.query.signpost. 7 SRV 1 1 82 n2.node.dc1.signpost.",
						"NOERROR\nn1.node.dc1.signpost. 7 A 10.0.0.1\nn1.node.dc1.signpost. 7 TXT \"rack=a\"\nn2.node.dc1.signpost. 7 A 10.0.0.2"},
					{"find-web.query.signpost", dns.TypeAAAA, "NOERROR", ""},
					{"find-six.query.signpost", dns.TypeAAAA, "NOERROR\nfind-six.query.signpost. 0 AAAA 2001:db8::6", ""},
					{"find-six.query.signpost", dns.TypeSRV, "NOERROR\nfind-six.query.signpost. 0 SRV 1 1 86 n6.node.dc1.signpost.", "NOERROR\nn6.node.dc1.signpost. 0 AAAA 2001:db8::6"},
					{"find-none.query.signpost", dns.TypeA, "NXDOMAIN", ""},
					{"nobody.query.signpost", dns.TypeA, "NXDOMAIN", ""},
					{"web.service.signpost", dns.TypeA, "NOERROR\nweb.service.signpost. 0 A 10.0.0.1\nweb.service.signpost. 0 A 10.0.0.2", ""},
					{"v1.web.service.signpost", dns.TypeANY, "NOERROR\nv1.web.service.signpost. 0 A 10.0.0.1", ""},
					{"_web._tcp.service.signpost", dns.TypeSRV, "NOERROR\n_web._tcp.service.signpost. 0 SRV 1 1 81 n1.node.dc1.signpost.\n_web._tcp.service.signpost. 0 SRV 1 1 82 n2.node.dc1.signpost.", ""},
					{"six.service.signpost", dns.TypeAAAA, "NOERROR\nsix.service.signpost. 0 AAAA 2001:db8::6", ""},
					{"six.service.signpost", dns.TypeA, "NOERROR", ""},
					{"none.service.signpost", dns.TypeA, "NXDOMAIN", ""},
					{"n1.node.signpost", dns.TypeA, "NOERROR\nn1.node.signpost. 0 A 10.0.0.1", "NOERROR\nn1.node.signpost. 0 TXT \"rack=a\""},
					{"n1.node.signpost", dns.TypeANY, "NOERROR\nn1.node.signpost. 0 A 10.0.0.1\nn1.node.signpost. 0 TXT \"rack=a\"", ""},
					{"n6.node.dc1.signpost", dns.TypeAAAA, "NOERROR\nn6.node.dc1.signpost. 0 AAAA 2001:db8::6", ""},
					{"nobody.node.signpost", dns.TypeA, "NXDOMAIN", ""},
					{"web.service.dc9.signpost", dns.TypeA, "NXDOMAIN", ""},
					{"example.org", dns.TypeA, "REFUSED", ""},
				} {
					reply := resolve(t, g, network, tc.name, tc.qtype)
					require.Equal(t, tc.want, said(reply, reply.Answer), "%s %s", tc.name, dns.TypeToString[tc.qtype])
					if tc.beside != "" {
						require.Equal(t, tc.beside, said(reply, reply.Extra), "%s %s", tc.name, dns.TypeToString[tc.qtype])
					}
					require.Equal(t, !strings.HasPrefix(tc.want, "REFUSED"), reply.Authoritative)
					require.False(t, reply.Truncated)
				}
			})
		}
	}
}

// A name that another replica has just learnt is there, and one that it
// forgot goes, within a moment.
func TestDNSFollowsRegistrations(t *testing.T) {
	t.Parallel()
	gates := fleet(t, 3)
	const moment = 5 * time.Second
	everywhere := func(what, name string, qtype uint16, want string) {
		t.Helper()
		for _, g := range gates {
			for _, network := range []string{"udp", "tcp"} {
				within(t, moment, what, func() bool {
					reply := resolve(t, g, network, name, qtype)
					return said(reply, reply.Answer) == want
				})
			}
		}
	}
	for round := range 5 {
		g := gates[round%3]
		g.register(t, instance("n1", "web", 8000+round, "passing"))
		id := g.createQuery(t, `{"Name":"find","Service":{"Service":"web"}}`)
		// The replica that was told has no excuse.
		reply := resolve(t, g, "udp", "find.query.signpost", dns.TypeA)
		require.Equal(t, "NOERROR\nfind.query.signpost. 0 A 10.0.0.1", said(reply, reply.Answer))
		everywhere("registered", "web.service.signpost", dns.TypeSRV, fmt.Sprintf("NOERROR\nweb.service.signpost. 0 SRV 1 1 %d n1.node.dc1.signpost.", 8000+round))
		everywhere("created", "find.query.signpost", dns.TypeA, "NOERROR\nfind.query.signpost. 0 A 10.0.0.1")
		g.register(t, instance("n1", "web", 8000+round, "critical"))
		everywhere("fallen ill", "web.service.signpost", dns.TypeA, "NXDOMAIN")
		g.write(t, http.MethodDelete, "/v1/query/"+id, "")
		g.deregister(t, `{"Node":"n1"}`)
		reply = resolve(t, g, "udp", "n1.node.signpost", dns.TypeA)
		require.Equal(t, dns.RcodeNameError, reply.Rcode)
		everywhere("deregistered", "n1.node.signpost", dns.TypeA, "NXDOMAIN")
		everywhere("deleted", "find.query.signpost", dns.TypeA, "NXDOMAIN")
	}
}

func TestGarbageDoesNotStopTheDNSServer(t *testing.T) {
	t.Parallel()
	g := fleet(t, 1)[0]
	g.register(t, instance("n1", "web", 80, "passing"))
	alive := func() {
		t.Helper()
		for _, network := range []string{"udp", "tcp"} {
			reply := resolve(t, g, network, "web.service.signpost", dns.TypeA)
			require.Equal(t, "NOERROR\nweb.service.signpost. 0 A 10.0.0.1", said(reply, reply.Answer))
		}
	}
	good := new(dns.Msg)
	good.SetQuestion("web.service.signpost.", dns.TypeA)
	packet, err := good.Pack()
	require.NoError(t, err)
	dice := rand.New(rand.NewPCG(1, 2)) // the same each time
	udp, err := net.Dial("udp", g.dns)
	require.NoError(t, err)
	defer udp.Close()
	for i := range 5000 {
		bad := slices.Clone(packet)
		switch i % 4 {
		case 0: // cut short
			bad = bad[:dice.IntN(len(bad))]
		case 1: // damaged
			for range 1 + dice.IntN(4) {
				bad[dice.IntN(len(bad))] = byte(dice.Uint32())
			}
		case 2: // noise
			bad = make([]byte, dice.IntN(1400))
			for j := range bad {
				bad[j] = byte(dice.Uint32())
			}
		case 3: // with something behind
			bad = append(bad, make([]byte, dice.IntN(600))...)
		}
		_, err := udp.Write(bad)
		require.NoError(t, err)
		if i%1000 == 999 {
			alive()
		}
	}
	for _, bad := range [][]byte{
		{}, {0}, {0, 0}, {0, 1, 7}, {0xff, 0xff, 1}, []byte("GET / HTTP/1.1\r\n\r\n"),
		append([]byte{0, 17}, packet[:17]...), append([]byte{0, byte(len(packet)) + 9}, packet...),
	} {
		tcp, err := net.Dial("tcp", g.dns)
		require.NoError(t, err)
		_, err = tcp.Write(bad)
		require.NoError(t, err)
		require.NoError(t, tcp.(*net.TCPConn).CloseWrite())
		alive()
		require.NoError(t, tcp.Close())
	}
	alive()
	g.get(t, "/v1/catalog/nodes")
}

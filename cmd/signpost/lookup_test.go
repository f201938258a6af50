package main

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"
)

// zone answers one name the same by udp and tcp, on one port.
func zone(t *testing.T, handler dns.HandlerFunc) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	packets, err := net.ListenPacket("udp", listener.Addr().String())
	require.NoError(t, err)
	for _, server := range []*dns.Server{{Listener: listener, Handler: handler}, {PacketConn: packets, Handler: handler}} {
		started, stopped := make(chan struct{}), make(chan error, 1)
		server.NotifyStartedFunc = func() { close(started) }
		go func() { stopped <- server.ActivateAndServe() }()
		<-started
		t.Cleanup(func() {
			require.NoError(t, server.Shutdown())
			require.NoError(t, <-stopped)
		})
	}
	return listener.Addr().String()
}

func record(t *testing.T, text string) dns.RR {
	t.Helper()
	rr, err := dns.NewRR(text)
	require.NoError(t, err)
	return rr
}

// body leaves the first line out, whose time differs each time.
func body(t *testing.T, stdout string) (first, rest string) {
	t.Helper()
	first, rest, found := strings.Cut(stdout, "\n")
	require.True(t, found, stdout)
	return first, rest
}

func TestLookupPrintsAnswers(t *testing.T) {
	address := zone(t, func(w dns.ResponseWriter, question *dns.Msg) {
		reply := new(dns.Msg).SetReply(question)
		reply.Authoritative = true
		q := question.Question[0]
		switch q.Name + " " + dns.TypeToString[q.Qtype] {
		case "web.query.signpost. A":
			reply.Answer = []dns.RR{record(t, "web.query.signpost. 7 IN A 10.0.0.1"), record(t, "web.query.signpost. 7 IN A 10.0.0.2")}
		case "web.query.signpost. SRV":
			reply.Answer = []dns.RR{record(t, "web.query.signpost. 0 IN SRV 1 1 80 n1.node.dc1.signpost.")}
			reply.Extra = []dns.RR{record(t, "n1.node.dc1.signpost. 0 IN A 10.0.0.1")}
		case "1.0.0.10.in-addr.arpa. PTR":
			reply.Answer = []dns.RR{record(t, "1.0.0.10.in-addr.arpa. 0 IN PTR n1.node.dc1.signpost.")}
		case "web.query.signpost. AAAA":
			reply.Ns = []dns.RR{record(t, "signpost. 0 IN SOA ns.signpost. hostmaster.signpost. 1 3600 600 86400 0")}
		default:
			reply.Rcode = dns.RcodeNameError
		}
		if question.IsEdns0() != nil {
			reply.SetEdns0(datagram, false)
			opt := reply.IsEdns0()
			if reply.Rcode != dns.RcodeSuccess {
				opt.Option = append(opt.Option, &dns.EDNS0_EDE{InfoCode: dns.ExtendedErrorCodeStaleNXDOMAINAnswer, ExtraText: "7s old"})
			}
		}
		if err := w.WriteMsg(reply); err != nil {
			t.Error(err)
		}
	})
	for _, tc := range []struct {
		name         string
		args         []string
		exit         int
		first, rest  string
		stderr       string
		overProtocol string
	}{
		{"addresses", []string{"web.query.signpost"}, exitOK, ";; NOERROR, answers: 2, authoritative, ",
			"web.query.signpost.\t7\tIN\tA\t10.0.0.1\nweb.query.signpost.\t7\tIN\tA\t10.0.0.2\n", "", "udp"},
		{"services by tcp", []string{"web.query.signpost.", "--type", "srv", "--tcp"}, exitOK, ";; NOERROR, answers: 1, authoritative, ",
			"web.query.signpost.\t0\tIN\tSRV\t1 1 80 n1.node.dc1.signpost.\n;; additional\nn1.node.dc1.signpost.\t0\tIN\tA\t10.0.0.1\n", "", "tcp"},
		{"the name of an address", []string{"10.0.0.1", "--type", "PTR"}, exitOK, ";; NOERROR, answers: 1, authoritative, ",
			"1.0.0.10.in-addr.arpa.\t0\tIN\tPTR\tn1.node.dc1.signpost.\n", "", "udp"},
		{"no record of the type", []string{"web.query.signpost", "--type", "AAAA"}, exitOK, ";; NOERROR, answers: 0, authoritative, ",
			";; authority\nsignpost.\t0\tIN\tSOA\tns.signpost. hostmaster.signpost. 1 3600 600 86400 0\n", "", "udp"},
		{"no such name", []string{"gone.query.signpost"}, exitRun, ";; NXDOMAIN, answers: 0, authoritative, ",
			";; note 19 (Stale NXDOMAIN Answer): (7s old)\n", "signpost: gone.query.signpost.: NXDOMAIN\n", "udp"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			exit, stdout, stderr := signpost(t, append([]string{"lookup", "--dns", address}, tc.args...)...)
			require.Equal(t, tc.exit, exit, stderr)
			first, rest := body(t, stdout)
			require.True(t, strings.HasPrefix(first, tc.first), first)
			require.True(t, strings.HasSuffix(first, fmt.Sprintf(" from %s by %s", address, tc.overProtocol)), first)
			require.Equal(t, tc.rest, rest)
			require.Equal(t, tc.stderr, stderr)
		})
	}
}

func TestLookupAsksAgainByTCPWhenTheAnswerWasCut(t *testing.T) {
	address := zone(t, func(w dns.ResponseWriter, question *dns.Msg) {
		reply := new(dns.Msg).SetReply(question)
		if w.RemoteAddr().Network() == "udp" {
			reply.Truncated = true
		} else {
			reply.Answer = []dns.RR{record(t, "a. 0 IN A 10.0.0.1")}
		}
		if err := w.WriteMsg(reply); err != nil {
			t.Error(err)
		}
	})
	t.Setenv("SIGNPOST_DNS", address)
	exit, stdout, stderr := signpost(t, "lookup", "a")
	require.Equal(t, exitOK, exit, stderr)
	first, rest := body(t, stdout)
	require.True(t, strings.HasSuffix(first, " by tcp"), first)
	require.Equal(t, "a.\t0\tIN\tA\t10.0.0.1\n", rest)
}

func TestLookupGivesUpOnASilentServer(t *testing.T) {
	silent, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	defer silent.Close()
	exit, _, stderr := signpost(t, "lookup", "a", "--dns", silent.LocalAddr().String(), "--timeout", "50ms")
	require.Equal(t, exitRun, exit)
	require.Contains(t, stderr, "signpost: ask "+silent.LocalAddr().String()+" by udp: ")
	require.Contains(t, stderr, "timeout")
}

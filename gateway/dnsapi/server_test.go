package dnsapi

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"
)

const patience = 5 * time.Second // of tests, for what should come at once

// running makes a server that answers on a port of its own.
func running(t *testing.T, s *Server, addr string) (stop func() error) {
	t.Helper()
	if err := s.Listen(addr); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	var stopped bool
	stop = func() error {
		if stopped {
			return nil
		}
		stopped = true
		cancel()
		select {
		case err := <-ended:
			return err
		case <-time.After(2 * patience):
			return errors.New("the server does not stop")
		}
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	return stop
}

func dial(t *testing.T, network, addr string) net.Conn {
	t.Helper()
	c, err := net.DialTimeout(network, addr, patience)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func port(s *Server) string {
	_, port, _ := net.SplitHostPort(s.Addr().String())
	return port
}

func TestAnswersOverSockets(t *testing.T) {
	for _, listen := range []string{"127.0.0.1:0", "[::1]:0", ":0", "0.0.0.0:0"} {
		t.Run(listen, func(t *testing.T) {
			if listen[0] == '[' && !hasIPv6() {
				t.Skip("this machine has no IPv6")
			}
			s := serverOf(t, shop(t), Config{})
			running(t, s, listen)
			hosts := []string{strings.TrimSuffix(listen, ":0")}
			if listen == ":0" || listen == "0.0.0.0:0" {
				// A connected socket takes answers only from the address that
				// it asked.
				hosts = []string{"127.0.0.1", "127.0.0.2"}
				if hasIPv6() && listen == ":0" {
					hosts = append(hosts, "[::1]")
				}
			}
			for _, host := range hosts {
				for _, network := range []string{"udp", "tcp"} {
					c := dns.Client{Net: network, Timeout: patience}
					m, _, err := c.Exchange(question(t, "own.service.signpost. A", 1232), host+":"+port(s))
					if err != nil {
						t.Errorf("%s to %s: %v", network, host, err)
					} else if len(m.Answer) != 1 {
						t.Errorf("%s to %s: %v", network, host, m)
					}
				}
			}
		})
	}
}

func hasIPv6() bool {
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		return false
	}
	return l.Close() == nil
}

func TestAddressInUseIsSaid(t *testing.T) {
	m := shop(t)
	first := serverOf(t, m, Config{})
	running(t, first, "127.0.0.1:0")
	if err := serverOf(t, m, Config{}).Listen(first.Addr().String()); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("a second server: %v", err)
	}
	// udp alone in use counts as well
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if err := serverOf(t, m, Config{}).Listen(c.LocalAddr().String()); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("a server on a taken udp port: %v", err)
	}
	if err := serverOf(t, m, Config{}).Listen("nonsense"); err == nil {
		t.Error("listened on nonsense")
	}
}

// Garbage is answered with FORMERR or not at all; the questions after it are
// answered.
func TestGarbageOverSockets(t *testing.T) {
	s := serverOf(t, shop(t), Config{})
	running(t, s, "127.0.0.1:0")
	rnd := rand.New(rand.NewPCG(5, 6))
	good := pack(t, question(t, "own.service.signpost. A", 1232))
	for round := range 50 {
		c := dial(t, "udp", s.Addr().String())
		for range 20 {
			b := bytes.Clone(good)
			switch rnd.IntN(3) {
			case 0: // noise
				b = make([]byte, rnd.IntN(600))
				for i := range b {
					b[i] = byte(rnd.Uint32())
				}
			case 1: // cut
				b = b[:rnd.IntN(len(b))]
			case 2: // bent
				for range 1 + rnd.IntN(4) {
					b[rnd.IntN(len(b))] = byte(rnd.Uint32())
				}
			}
			if len(b) >= 2 {
				binary.BigEndian.PutUint16(b, 1)
			}
			if _, err := c.Write(b); err != nil {
				t.Fatal(err)
			}
		}
		binary.BigEndian.PutUint16(good, 2)
		if _, err := c.Write(good); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 4096)
		for {
			n, err := c.Read(buf)
			if err != nil {
				t.Fatalf("round %d: the good question got no answer: %v", round, err)
			}
			if binary.BigEndian.Uint16(buf[:n]) == 2 {
				break
			}
		}
		_ = c.Close()
	}
}

func writePrefixed(t *testing.T, c io.Writer, packets ...[]byte) {
	t.Helper()
	var all []byte
	for _, p := range packets {
		all = append(binary.BigEndian.AppendUint16(all, uint16(len(p))), p...)
	}
	if _, err := c.Write(all); err != nil {
		t.Fatal(err)
	}
}

func readPrefixed(c io.Reader) (*dns.Msg, error) {
	var prefix [2]byte
	if _, err := io.ReadFull(c, prefix[:]); err != nil {
		return nil, err
	}
	b := make([]byte, binary.BigEndian.Uint16(prefix[:]))
	if _, err := io.ReadFull(c, b); err != nil {
		return nil, err
	}
	m := new(dns.Msg)
	return m, m.Unpack(b)
}

func TestManyQuestionsInOneConnection(t *testing.T) {
	s := serverOf(t, crowd(t, 60, nil), Config{})
	running(t, s, "127.0.0.1:0")
	c := dial(t, "tcp", s.Addr().String())
	const n = 300
	var packets [][]byte
	for i := range n {
		q := question(t, "many.query.signpost. SRV", 0)
		q.Id = uint16(i)
		packets = append(packets, pack(t, q))
	}
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		writePrefixed(t, c, packets...)
	}()
	for i := range n {
		m, err := readPrefixed(c)
		if err != nil || int(m.Id) != i || len(m.Answer) != 60 {
			t.Fatalf("answer %d: %v %v", i, m, err)
		}
	}
	<-sent
	// A question in pieces, with the answer to the one before it not held back.
	whole := binary.BigEndian.AppendUint16(nil, uint16(len(packets[0])))
	whole = append(whole, packets[0]...)
	if _, err := c.Write(append(bytes.Clone(whole), whole[:20]...)); err != nil {
		t.Fatal(err)
	}
	if _, err := readPrefixed(c); err != nil {
		t.Fatal("the whole question:", err)
	}
	if _, err := c.Write(whole[20:]); err != nil {
		t.Fatal(err)
	}
	if _, err := readPrefixed(c); err != nil {
		t.Fatal("the question in pieces:", err)
	}
}

// What is no question ends nothing: the next one is answered.
func TestGarbageOverTCP(t *testing.T) {
	s := serverOf(t, shop(t), Config{})
	running(t, s, "127.0.0.1:0")
	c := dial(t, "tcp", s.Addr().String())
	good := pack(t, question(t, "own.service.signpost. A", 0))
	writePrefixed(t, c, nil, []byte("short"), bytes.Repeat([]byte{0}, 65535), good)
	for _, want := range []int{dns.RcodeFormatError, dns.RcodeSuccess} {
		m, err := readPrefixed(c)
		if err != nil || m.Rcode != want {
			t.Fatalf("got %v %v, want %s", m, err, dns.RcodeToString[want])
		}
	}
}

func TestIdleConnectionsAreClosed(t *testing.T) {
	s := serverOf(t, shop(t), Config{})
	s.conns.patience = 20 * time.Millisecond
	running(t, s, "127.0.0.1:0")
	for name, first := range map[string][]byte{"silent": nil, "stopped in a question": {0, 40, 1, 2, 3}} {
		c := dial(t, "tcp", s.Addr().String())
		if _, err := c.Write(first); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestConnectionsAreBounded(t *testing.T) {
	s := serverOf(t, shop(t), Config{MaxConnections: 2})
	running(t, s, "127.0.0.1:0")
	good := pack(t, question(t, "own.service.signpost. A", 0))
	ask := func(c net.Conn) error {
		if _, err := c.Write(append([]byte{0, byte(len(good))}, good...)); err != nil {
			return err
		}
		_, err := readPrefixed(c)
		return err
	}
	var open []net.Conn
	for range 2 {
		c := dial(t, "tcp", s.Addr().String())
		if err := ask(c); err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
	}
	if err := ask(dial(t, "tcp", s.Addr().String())); err == nil {
		t.Error("a third connection was answered")
	}
	if err := open[0].Close(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(patience); ; { // until the server has seen it
		if ask(dial(t, "tcp", s.Addr().String())) == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the place of a closed connection stays taken")
		}
	}
	if err := ask(open[1]); err != nil {
		t.Error("an older connection suffered:", err)
	}
}

// Stopping answers what was asked, closes connections, and frees the port.
func TestStopDrains(t *testing.T) {
	m := shop(t)
	s := serverOf(t, m, Config{})
	stop := running(t, s, "127.0.0.1:0")
	addr := s.Addr().String()
	c := dial(t, "tcp", addr)
	writePrefixed(t, c, pack(t, question(t, "own.service.signpost. A", 0)))
	if _, err := readPrefixed(c); err != nil {
		t.Fatal(err)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := readPrefixed(c); !errors.Is(err, io.EOF) {
		t.Errorf("the connection stays open: %v", err)
	}
	again := serverOf(t, m, Config{})
	running(t, again, addr)
}

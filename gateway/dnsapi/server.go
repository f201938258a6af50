package dnsapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime"
	"sync"

	"signpost/gateway"
)

// Server answers DNS questions over udp and tcp.
//
//	New -> Listen -> Run -> (ctx done) -> drained and closed
type Server struct {
	handler *handler
	log     *slog.Logger
	udp     []*net.UDPConn
	tcp     net.Listener
	conns   *connections
	// conversations are kept to be used again.
	conversations sync.Pool
}

// New makes a server. It listens when told so.
func New(g *gateway.Gateway, c Config, log *slog.Logger) (*Server, error) {
	c = c.withDefaults(g.Domain)
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("dns settings: %w", err)
	}
	return &Server{
		handler: newHandler(g, c, log), log: log, conns: newConnections(c.MaxConnections),
		conversations: sync.Pool{New: newConversation},
	}, nil
}

// Addr is the host:port that is listened on, the same for udp and tcp; nil
// before Listen.
func (s *Server) Addr() net.Addr {
	if s.tcp == nil {
		return nil
	}
	return s.tcp.Addr()
}

// Listen binds udp and tcp on the same port; port 0 is any that is free on
// both. Questions that come before Run wait in the sockets.
func (s *Server) Listen(addr string) error {
	tcp, udp, err := bindBoth(addr)
	if err != nil {
		return fmt.Errorf("listen for DNS: %w", err)
	}
	sockets, err := multiply(udp, runtime.GOMAXPROCS(0))
	if err != nil {
		return errors.Join(fmt.Errorf("listen for DNS: %w", err), tcp.Close())
	}
	for _, c := range sockets {
		if err := c.SetReadBuffer(socketBuffer); err != nil {
			s.log.Debug("the read buffer of a DNS socket stays as it is", "error", err)
		}
	}
	s.tcp, s.udp = tcp, sockets
	return nil
}

const (
	socketBuffer = 4 << 20 // bytes; the system may give less
	bindAttempts = 16      // for a port that is free on both
)

// bindBoth binds both without sharing, so that an address in use is an error
// and not a second server that gets half of the questions.
func bindBoth(addr string) (net.Listener, *net.UDPConn, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, nil, err
	}
	for attempt := 1; ; attempt++ {
		tcp, err := net.Listen("tcp", addr)
		if err != nil {
			return nil, nil, err
		}
		_, bound, err := net.SplitHostPort(tcp.Addr().String())
		if err != nil {
			return nil, nil, errors.Join(err, tcp.Close())
		}
		udp, err := net.ListenPacket("udp", net.JoinHostPort(host, bound))
		if err == nil {
			return tcp, udp.(*net.UDPConn), nil
		}
		if err = errors.Join(err, tcp.Close()); port != "0" || attempt == bindAttempts {
			return nil, nil, err
		}
	}
}

// Run serves until ctx is done; then it answers what has come, closes, and
// returns nil. It is called once, after Listen.
func (s *Server) Run(ctx context.Context) error {
	serving, stop := context.WithCancel(ctx)
	defer stop()
	faults := make(chan error, len(s.udp)+1)
	var all sync.WaitGroup
	for _, c := range s.udp {
		all.Go(func() {
			if err := s.serveUDP(serving, c); err != nil {
				faults <- fmt.Errorf("serve DNS over udp: %w", err)
				stop()
			}
		})
	}
	all.Go(func() {
		if err := s.serveTCP(serving); err != nil {
			faults <- fmt.Errorf("serve DNS over tcp: %w", err)
			stop()
		}
	})
	<-serving.Done()
	s.interrupt()
	all.Wait()
	close(faults)
	var out []error
	for err := range faults {
		out = append(out, err)
	}
	return errors.Join(out...)
}

// interrupt makes everyone who waits for a question look up.
func (s *Server) interrupt() {
	for _, c := range s.udp {
		wake(c, s.log)
	}
	if err := s.tcp.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		s.log.Warn("closing the DNS listener", "error", err)
	}
	s.conns.drain()
}

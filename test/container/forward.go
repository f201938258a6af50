package container

import (
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// Forwarder hands connections to one address on to another, which may change: the engine gives each container a
// port of its own, and a server that is started anew must keep its address.
type Forwarder struct {
	listener net.Listener

	mu     sync.Mutex
	target string
}

// NewForwarder listens on loopback, and refuses connections until To is called.
func NewForwarder() (*Forwarder, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	f := &Forwarder{listener: listener}
	go f.run()
	return f, nil
}

// Addr is host:port to connect to.
func (f *Forwarder) Addr() string { return f.listener.Addr().String() }

// To changes the address for connections to come; an empty one refuses them.
func (f *Forwarder) To(target string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.target = target
}

// Close accepts no more connections; those that are open end with the server behind them.
func (f *Forwarder) Close() error { return f.listener.Close() }

func (f *Forwarder) run() {
	for {
		conn, err := f.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil {
			go f.hand(conn)
		}
	}
}

func (f *Forwarder) hand(client net.Conn) {
	defer client.Close()
	f.mu.Lock()
	target := f.target
	f.mu.Unlock()
	if target == "" {
		return
	}
	server, err := net.DialTimeout("tcp", target, 5*time.Second)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		_, _ = io.Copy(server, client)
		// The client is gone: its session must not stay.
		_ = server.Close()
	}()
	_, _ = io.Copy(client, server)
}

// Package server joins the packages of the house into one running gateway:
// the store and the replica of package db below, the gateway, and its doors.
//
// `serve` and `dev` run it, and so do the end-to-end tests.
//
//	doors (httpapi, dnsapi) -> gateway -> replica (reads), store (writes) -> Postgres
//
// It starts at the outside: the addresses are bound first, so that a taken one
// is said at once; then the schema is looked after, and then the catalog is
// loaded. Until that is done /ready says what is missing and lookups are
// refused. It stops in the same order: no new requests, blocked readers are
// answered, what runs is finished, and only then the store goes.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"signpost/cmd/signpost/config"
	"signpost/db"
	"signpost/db/replica"
	"signpost/gateway"
	"signpost/gateway/dnsapi"
	"signpost/gateway/httpapi"
)

const drainWait = 10 * time.Second // for requests that run when the process must stop

// Options are what is not in the configuration.
type Options struct {
	// NoMigrate leaves the schema as it is; one that is too old is an error.
	NoMigrate bool
}

// Server is one gateway. Listen, then Run.
type Server struct {
	config  config.Config
	options Options
	log     *slog.Logger

	replica *replica.Replica
	store   *db.Store
	gateway *gateway.Gateway
	http    *http.Server
	httpOn  net.Listener
	dns     *dnsapi.Server
	schema  atomic.Bool // it was found to be right
	agent   atomic.Bool // the logical agent is registered
}

// New makes a server; nothing is started.
func New(c config.Config, o Options, log *slog.Logger) (*Server, error) {
	s := &Server{config: c, options: o, log: log}
	dc := db.Config{URL: string(c.Postgres.URL), DirectURL: string(c.Postgres.DirectURL)}
	s.replica = replica.New(dc, log)
	s.store = db.NewStore(dc, s.replica.Hint, log)
	return s, nil
}

// CheckAddresses tells whether the addresses can be bound now.
func CheckAddresses(c config.Config) error {
	for door, address := range map[string]string{"HTTP": c.Addresses.HTTP, "DNS": c.Addresses.DNS} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			return fmt.Errorf("listen for %s: %w", door, err)
		}
		if err := l.Close(); err != nil {
			return fmt.Errorf("listen for %s: %w", door, err)
		}
	}
	return nil
}

// Listen binds all addresses.
func (s *Server) Listen() error {
	var err error
	if s.httpOn, err = net.Listen("tcp", s.config.Addresses.HTTP); err != nil {
		return fmt.Errorf("listen for HTTP: %w", err)
	}
	s.gateway = gateway.New(s.gatewayConfig(), state{s.replica}, s.store, s.log)
	s.http = httpapi.Server(httpapi.New(s.gateway, httpapi.Config{NoCompatHeaders: !s.config.CompatHeaders, Ready: s.NotReady}, s.log), s.log)
	if s.dns, err = dnsapi.New(s.gateway, dnsConfig(s.config), s.log); err == nil {
		err = s.dns.Listen(s.config.Addresses.DNS)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("listen for DNS: %w", err), s.httpOn.Close())
	}
	return nil
}

func (s *Server) gatewayConfig() gateway.Config {
	return gateway.Config{
		Datacenter: s.config.Datacenter, NodeName: s.config.NodeName, Domain: s.config.Domain,
		MaxStale: s.config.Postgres.MaxStale, Advertise: s.httpOn.Addr().String(),
	}
}

func dnsConfig(c config.Config) dnsapi.Config {
	seconds := func(n config.Seconds) time.Duration { return time.Duration(n) * time.Second }
	d := c.DNS
	return dnsapi.Config{
		Domain: c.Domain, AltDomain: c.AltDomain, OnlyPassing: d.OnlyPassing, NodeTTL: d.NodeTTL, ServiceTTL: d.ServiceTTL,
		UDPAnswerLimit: d.UDPAnswerLimit, ARecordLimit: d.ARecordLimit, UDPMaxSize: d.UDPMaxSize,
		EnableTruncate: d.EnableTruncate, DisableCompression: d.DisableCompression, NoNodeMetaTXT: !d.NodeMetaTXT,
		SOA: dnsapi.SOA{
			Refresh: seconds(d.SOA.Refresh), Retry: seconds(d.SOA.Retry),
			Expire: seconds(d.SOA.Expire), MinTTL: seconds(d.SOA.MinTTL),
		},
	}
}

// HTTP is the address that the HTTP door listens on.
func (s *Server) HTTP() net.Addr { return s.httpOn.Addr() }

// DNS is the address that the DNS door listens on, over udp and tcp.
func (s *Server) DNS() net.Addr { return s.dns.Addr() }

// Replica is the catalog in memory, for tests.
func (s *Server) Replica() *replica.Replica { return s.replica }

// Gateway is what the doors ask, for tests.
func (s *Server) Gateway() *gateway.Gateway { return s.gateway }

// NotReady tells what is missing before lookups can be answered; none when
// they can.
func (s *Server) NotReady() []string {
	var reasons []string
	if !s.schema.Load() {
		reasons = append(reasons, "the database's schema was not checked yet")
	}
	if !s.replica.Ready() {
		reasons = append(reasons, "the catalog was not loaded yet")
	}
	if !s.agent.Load() {
		reasons = append(reasons, "the node of this service is not registered yet")
	}
	if age, known := s.replica.Age(); s.replica.Ready() && !known && age > s.config.Postgres.MaxStale {
		reasons = append(reasons, "the catalog in memory is older than postgres.max_stale")
	}
	return reasons
}

// Run serves until ctx is done, then stops in good order.
func (s *Server) Run(parent context.Context) error {
	// What is below outlives what is above: each layer has a context of its
	// own, cancelled when the layers over it are done.
	below, stopBelow := context.WithCancel(context.WithoutCancel(parent))
	defer stopBelow()
	doors, stopDoors := context.WithCancelCause(parent)
	defer stopDoors(nil)
	g, below := errgroup.WithContext(below)
	g.Go(func() error { return s.serveHTTP() })
	g.Go(func() error { return s.dns.Run(doors) })
	g.Go(func() error { return s.follow(below) })
	g.Go(func() error {
		select {
		case <-doors.Done():
		case <-below.Done(): // something failed
		}
		s.log.Info("stopping")
		stopDoors(nil)
		s.gateway.Release()
		err := s.drain()
		stopBelow()
		return err
	})
	return g.Wait()
}

func (s *Server) serveHTTP() error {
	if err := s.http.Serve(s.httpOn); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve HTTP: %w", err)
	}
	return nil
}

// drain lets running requests finish, for a while.
func (s *Server) drain() error {
	ctx, cancel := context.WithTimeout(context.Background(), drainWait)
	defer cancel()
	if err := s.http.Shutdown(ctx); err != nil {
		s.log.Warn("requests were cut off at the end", "after", drainWait)
		return s.http.Close()
	}
	return nil
}

// follow brings the state up and keeps it.
func (s *Server) follow(ctx context.Context) error {
	if err := s.prepareSchema(ctx); err != nil || ctx.Err() != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.replica.Run(ctx) })
	g.Go(func() error { return s.store.Run(ctx) })
	g.Go(func() error { return s.registerAgent(ctx) })
	return g.Wait()
}

// Package gateway is what Signpost does, whatever door a request comes in by.
//
// Every request is an Operation: declared once, with its name, whether it
// reads or writes, and the right it needs. Reads are pure functions over a
// snapshot; Ask gives them the right snapshot, blocks when the caller wants
// to wait for a change, and says how old the answer is. Writes go to the
// Store, and Do returns when they can be read here.
//
// The doors (httpapi, dnsapi) turn requests into operations and answers into
// bytes. Where state comes from is behind State and Store, which package db
// fills in; cmd joins them.
package gateway

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	"signpost/resolver"
	"signpost/resolver/catalog"
	"signpost/resolver/snapshot"
)

// State is the catalog in memory.
type State interface {
	// Snapshot is the newest snapshot applied here. It never blocks.
	Snapshot() *snapshot.Snapshot
	// Barrier returns when everything that was committed before the call has
	// been applied here; Unavailable if Postgres does not answer in time.
	Barrier(ctx context.Context) error
	// Reach returns when the snapshot has at least the index.
	Reach(ctx context.Context, index catalog.Index) error
	// Contact tells how old the memory may be.
	Contact() Contact
	// Subscribe tells of changes: changed gets a value, possibly just one for
	// many, after a snapshot was published in which one of the things looks
	// different. cancel ends it.
	Subscribe(things []snapshot.Thing) (changed <-chan struct{}, cancel func())
}

// Contact tells when Postgres last answered.
type Contact struct {
	Known bool          // false: Postgres is away
	Age   time.Duration // 0 while Known
}

// Store makes changes durable.
type Store interface {
	// Apply commits a write. Errors: Invalid, Conflict and NotFound for what
	// the stored state refuses, Unavailable when nothing was changed, Unknown
	// when that cannot be told.
	Apply(ctx context.Context, w catalog.Write) (catalog.Outcome, error)
}

// Config is what a gateway knows about itself. Zero values mean the defaults.
type Config struct {
	Datacenter  string        // default dc1
	NodeName    string        // of the logical agent; default signpost
	NodeAddress string        // default 127.0.0.1
	Domain      string        // without dots at its ends; default signpost
	MaxStale    time.Duration // older memory is not served; default 72h
	// Advertise is the HTTP address by which replicas are told apart and
	// called the leader; host:port.
	Advertise string
}

func (c Config) withDefaults() Config {
	set := func(s *string, v string) {
		if *s == "" {
			*s = v
		}
	}
	set(&c.Datacenter, "dc1")
	set(&c.NodeName, "signpost")
	set(&c.NodeAddress, "127.0.0.1")
	set(&c.Domain, "signpost")
	if c.MaxStale == 0 {
		c.MaxStale = 72 * time.Hour
	}
	return c
}

// Gateway answers requests. It is safe for concurrent use.
type Gateway struct {
	Config
	state   State
	store   Store
	log     *slog.Logger
	rand    resolver.Rand
	watches *watches
	closing chan struct{}
}

// New makes a gateway over a state and a store.
func New(c Config, state State, store Store, log *slog.Logger) *Gateway {
	g := &Gateway{
		Config: c.withDefaults(), state: state, store: store, log: log,
		rand: rand.IntN, closing: make(chan struct{}),
	}
	g.watches = newWatches(g)
	return g
}

// Snapshot is the newest snapshot, for doors that answer from several parts
// of it at once.
func (g *Gateway) Snapshot() *snapshot.Snapshot { return g.state.Snapshot() }

// Contact tells how old the memory may be.
func (g *Gateway) Contact() Contact { return g.state.Contact() }

// Rand is the gateway's source of chance.
func (g *Gateway) Rand() resolver.Rand { return g.rand }

// Release answers all blocked readers with what they have, and lets no more
// block. Called once, when the process is about to stop.
func (g *Gateway) Release() { close(g.closing) }

// checkDatacenter refuses datacenters other than this one.
func (g *Gateway) checkDatacenter(name string) error {
	if name == "" || name == g.Datacenter {
		return nil
	}
	return catalog.Errorf(catalog.NoPath, "No path to datacenter")
}

package gateway

import (
	"context"
	"math"
	"net/netip"
	"sync/atomic"
	"time"

	"signpost/resolver/catalog"
	"signpost/resolver/snapshot"
)

// Access is what an operation does to the catalog, as rate limits see it.
// Source: reference, rate limits, section 3.
type Access uint8

// The sorts of access.
const (
	ReadAccess Access = iota
	WriteAccess
	ExemptAccess
)

// Operation is what a request asks for. Its Name has the form Area.Action and
// stands in logs, limits and metrics.
type Operation struct {
	Name   string
	Access Access
	Right  string // the right it needs, as in "service:read"; empty: none
}

// Info gives the declaration, for tables of operations of different types.
func (o Operation) Info() Operation { return o }

// Read is an operation that looks at the catalog. P are its parameters, A is
// its answer.
type Read[P, A any] struct {
	Operation
	// Look computes the answer. It names every Thing it looks at to seen,
	// also what it did not find. It is pure but for chance.
	Look func(g *Gateway, s *snapshot.Snapshot, p P, seen *Seen) (A, error)
}

// Change is an operation that writes. A nil Prepare refuses nothing.
type Change[P, A any] struct {
	Operation
	// Prepare turns parameters into a write and tells what is wrong with
	// them as such.
	Prepare func(g *Gateway, p *P) (catalog.Write, error)
	// Check refuses, by what is stored, a write that cannot succeed. The
	// store has the last word; this spares it what is known to be refused.
	Check func(s *snapshot.Snapshot, p *P) error
	// Answer makes the answer of a write that was committed.
	Answer func(p *P, o catalog.Outcome) A
}

// Consistency is how fresh an answer must be.
type Consistency uint8

// The modes. Source: reference, http conventions, section 4.
const (
	Default    Consistency = iota // from memory, except that "not found" is checked
	Stale                         // from memory, whatever its age
	Consistent                    // everything committed before the request is in it
)

// Request is what operations have in common, however they came.
type Request struct {
	Source      netip.Addr // of the caller, for sorting by distance
	Token       string
	Datacenter  string // empty: this one
	Consistency Consistency

	// A read with MinIndex above 0 waits, for Wait at most, until its index
	// exceeds it. Readers that give the same Key (operation and parameters)
	// share one evaluation of each change.
	MinIndex catalog.Index
	Wait     time.Duration
	Key      string
}

// Reply is an answer with what is to be said about it. Blocked readers share
// one Reply; it must not be changed.
type Reply[A any] struct {
	Value   A
	Index   catalog.Index
	Contact Contact
	// Encoded is for the door: the answer as bytes, once it was written.
	Encoded *atomic.Pointer[[]byte]
}

// Seen collects what a read has looked at.
type Seen struct {
	things  []snapshot.Thing
	inline  [4]snapshot.Thing
	missing bool
}

// At notes a thing that the answer depends on.
func (s *Seen) At(kind snapshot.Kind, name string) {
	if s.things == nil {
		s.things = s.inline[:0]
	}
	s.things = append(s.things, snapshot.Of(kind, name))
}

// Missing notes that the one thing that was asked for by name is not there.
// In default mode that is not said before Postgres was asked.
func (s *Seen) Missing() { s.missing = true }

func (s *Seen) index(snap *snapshot.Snapshot) catalog.Index {
	at := catalog.Index(1)
	for _, t := range s.things {
		at = max(at, snap.IndexOf(t))
	}
	return at
}

const (
	consistentWait = 2 * time.Second        // then a consistent read is refused
	missingWait    = 500 * time.Millisecond // then it is looked whether Postgres is still there
	visibleWait    = 2 * time.Second        // then a write is answered though it is not applied here yet
)

// Ask runs a read.
func Ask[P, A any](ctx context.Context, g *Gateway, op *Read[P, A], req *Request, p P) (*Reply[A], error) {
	if err := g.checkDatacenter(req.Datacenter); err != nil {
		return nil, err
	}
	if req.Consistency == Consistent {
		if err := g.barrier(ctx, consistentWait); err != nil {
			return nil, err
		}
	}
	if err := g.checkAge(); err != nil {
		return nil, err
	}
	look := func() (*Reply[A], *Seen, error) { return lookNow(g, op, p) }
	reply, seen, err := look()
	if seen.missing && req.Consistency == Default && g.state.Contact().Known {
		if g.barrierWhileKnown(ctx) == nil {
			reply, _, err = look()
		}
	}
	if err != nil || req.MinIndex == 0 || reply.Index > req.MinIndex {
		return reply, err
	}
	return await(ctx, g, req, look)
}

// NeverLoaded is the age of a catalog that was not loaded yet.
const NeverLoaded = time.Duration(math.MaxInt64)

func (g *Gateway) checkAge() error {
	age := g.state.Contact().Age
	switch {
	case age == NeverLoaded:
		return catalog.Errorf(catalog.Stale, "the catalog was not loaded yet")
	case age > g.MaxStale:
		return catalog.Errorf(catalog.Stale, "the catalog in memory is %s old, over postgres.max_stale (%s)", age.Round(time.Second), g.MaxStale)
	}
	return nil
}

func lookNow[P, A any](g *Gateway, op *Read[P, A], p P) (*Reply[A], *Seen, error) {
	s, seen := g.state.Snapshot(), &Seen{}
	value, err := op.Look(g, s, p, seen)
	if err != nil {
		return nil, seen, err
	}
	return &Reply[A]{Value: value, Index: seen.index(s), Contact: g.state.Contact(), Encoded: new(atomic.Pointer[[]byte])}, seen, nil
}

// barrierWhileKnown is the barrier of a read that found nothing: it gives up
// early when Postgres turns out to be away.
func (g *Gateway) barrierWhileKnown(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, consistentWait)
	defer cancel()
	for {
		err := g.barrier(ctx, missingWait)
		if err == nil || ctx.Err() != nil || !g.state.Contact().Known {
			return err
		}
	}
}

func (g *Gateway) barrier(ctx context.Context, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return g.state.Barrier(ctx)
}

// Do runs a write, and returns when it is committed and, unless that takes
// too long, visible here.
func Do[P, A any](ctx context.Context, g *Gateway, op *Change[P, A], req *Request, p P) (A, error) {
	var none A
	if err := g.checkDatacenter(req.Datacenter); err != nil {
		return none, err
	}
	w, err := op.Prepare(g, &p)
	if err != nil {
		return none, err
	}
	if err := checkStored(ctx, g, op, &p); err != nil {
		return none, err
	}
	outcome, err := g.store.Apply(ctx, w)
	if err != nil {
		return none, err
	}
	wait, cancel := context.WithTimeout(ctx, visibleWait)
	defer cancel()
	if err := g.state.Reach(wait, outcome.Index); err != nil && ctx.Err() == nil {
		g.log.Warn("write is committed but not visible here yet", "operation", op.Name, "index", outcome.Index, "error", err)
	}
	return op.Answer(&p, outcome), nil
}

// checkStored refuses only what is refused by the newest state too.
func checkStored[P, A any](ctx context.Context, g *Gateway, op *Change[P, A], p *P) error {
	if op.Check == nil || op.Check(g.state.Snapshot(), p) == nil {
		return nil
	}
	if err := g.barrier(ctx, consistentWait); err != nil {
		return err
	}
	return op.Check(g.state.Snapshot(), p)
}

package replica

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"signpost/db"
	"signpost/resolver/catalog"
	"signpost/resolver/snapshot"
)

const (
	tick         = time.Second            // a round is made at least so often
	pollEvery    = 100 * time.Millisecond // while notifications do not arrive
	roundWait    = 2 * time.Second        // without a row, then Postgres counts as away
	knownWithin  = 3 * time.Second        // since the last answer was asked for
	failuresAway = 2                      // rounds that failed: one may be a connection that broke
)

// Replica is the catalog in memory. All methods may be called from any
// goroutine, before and while Run runs.
type Replica struct {
	config   db.Config
	log      *slog.Logger
	snapshot atomic.Pointer[snapshot.Snapshot]
	loaded   atomic.Bool
	asked    atomic.Pointer[time.Time] // when the last answered question was sent
	failures atomic.Int64              // of rounds, one after the other
	hearing  atomic.Bool               // notifications arrive
	wake     chan struct{}
	watchers watchers

	mu        sync.Mutex
	next      *round        // for barriers that arrive now
	published chan struct{} // closed at the next publication
	highest   catalog.Index // that anybody here may have seen
}

// round is one reading of the change log. Barriers wait for a round that was
// sent after they came.
type round struct {
	done    chan struct{}
	waiters int // guarded by Replica.mu
}

func newRound() *round { return &round{done: make(chan struct{})} }

// New makes a replica; Run fills it.
func New(c db.Config, log *slog.Logger) *Replica {
	r := &Replica{config: c, log: log, wake: make(chan struct{}, 1), next: newRound(), published: make(chan struct{})}
	r.snapshot.Store(snapshot.Empty())
	return r
}

// Snapshot is the newest snapshot. It is empty until the first load.
func (r *Replica) Snapshot() *snapshot.Snapshot { return r.snapshot.Load() }

// Ready tells whether the catalog was loaded.
func (r *Replica) Ready() bool { return r.loaded.Load() }

// Hearing tells whether notifications arrive; if not, the log is polled.
func (r *Replica) Hearing() bool { return r.hearing.Load() }

// Age tells how long ago the last answered question was sent, and whether
// Postgres counts as being there.
func (r *Replica) Age() (age time.Duration, known bool) {
	asked := r.asked.Load()
	if asked == nil {
		return 0, false
	}
	age = time.Since(*asked) // by the monotonic clock
	return age, age < knownWithin && r.failures.Load() < failuresAway
}

// Hint says that an index was committed: reading now is worth while. It does
// not block.
func (r *Replica) Hint(index catalog.Index) {
	r.mu.Lock()
	r.highest = max(r.highest, index)
	r.mu.Unlock()
	if r.Snapshot().Index() < index {
		r.poke()
	}
}

func (r *Replica) poke() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Subscribe tells of changes of things; see gateway.State.
func (r *Replica) Subscribe(things []snapshot.Thing) (<-chan struct{}, func()) {
	return r.watchers.subscribe(things)
}

// Barrier returns when everything that was committed before the call is in
// the snapshot. Those who come while a round is under way share the next one.
func (r *Replica) Barrier(ctx context.Context) error {
	r.mu.Lock()
	mine := r.next
	mine.waiters++
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		mine.waiters--
		r.mu.Unlock()
	}()
	r.poke()
	select {
	case <-mine.done:
		return nil
	case <-ctx.Done():
		return catalog.Wrap(catalog.Unavailable, ctx.Err(), "the catalog's database does not answer; a consistent read is not possible")
	}
}

// Reach returns when the snapshot has at least the index.
func (r *Replica) Reach(ctx context.Context, index catalog.Index) error {
	for {
		r.mu.Lock()
		published := r.published
		r.mu.Unlock()
		if r.Snapshot().Index() >= index {
			return nil
		}
		select {
		case <-published:
		case <-ctx.Done():
			return fmt.Errorf("index %d is not applied yet: %w", index, ctx.Err())
		}
	}
}

// publish makes a snapshot the newest one, then tells those who wait.
func (r *Replica) publish(s *snapshot.Snapshot, changed []snapshot.Thing, all bool) {
	r.snapshot.Store(s)
	r.loaded.Store(true)
	r.mu.Lock()
	r.highest = max(r.highest, s.Index())
	close(r.published)
	r.published = make(chan struct{})
	r.mu.Unlock()
	if all {
		r.watchers.tellAll()
	} else {
		r.watchers.tell(changed)
	}
}

// takeRound begins a round: whoever comes from now on waits for the next.
func (r *Replica) takeRound() *round {
	r.mu.Lock()
	defer r.mu.Unlock()
	mine := r.next
	r.next = newRound()
	return mine
}

// waitedFor drops the rounds that failed and that nobody waits for any more.
func (r *Replica) waitedFor(rounds []*round) []*round {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(rounds, func(rd *round) bool { return rd.waiters == 0 })
}

func (r *Replica) seen() catalog.Index {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.highest
}

package db

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"signpost/resolver/catalog"
)

// Config is how the catalog's database is reached.
type Config struct {
	URL string
	// DirectURL is used where a session is needed (LISTEN, migrations) when
	// URL leads through a pooler. Empty: URL.
	DirectURL string
}

// Direct is the URL for what needs a session of its own.
func (c Config) Direct() string {
	if c.DirectURL != "" {
		return c.DirectURL
	}
	return c.URL
}

const (
	maxGroup    = 512                  // writes in one transaction
	queueWait   = 2 * time.Second      // then a write that was not begun is refused
	groupWait   = 5 * time.Second      // then a write that was begun has an unknown outcome
	idleAtMost  = 5 * time.Millisecond // then a connection is looked at before it is used
	trimEvery   = 15 * time.Second
	trimBatch   = 20000
	keepChanges = "5 minutes"
	mostDead    = 100000 // tombstones
)

// Store commits writes. Those that arrive while a transaction is under way
// share the next one: one round trip, one fsync, one notification.
//
//	queue -> group (no two contradict) -> one transaction -> an outcome each
//	              |                            |- a write is to blame: halves
//	              '- the others wait           '- no answer: find or redo
//
// One goroutine, Run, owns the connection and makes all transactions.
type Store struct {
	config Config
	log    *slog.Logger
	queue  chan *pending
	notify func(catalog.Index)
	stats  Stats

	conn   *pgx.Conn     // nil while there is none
	used   time.Time     // when it was used last
	newest catalog.Index // that this store has seen committed
	trimAt time.Time
}

// Stats are counters of a Store's work, safe to read at any time.
type Stats struct {
	Writes, Groups, Halved, Lost atomic.Int64
}

// pending is a write that waits for its outcome.
type pending struct {
	write  catalog.Write
	claims []claim
	state  atomic.Int32
	done   chan result // holds one
}

// States of a pending write.
const (
	waiting int32 = iota
	taken         // by Run: its outcome will come
	left          // by the caller: it must not be begun
)

type result struct {
	outcome catalog.Outcome
	err     error
}

// NewStore makes a store. notify is told of every index that was committed,
// before the writers are answered; it must not block.
func NewStore(c Config, notify func(catalog.Index), log *slog.Logger) *Store {
	return &Store{config: c, log: log, notify: notify, queue: make(chan *pending, 4*maxGroup)}
}

// Stats gives the counters.
func (s *Store) Stats() *Stats { return &s.stats }

// Apply commits a write; see gateway.Store for the errors. It returns early,
// with Unavailable, if the write was not begun within two seconds.
func (s *Store) Apply(ctx context.Context, w catalog.Write) (catalog.Outcome, error) {
	p := &pending{write: w, claims: claimsOf(w), done: make(chan result, 1)}
	timer := time.NewTimer(queueWait)
	defer timer.Stop()
	select {
	case s.queue <- p:
	case <-timer.C:
		return catalog.Outcome{}, errNotBegun
	case <-ctx.Done():
		return catalog.Outcome{}, ctx.Err()
	}
	for {
		select {
		case r := <-p.done:
			return r.outcome, r.err
		case <-timer.C:
			if p.state.CompareAndSwap(waiting, left) {
				return catalog.Outcome{}, errNotBegun
			}
		case <-ctx.Done():
			if p.state.CompareAndSwap(waiting, left) {
				return catalog.Outcome{}, ctx.Err()
			}
			r := <-p.done // it was begun, and Run answers within bounds
			return r.outcome, r.err
		}
	}
}

var errNotBegun = catalog.Errorf(catalog.Unavailable, "the catalog's database cannot be reached; nothing was changed")

// Run makes transactions until ctx is done, then refuses what is queued.
func (s *Store) Run(ctx context.Context) error {
	defer s.disconnect()
	var waitingOn []*pending
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		if len(waitingOn) == 0 {
			select {
			case p := <-s.queue:
				waitingOn = append(waitingOn, p)
			case <-tick.C:
				s.trim(ctx)
				continue
			case <-ctx.Done():
				s.refuseQueued()
				return nil
			}
		}
		waitingOn = s.drain(waitingOn)
		var now []*pending
		now, waitingOn = choose(waitingOn)
		if len(now) > 0 {
			s.commit(ctx, now)
		}
		s.trim(ctx)
	}
}

// drain adds what has arrived meanwhile.
func (s *Store) drain(list []*pending) []*pending {
	for len(list) < 2*maxGroup {
		select {
		case p := <-s.queue:
			list = append(list, p)
		default:
			return list
		}
	}
	return list
}

// choose takes the writes for the next transaction, in the order they came,
// and leaves those that contradict one before them.
func choose(list []*pending) (now, later []*pending) {
	agreed := claims{}
	for _, p := range list {
		if len(now) == maxGroup || !agreed.admit(p.claims) {
			if p.state.Load() != left {
				later = append(later, p)
			}
			continue
		}
		if p.state.CompareAndSwap(waiting, taken) {
			now = append(now, p)
		}
	}
	return now, later
}

func (s *Store) refuseQueued() {
	for {
		select {
		case p := <-s.queue:
			p.done <- result{err: errNotBegun}
		default:
			return
		}
	}
}

func (s *Store) disconnect() {
	if s.conn != nil {
		closeNow(s.conn)
		s.conn = nil
	}
}

// connect makes sure that there is a connection. One that lay idle is looked
// at first: what is written into a dead one might have arrived, for all that
// can be told, and then the outcome would have to be looked for.
func (s *Store) connect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	if s.conn != nil && time.Since(s.used) > idleAtMost && s.conn.Ping(ctx) != nil {
		s.disconnect()
	}
	s.used = time.Now()
	if s.conn != nil && !s.conn.IsClosed() {
		return nil
	}
	conn, err := Connect(ctx, s.config.URL, "writer")
	if err != nil {
		return err
	}
	s.conn = conn
	return nil
}

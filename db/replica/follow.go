package replica

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"signpost/db"
	"signpost/resolver/snapshot"
)

// Run follows the catalog until ctx is done. Postgres may come and go; Run
// ends with an error only if it cannot ever work.
func (r *Replica) Run(ctx context.Context) error {
	listening := make(chan struct{}) // closed when the first attempt is over
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return r.listen(ctx, listening) })
	g.Go(func() error { return r.follow(ctx, listening) })
	return g.Wait()
}

// follower is the state of the one goroutine that reads.
type follower struct {
	*Replica
	conn    *pgx.Conn
	values  *db.Values
	at      db.Position
	whole   bool // at and the snapshot hold a whole load
	lost    bool // history was lost, and the index must be raised
	pending []*round
	failing bool // said so
}

func (r *Replica) follow(ctx context.Context, listening <-chan struct{}) error {
	select {
	case <-listening: // LISTEN comes before the load, so that nothing falls between
	case <-ctx.Done():
		return nil
	}
	f := &follower{Replica: r, values: db.NewValues()}
	defer f.disconnect()
	var backoff time.Duration
	for ctx.Err() == nil {
		f.pending = append(r.waitedFor(f.pending), r.takeRound())
		if err := f.round(ctx); err != nil {
			f.failures.Add(1)
			f.report(ctx, err)
			backoff = min(max(2*backoff, 20*time.Millisecond), time.Second)
			f.rest(ctx, backoff/2+rand.N(backoff/2))
			continue
		}
		backoff = 0
		for _, done := range f.pending {
			close(done.done)
		}
		f.pending = f.pending[:0]
		f.waitForWork(ctx)
	}
	return nil
}

// report says once that Postgres is away, and why.
func (f *follower) report(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	if errors.Is(err, db.ErrTrimmed) || errors.Is(err, db.ErrReload) || errors.Is(err, db.ErrHistoryLost) {
		f.log.Info("loading the catalog anew", "reason", err)
		return
	}
	f.disconnect()
	if !f.failing {
		f.failing = true
		f.log.Warn("the database cannot be followed; lookups go on from memory", "error", err)
	}
}

func (f *follower) rest(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func (f *follower) waitForWork(ctx context.Context) {
	d := tick
	if !f.hearing.Load() {
		d = pollEvery
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-f.wake:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// round reads what is new, or everything.
func (f *follower) round(parent context.Context) error {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	// The deadline moves with every row: a long answer is not a lost one.
	deadline := time.AfterFunc(roundWait, func() { cancel(errNoAnswer) })
	defer deadline.Stop()
	progress := func() { deadline.Reset(roundWait) }
	if f.conn == nil || f.conn.IsClosed() {
		conn, err := db.ConnectReader(ctx, f.config.URL)
		if err != nil {
			return err
		}
		f.conn = conn
	}
	progress()
	asked := time.Now()
	var err error
	if f.whole {
		err = f.catchUp(ctx, progress)
	} else {
		err = f.load(ctx, progress)
	}
	if err != nil {
		if cause := context.Cause(ctx); cause != nil && parent.Err() == nil {
			return errors.Join(cause, err)
		}
		return err
	}
	f.asked.Store(&asked)
	f.failures.Store(0)
	if f.failing {
		f.failing = false
		f.log.Info("the database is followed again", "index", f.at.Index)
	}
	return nil
}

var errNoAnswer = errors.New("no answer in time")

func (f *follower) catchUp(ctx context.Context, progress func()) error {
	b := snapshot.NewBuilder(f.Snapshot())
	at, err := db.Follow(ctx, f.conn, f.values, f.at, b, progress)
	if err != nil {
		if errors.Is(err, db.ErrHistoryLost) {
			f.lost = true
		}
		if f.lost || errors.Is(err, db.ErrTrimmed) || errors.Is(err, db.ErrReload) {
			f.whole = false
		}
		return err
	}
	if at == f.at {
		return nil
	}
	next, changed, err := b.Publish(at.Index, at.Tx)
	if err != nil {
		f.whole = false
		return errors.Join(db.ErrReload, err)
	}
	f.at = at
	f.publish(next, changed, next.Floor() != f.Snapshot().Floor())
	return nil
}

// load reads everything. After history was lost, the index is first raised
// over all that anybody here has seen.
func (f *follower) load(ctx context.Context, progress func()) error {
	if f.lost {
		if err := db.RaiseIndex(ctx, f.conn, f.seen()); err != nil {
			return err
		}
		f.log.Warn("history was lost: the index was raised", "above", f.seen())
		f.lost = false
	}
	b := snapshot.NewBuilder(snapshot.Empty())
	at, err := db.Load(ctx, f.conn, f.values, b, progress)
	if err != nil {
		return err
	}
	if at.Index < f.Snapshot().Index() {
		f.lost = true
		return db.ErrHistoryLost
	}
	next, _, err := b.Publish(at.Index, at.Tx)
	if err != nil {
		return err
	}
	f.at, f.whole = at, true
	f.publish(next, nil, true)
	return nil
}

func (f *follower) disconnect() {
	if f.conn != nil {
		closeSoon(f.conn)
		f.conn = nil
	}
}

// closeSoon throws a connection away, without waiting for a server that may
// be gone.
func closeSoon(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	_ = conn.Close(ctx)
}

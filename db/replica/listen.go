package replica

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"signpost/db"
	"signpost/resolver/catalog"
)

const (
	listenSQL = `LISTEN signpost_changes`
	notifySQL = `SELECT pg_notify('signpost_changes', $1)`

	hearWithin   = 2 * time.Second  // a notification to oneself must arrive
	healthEvery  = 15 * time.Second // the connection is tested so often, so that a silent death is noticed
	listenAgain  = 50 * time.Millisecond
	listenAtMost = time.Second
)

// listen keeps a LISTEN connection and wakes the follower. first is closed
// when the first attempt to get one is over, however it went.
func (r *Replica) listen(ctx context.Context, first chan struct{}) error {
	var once sync.Once
	over := func() { once.Do(func() { close(first) }) }
	defer over()
	backoff, said := listenAgain, false
	for ctx.Err() == nil {
		err := r.listenOnce(ctx, over)
		r.hearing.Store(false)
		r.poke() // it polls from now on
		over()
		if ctx.Err() != nil {
			return nil
		}
		if !said {
			said = true
			r.log.Warn("notifications do not arrive; the change log is polled", "every", pollEvery, "error", err)
		}
		timer := time.NewTimer(backoff)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
		backoff = min(2*backoff, listenAtMost)
		if r.heardSince(err) {
			backoff, said = listenAgain, false
		}
	}
	return nil
}

// heardError ends a connection that worked before.
type heardError struct{ error }

func (heardError) Unwrap() error { return nil }

func (r *Replica) heardSince(err error) bool {
	_, ok := err.(heardError) //nolint:errorlint // it is made by listenOnce, never wrapped
	return ok
}

// listenOnce listens on one connection until it breaks.
func (r *Replica) listenOnce(ctx context.Context, listening func()) error {
	conn, err := db.Connect(ctx, r.config.Direct(), "listener")
	if err != nil {
		return err
	}
	defer closeSoon(conn)
	limited, cancel := context.WithTimeout(ctx, hearWithin)
	defer cancel()
	if _, err := conn.Exec(limited, listenSQL); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	listening()
	if err := r.selfTest(ctx, conn); err != nil {
		return err
	}
	r.hearing.Store(true)
	r.poke() // what was notified before this moment is unknown
	r.log.Info("listening for changes")
	for {
		if err := r.hear(ctx, conn); err != nil {
			return heardError{err}
		}
		alive, cancel := context.WithTimeout(ctx, hearWithin)
		err := conn.Ping(alive)
		cancel()
		if err != nil {
			return heardError{fmt.Errorf("the listening connection is dead: %w", err)}
		}
	}
}

// selfTest notifies from another connection and waits for it here. A pooler
// that gives each transaction another server connection drops LISTEN in
// silence, and this shows it.
func (r *Replica) selfTest(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, hearWithin)
	defer cancel()
	other, err := db.Connect(ctx, r.config.Direct(), "listener test")
	if err != nil {
		return err
	}
	token := "hello " + uuid.NewString()
	_, err = other.Exec(ctx, notifySQL, token)
	closeSoon(other)
	if err != nil {
		return fmt.Errorf("notify myself: %w", err)
	}
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return fmt.Errorf("a notification to myself did not arrive: %w", err)
		}
		if n.Payload == token {
			return nil
		}
		r.poke()
	}
}

// hear passes notifications on for a while.
func (r *Replica) hear(ctx context.Context, conn *pgx.Conn) error {
	until, cancel := context.WithTimeout(ctx, healthEvery)
	defer cancel()
	for {
		n, err := conn.WaitForNotification(until)
		switch {
		case err == nil:
			r.noticed(n.Payload)
		case until.Err() != nil && ctx.Err() == nil && !conn.IsClosed():
			return nil // time for the next test
		default:
			return fmt.Errorf("wait for notifications: %w", err)
		}
	}
}

// noticed reads on, unless what is told of was read already.
func (r *Replica) noticed(payload string) {
	index, err := strconv.ParseUint(payload, 10, 64)
	if err != nil || catalog.Index(index) > r.Snapshot().Index() {
		r.poke()
	}
}

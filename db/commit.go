package db

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"signpost/resolver/catalog"
)

// commit makes one transaction of the writes and answers each. If one of
// them is to blame for a refusal, halves of the group are tried alone.
func (s *Store) commit(parent context.Context, writes []*pending) {
	// A shutdown does not cut off what was begun.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(parent), groupWait)
	defer cancel()
	g := newGroup(writes)
	at, found, err := s.attempt(ctx, g)
	if err == nil {
		s.stats.Groups.Add(1)
		s.stats.Writes.Add(int64(len(writes)))
		s.newest = max(s.newest, at)
		s.notify(at)
		for _, p := range writes {
			out, err := found.outcome(p.write, at)
			p.done <- result{out, err}
		}
		return
	}
	if blamesOneWrite(err) && len(writes) > 1 {
		s.stats.Halved.Add(1)
		s.commit(parent, writes[:len(writes)/2])
		s.commit(parent, writes[len(writes)/2:])
		return
	}
	s.log.Debug("writes refused", "writes", len(writes), "error", err)
	for _, p := range writes {
		p.done <- result{err: public(err)}
	}
}

// lockWait is how long a group is tried again because rows or tables are
// locked. The write lock itself is waited for so long in one go (timeoutSQL).
const lockWait = 2 * time.Second

// attempt runs the group's transaction until it is known to be committed or
// not to be, or until ctx is done: a commit whose answer is lost is looked
// for under the write lock, and made again only if it is not there and can
// no longer come.
func (s *Store) attempt(ctx context.Context, g *group) (catalog.Index, queryResults, error) {
	began := time.Now()
	for {
		var sent bool
		tx := uuid.NewString()
		err := s.connect(ctx)
		if err != nil {
			return 0, queryResults{}, err
		}
		at, found, err := g.run(ctx, s.conn, tx, &sent)
		s.used = time.Now()
		if err == nil {
			return at, found, nil
		}
		if isServerError(err) {
			s.rollback(ctx)
			locked := hasState(err, stateLockNotAvailable) && time.Since(began) < lockWait
			if locked || hasState(err, stateDeadlock) || hasState(err, stateSerialization) {
				continue
			}
			return 0, found, err
		}
		s.disconnect()
		if !sent || neverLeft(err) {
			if err := pause(ctx); err != nil {
				return 0, found, catalog.Wrap(catalog.Unavailable, err, errNotBegun.Message)
			}
			continue
		}
		s.stats.Lost.Add(1)
		at, err = s.resolve(ctx, tx, err)
		if err != nil || at > 0 {
			return at, found, err
		}
	}
}

// neverLeft tells whether err says for certain that nothing has left this
// process. A connection that was found closed does not: the driver says so of
// a second look for an answer too, and calls it safe to retry.
func neverLeft(err error) bool {
	return pgconn.SafeToRetry(err) && !errors.Is(err, pgconn.ErrConnClosed)
}

func (s *Store) rollback(ctx context.Context) {
	if _, err := s.conn.Exec(ctx, rollbackSQL); err != nil {
		s.disconnect()
	}
}

const findOrAbandon = `SELECT coalesce(signpost.find_or_abandon($1::text::uuid, $2), 0)`

// resolve finds out what became of a transaction whose commit was not
// answered: the index it committed, or 0 if it never will.
func (s *Store) resolve(ctx context.Context, tx string, cause error) (catalog.Index, error) {
	for {
		var at int64
		err := s.connect(ctx)
		if err == nil {
			b := &pgx.Batch{}
			b.Queue(beginSQL)
			b.Queue(timeoutSQL)
			b.Queue(findOrAbandon, tx, int64(s.newest)).QueryRow(func(row pgx.Row) error { return row.Scan(&at) })
			b.Queue(commitSQL)
			err = s.conn.SendBatch(ctx, b).Close()
			if err == nil {
				return catalog.Index(at), nil
			}
			if isServerError(err) {
				s.rollback(ctx)
			} else {
				s.disconnect()
			}
		}
		if pause(ctx) != nil {
			return 0, catalog.Wrap(catalog.Unknown, cause,
				"the catalog's database went away during the commit: the outcome is unknown")
		}
	}
}

// pause waits a little before a new connection is tried.
func pause(ctx context.Context) error {
	timer := time.NewTimer(50 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

const (
	tryTrimLock    = `SELECT pg_try_advisory_xact_lock(8316291898211983221)`
	trimChanges    = `SELECT signpost.trim_changes($1::text::interval, $2)`
	trimTombstones = `SELECT signpost.trim_tombstones($1)`
)

// trim drops old tombstones and changes now and then. One replica at a time
// does it. Tombstones come first, for they may need the write lock, and that
// is taken before any row is.
func (s *Store) trim(parent context.Context) {
	if time.Now().Before(s.trimAt) {
		return
	}
	s.trimAt = time.Now().Add(trimEvery)
	ctx, cancel := context.WithTimeout(parent, groupWait)
	defer cancel()
	if err := s.connect(ctx); err != nil {
		return // whoever writes next says so
	}
	var gone int64
	err := pgx.BeginFunc(ctx, s.conn, func(tx pgx.Tx) error {
		var mine, forgotten bool
		if err := tx.QueryRow(ctx, tryTrimLock).Scan(&mine); err != nil || !mine {
			return err
		}
		if _, err := tx.Exec(ctx, timeoutSQL); err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, trimTombstones, mostDead).Scan(&forgotten); err != nil {
			return err
		}
		return tx.QueryRow(ctx, trimChanges, keepChanges, trimBatch).Scan(&gone)
	})
	if err != nil {
		s.log.Warn("trimming the change log failed", "error", err)
		return
	}
	if gone >= trimBatch/2 {
		s.trimAt = time.Time{} // there is more
	}
}

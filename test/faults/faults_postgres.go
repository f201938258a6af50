package main

import (
	"context"
	"fmt"
	"syscall"
	"time"
)

// Faults of Postgres and of the connections to it.

const (
	endListeners = `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'signpost listener'`
	endWriters   = `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'signpost writer'`
	endAll       = `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`
	stillDown    = 2 * time.Second // how long a server is away at least
)

// repeatedly runs a statement that gives a number, and tells their sum.
func repeatedly(sql string, rounds, shortRounds int, every time.Duration) func(context.Context, *run) error {
	return func(ctx context.Context, r *run) error {
		conn, err := operator(ctx, r.url)
		if err != nil {
			return err
		}
		defer conn.Close(context.WithoutCancel(ctx))
		if r.short {
			rounds = shortRounds
		}
		sum := 0
		for range rounds {
			var n int
			if err := conn.QueryRow(ctx, sql).Scan(&n); err != nil {
				return fmt.Errorf("terminate backends: %w", err)
			}
			sum += n
			if err := rest(ctx, every); err != nil {
				return err
			}
		}
		r.note("%d backends terminated in %d rounds", sum, rounds)
		if sum < rounds/2 {
			return fmt.Errorf("void: only %d backends were there to be terminated", sum)
		}
		r.book.back()
		return nil
	}
}

// restarted ends the server in some way and starts it again.
func restarted(end func(context.Context, *postgres) error) func(context.Context, *run) error {
	return func(ctx context.Context, r *run) error {
		if err := end(ctx, r.pg); err != nil {
			return err
		}
		if err := rest(ctx, stillDown); err != nil {
			return err
		}
		if err := r.pg.start(ctx); err != nil {
			return err
		}
		r.book.back()
		return nil
	}
}

func bySignal(s syscall.Signal) func(context.Context, *postgres) error {
	return func(_ context.Context, p *postgres) error { return p.end(s) }
}

// frozen stops all processes of the server for a minute.
func frozen(ctx context.Context, r *run) error {
	d := time.Minute
	if r.short {
		d = 6 * time.Second
	}
	if err := r.pg.freeze(); err != nil {
		return err
	}
	err := rest(ctx, d)
	if thawed := r.pg.thaw(); thawed != nil {
		return thawed
	}
	r.book.back()
	return err
}

// commitsCut goes on until enough commits were cut off.
func commitsCut(ctx context.Context, r *run) error {
	enough := int64(1000)
	if r.short {
		enough = 60
	}
	if err := r.await(ctx, 3*time.Minute, func() error {
		if n := r.proxy.cuts(); n < enough {
			return fmt.Errorf("void: %d commits were cut off", n)
		}
		return nil
	}); err != nil {
		return err
	}
	r.proxy.calm.Store(true)
	r.note("%s", r.proxy)
	r.book.back()
	return nil
}

// viaProxy leads all gateways through one proxy.
func viaProxy(r *run, url string, _ int) (string, error) {
	if r.proxy == nil {
		p, err := newProxy(url)
		if err != nil {
			return "", err
		}
		r.proxy = p
		r.closers = append(r.closers, p.close)
	}
	return r.proxy.url(), nil
}

// lastViaProxy leads the last gateway through a proxy that cuts nothing off.
func lastViaProxy(r *run, url string, gateway int) (string, error) {
	if gateway < r.fault.gateways-1 {
		return url, nil
	}
	through, err := viaProxy(r, url, gateway)
	if err == nil {
		r.proxy.calm.Store(true)
	}
	return through, err
}

// partitioned lets nothing pass between one gateway and Postgres for a while,
// as a firewall does, three times. The others must go on.
func partitioned(ctx context.Context, r *run) error {
	d := 15 * time.Second
	if r.short {
		d = 4 * time.Second
	}
	for range 3 {
		r.proxy.silence.Lock()
		err := rest(ctx, d)
		r.proxy.silence.Unlock()
		r.book.back()
		if err != nil {
			return err
		}
		before := r.acksByGateway()
		if err := r.await(ctx, recoverWait, func() error { return r.recovered(before) }); err != nil {
			return err
		}
	}
	r.note("3 times %s", d)
	return nil
}

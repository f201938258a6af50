package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// fault is something that is broken under load.
type fault struct {
	name     string
	gateways int
	// act breaks it and, unless that happens by itself, mends it.
	act func(ctx context.Context, r *run) error
	// floorMoves: everything may look changed once, so readers may wake up to
	// what they know.
	floorMoves bool
	// noFailures: no write may be refused.
	noFailures bool
	// noUnknown: no write may have an outcome that is not told.
	noUnknown bool
	// through gives the URL that a gateway uses instead of the database's.
	through func(r *run, url string, gateway int) (string, error)
	// recovery and pause are limits; 0: five seconds after all is whole again,
	// and none for the time without an acknowledgement.
	recovery, pause time.Duration
}

// run is one fault on one database.
type run struct {
	fault    *fault
	pg       *postgres
	binary   string
	short    bool
	url      string
	gateways []*gateway
	book     *book
	queries  *queries
	watched  *watched
	notes    []string
	closers  []func()
	proxy    *proxy // of a fault that has one
}

const (
	servicesInAll   = 12
	writersInAll    = 6
	lookupsEach     = 3 // goroutines per gateway
	writePace       = 15 * time.Millisecond
	lookupPace      = 4 * time.Millisecond
	queryPace       = 25 * time.Millisecond
	warmWait        = 20 * time.Second
	recoverWait     = 20 * time.Second
	recoverDefault  = 5 * time.Second
	leastWarmWrites = 100
	leastWarmReads  = 200
	leastAfter      = 20 // writes by each gateway
)

// result is a line of the table.
type result struct {
	name     string
	writes   tally
	reads    int
	wakes    int
	counts   [columns]int
	pause    time.Duration
	recovery time.Duration
	err      error // the run is void, or a limit was exceeded
	notes    []string
	examples []string
	logs     []string
}

func (r *result) good() bool {
	return r.err == nil && r.counts == [columns]int{}
}

// note says something about the run that the table has no column for.
func (r *run) note(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

// do runs the fault and judges it.
func (r *run) do(ctx context.Context) *result {
	err := r.all(ctx)
	b := r.book
	out := &result{name: r.fault.name, err: err, notes: r.notes}
	for _, g := range r.gateways {
		for _, line := range g.lines() {
			out.logs = append(out.logs, fmt.Sprintf("gateway %d: %s", g.number, line))
		}
		g.stop()
	}
	for _, c := range r.closers {
		c()
	}
	if b == nil {
		return out
	}
	out.writes, out.reads, out.wakes, out.counts, out.pause = b.writes, b.reads, b.wakes, b.counts, b.longest
	out.recovery, out.examples = b.recovery(), b.examples
	out.err = errors.Join(out.err, r.limits(out))
	return out
}

// limits tells which of the promised times were not kept.
func (r *run) limits(out *result) error {
	most := r.fault.recovery
	if most == 0 {
		most = recoverDefault
	}
	switch {
	case out.recovery < 0:
		return errors.New("a gateway did not acknowledge a write again")
	case out.recovery > most:
		return fmt.Errorf("recovery took %s, over %s", out.recovery, most)
	case r.fault.pause > 0 && out.pause > r.fault.pause:
		return fmt.Errorf("no write was acknowledged for %s, over %s", out.pause, r.fault.pause)
	case r.fault.noFailures && out.writes.failed+out.writes.unknown > 0:
		return fmt.Errorf("%d writes failed, none may", out.writes.failed+out.writes.unknown)
	case r.fault.noUnknown && out.writes.unknown > 0:
		return fmt.Errorf("the outcome of %d writes was not told", out.writes.unknown)
	}
	return nil
}

func (r *run) all(ctx context.Context) error {
	if err := r.open(ctx); err != nil {
		return err
	}
	writing, stopWriting := context.WithCancel(ctx)
	defer stopWriting()
	reading, stopReading := context.WithCancel(ctx)
	defer stopReading()
	var writers, readers sync.WaitGroup
	defer readers.Wait()
	defer writers.Wait()
	defer stopReading()
	defer stopWriting()
	r.load(writing, reading, &writers, &readers)
	if err := r.await(ctx, warmWait, r.warm); err != nil {
		return fmt.Errorf("void: too little load before the fault: %w", err)
	}
	if err := r.fault.act(ctx, r); err != nil {
		return fmt.Errorf("the fault could not be done: %w", err)
	}
	before := r.acksByGateway()
	if err := r.await(ctx, recoverWait, func() error { return r.recovered(before) }); err != nil {
		return fmt.Errorf("too little load after the fault: %w", err)
	}
	stopWriting()
	writers.Wait()
	err := r.compare(ctx)
	stopReading()
	readers.Wait()
	return err
}

// open starts all gateways at once on an empty database.
func (r *run) open(ctx context.Context) error {
	var err error
	if r.url, err = r.pg.database(ctx); err != nil {
		return err
	}
	urls := make([]string, r.fault.gateways)
	for i := range urls {
		urls[i] = r.url
		if r.fault.through == nil {
			continue
		}
		if urls[i], err = r.fault.through(r, r.url, i); err != nil {
			return err
		}
	}
	if r.gateways, err = fleet(ctx, r.binary, urls...); err != nil {
		return err
	}
	r.book = newBook(len(r.gateways), servicesInAll)
	r.queries = &queries{by: map[string]*query{}}
	r.watched = &watched{last: map[watchKey]int{}}
	return nil
}

// fleet starts a gateway for each URL of a database, all at the same time, and
// returns when they are ready.
func fleet(ctx context.Context, binary string, databases ...string) ([]*gateway, error) {
	gateways := make([]*gateway, len(databases))
	errs := make([]error, len(databases))
	var starting sync.WaitGroup
	for i := range gateways {
		gateways[i] = newGateway(i, binary, databases[i])
		starting.Go(func() {
			if errs[i] = gateways[i].launch(); errs[i] == nil {
				errs[i] = gateways[i].ready(ctx)
			}
		})
	}
	starting.Wait()
	return gateways, errors.Join(errs...)
}

func (r *run) load(writing, reading context.Context, writers, readers *sync.WaitGroup) {
	for w := range writersInAll {
		g := r.gateways[w%len(r.gateways)]
		writers.Go(func() { r.write(writing, g, w) })
	}
	for _, g := range r.gateways {
		writers.Go(func() { r.writeQueries(writing, g) })
		for i := range lookupsEach {
			readers.Go(func() { r.lookUp(reading, g, i) })
		}
		for i := 0; i < servicesInAll; i += 2 {
			readers.Go(func() { r.watch(reading, g, r.book.services[i]) })
		}
	}
}

func (r *run) await(ctx context.Context, limit time.Duration, ok func() error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		err := ok()
		if err == nil {
			return nil
		}
		if rest(ctx, 10*time.Millisecond) != nil {
			return err
		}
	}
}

// warm tells what is missing of the least load.
func (r *run) warm() error {
	r.book.mu.Lock()
	defer r.book.mu.Unlock()
	if r.book.writes.acked < leastWarmWrites || r.book.reads < leastWarmReads || r.book.wakes < servicesInAll*len(r.gateways) {
		return fmt.Errorf("%d writes, %d reads, %d wake-ups", r.book.writes.acked, r.book.reads, r.book.wakes)
	}
	return nil
}

func (r *run) acksByGateway() []int {
	r.book.mu.Lock()
	defer r.book.mu.Unlock()
	return append([]int(nil), r.book.ackedBy...)
}

func (r *run) recovered(before []int) error {
	for i, n := range r.acksByGateway() {
		if n < before[i]+leastAfter {
			return fmt.Errorf("gateway %d acknowledged %d writes", i, n-before[i])
		}
	}
	return nil
}

// operate runs SQL as an operator.
func (r *run) operate(ctx context.Context, sql string, args ...any) error {
	conn, err := operator(ctx, r.url)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, sql, args...); err != nil {
		return fmt.Errorf("as operator: %s: %w", sql, err)
	}
	return nil
}

// table reads one column of text and one number of every row.
func (r *run) table(ctx context.Context, sql string) (map[string]int, error) {
	conn, err := operator(ctx, r.url)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	rows, err := conn.Query(ctx, sql)
	if err != nil {
		return nil, fmt.Errorf("read the table: %w", err)
	}
	out := map[string]int{}
	var name string
	var value int
	_, err = pgx.ForEachRow(rows, []any{&name, &value}, func() error { out[name] = value; return nil })
	if err != nil {
		return nil, fmt.Errorf("read the table: %w", err)
	}
	return out, nil
}

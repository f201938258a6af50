package main

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"signpost/db"
	"signpost/resolver/catalog"
)

const visibleRate = 2000 // writes per second in the background

func visibleFigures() []figure {
	figures := make([]figure, 0, 2)
	for _, f := range []struct {
		when string
		rate int
	}{{"idle", 0}, {"at 2,000 writes/s", visibleRate}} {
		p50 := fmt.Sprintf("visible on another replica, %s, p50", f.when)
		p99 := fmt.Sprintf("visible on another replica, %s, p99", f.when)
		figures = append(figures, figure{[]string{p50, p99}, func(ctx context.Context, w *world) ([]row, error) {
			g, err := w.writesGateway(ctx)
			if err != nil {
				return nil, err
			}
			var kept float64
			ws := w.startWriters(ctx, g, f.rate)
			after, total, err := w.visibility(ctx, g)
			kept, failed := ws.stop()
			if err == nil {
				err = failed
			}
			if err != nil {
				return nil, err
			}
			middle := absolute(p50, seconds, []float64{median(after)}, atMost(0.003))
			high := absolute(p99, seconds, []float64{percentile(after, 0.99)}, atMost(0.020))
			middle.Note = fmt.Sprintf("%d writes, with the commit itself %s", len(after), seconds.format(median(total)))
			high.Note = "with the commit itself " + seconds.format(percentile(total, 0.99))
			if f.rate > 0 {
				high.Note += fmt.Sprintf("; %.0f writes/s were done", kept)
			}
			return []row{middle, high}, nil
		}})
	}
	return figures
}

// visibility makes writes as a replica makes them, in this process, and has a
// reader wait for each on another replica, by HTTP. It gives the times in
// seconds from the commit, and from the beginning of the write, until that
// reader has the answer that shows it.
func (w *world) visibility(ctx context.Context, background *gateway) (after, total []float64, err error) {
	reader, err := w.serve(ctx, background.database)
	if err != nil {
		return nil, nil, err
	}
	defer w.end(reader.process)
	ctx, cancel := context.WithCancel(ctx)
	var committed atomic.Int64
	store := db.NewStore(db.Config{URL: w.pg.URL(background.database)},
		func(catalog.Index) { committed.Store(time.Now().UnixNano()) }, w.log())
	running := make(chan error, 1)
	go func() { running <- store.Run(ctx) }()
	defer func() {
		cancel()
		if stopped := <-running; err == nil {
			err = stopped
		}
	}()

	writes := 1000
	if w.options.short {
		writes = 150
	}
	// The first makes the service.
	index, err := uint64(0), error(nil)
	if _, err := store.Apply(ctx, watched(0)); err != nil {
		return nil, nil, err
	}
	if _, index, err = w.block(ctx, reader, 0); err != nil {
		return nil, nil, err
	}
	for n := 1; n <= writes; n++ {
		seen := make(chan arrival, 1)
		go func() { seen <- w.awaitOutput(ctx, reader, index, n) }()
		// The reader must wait already; the pause also takes the writes out of
		// step with whatever is periodic.
		pause(ctx, 5*time.Millisecond+time.Duration(n*7919%5000)*time.Microsecond)
		began := time.Now()
		if _, err := store.Apply(ctx, watched(n)); err != nil {
			return nil, nil, err
		}
		a := <-seen
		if a.err != nil {
			return nil, nil, a.err
		}
		index = a.index
		after = append(after, a.at.Sub(time.Unix(0, committed.Load())).Seconds())
		total = append(total, a.at.Sub(began).Seconds())
	}
	return after, total, nil
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

const watchedService = "watched"

// watched is a registration whose check tells it from the others.
func watched(n int) catalog.Registration {
	r := registration(0, 0)
	r.Node.Name, r.Service.Node, r.Checks[0].Node = "watched-node", "watched-node", "watched-node"
	r.Service.Name = watchedService
	r.Checks[0].Output = outputOf(n)
	return r
}

func outputOf(n int) string { return fmt.Sprintf("run %d of the watched check", n) }

// arrival is when a change was seen.
type arrival struct {
	at    time.Time
	index uint64
	err   error
}

// awaitOutput waits at a replica for the n-th registration.
func (w *world) awaitOutput(ctx context.Context, g *gateway, index uint64, n int) arrival {
	for {
		body, next, err := w.block(ctx, g, index)
		a := arrival{at: time.Now(), index: next, err: err}
		if err != nil || strings.Contains(body, outputOf(n)) {
			return a
		}
		index = next
	}
}

// block reads the watched service once its index is above the given one.
func (w *world) block(ctx context.Context, g *gateway, index uint64) (string, uint64, error) {
	status, a, err := w.fetch(ctx, fmt.Sprintf("http://%s/v1/health/service/%s?wait=30s&index=%d", g.http, watchedService, index))
	if err != nil {
		return "", 0, err
	}
	next, err := strconv.ParseUint(a.Header.Get("X-Service-Index"), 10, 64)
	if err != nil || status != http.StatusOK {
		return "", 0, fmt.Errorf("read the watched service: status %d, index %q", status, a.Header.Get("X-Service-Index"))
	}
	return string(a.Body), next, nil
}

package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

const (
	largeServices = 10_000 // with ten instances each
	largeStarts   = 3
)

func largeFigures() []figure {
	const ready, udp = "ready with 100,000 instances", "DNS query A, udp, 100,000 instances"
	const execute, health, memory = "HTTP execute, 100,000 instances", "HTTP health service, 100,000 instances",
		"memory with 100,000 instances, after lookups"
	return []figure{
		{[]string{ready}, func(ctx context.Context, w *world) ([]row, error) {
			g, err := w.largeGateway(ctx)
			if err != nil {
				return nil, err
			}
			times, err := w.starts(ctx, min(w.turns, largeStarts), func(context.Context) (string, error) { return g.database, nil })
			if err != nil {
				return nil, err
			}
			return []row{absolute(ready, seconds, append(times, g.ready.Seconds()), atMost(6))}, nil
		}},
		{[]string{udp}, largeFigure(udp, func(w *world, g *gateway, services int) (side, error) {
			questions, err := w.questions(services)
			return w.asks(g.process, g.dns, "udp", questions), err
		})},
		{[]string{execute}, largeFigure(execute, func(w *world, g *gateway, services int) (side, error) {
			return w.lookupsOver(g, executePath, services), nil
		})},
		{[]string{health}, largeFigure(health, func(w *world, g *gateway, services int) (side, error) {
			return w.lookupsOver(g, healthPath, services), nil
		})},
		{[]string{memory}, measureMemory(memory)},
	}
}

// largeFigure compares lookups over all services of a large catalog with those
// of the only service of a small one.
func largeFigure(name string, sideOf func(*world, *gateway, int) (side, error)) func(context.Context, *world) ([]row, error) {
	return func(ctx context.Context, w *world) ([]row, error) {
		small, err := w.smallGateway(ctx)
		if err != nil {
			return nil, err
		}
		large, err := w.largeGateway(ctx)
		if err != nil {
			return nil, err
		}
		one, err := sideOf(w, small, 1)
		if err != nil {
			return nil, err
		}
		all, err := sideOf(w, large, largeServices)
		if err != nil {
			return nil, err
		}
		s, err := w.compare(ctx, all, one)
		if err != nil {
			return nil, err
		}
		r := relative(name, perSecond, s.by(rateOf), atLeast(0.9))
		r.Note = s.note()
		return []row{r}, nil
	}
}

// measureMemory reads the resident memory after lookups over all services,
// each kind for a third of the time.
func measureMemory(name string) func(context.Context, *world) ([]row, error) {
	return func(ctx context.Context, w *world) ([]row, error) {
		g, err := w.largeGateway(ctx)
		if err != nil {
			return nil, err
		}
		questions, err := w.questions(largeServices)
		if err != nil {
			return nil, err
		}
		each := 20 * time.Second
		if w.options.short {
			each = 3 * time.Second
		}
		for _, s := range []side{
			w.asks(g.process, g.dns, "udp", questions), w.lookupsOver(g, executePath, largeServices), w.lookupsOver(g, healthPath, largeServices),
		} {
			if _, err := s.load(ctx, each); err != nil {
				return nil, err
			}
		}
		rss, err := g.memory("VmRSS")
		if err != nil {
			return nil, err
		}
		peak, err := g.memory("VmHWM")
		if err != nil {
			return nil, err
		}
		r := absolute(name, bytes, []float64{rss}, atMost(600<<20))
		r.Note = fmt.Sprintf("after %s; the most so far was %s", 3*each, bytes.format(peak))
		return []row{r}, nil
	}
}

// lookupsOver asks by HTTP for one service after the other.
func (w *world) lookupsOver(g *gateway, path func(int) string, services int) side {
	pattern := strings.Replace(path(0), fmt.Sprintf("%05d", 0), "%05d", 1)
	return side{g.process, func(ctx context.Context, d time.Duration) (load, error) {
		return w.wrk(ctx, wrkRun{
			url: "http://" + g.http, script: lookupScript, connections: lookupConnections,
			args: []string{pattern, strconv.Itoa(services)},
		}, d)
	}}
}

// largeGateway has been started on a catalog that was there.
func (w *world) largeGateway(ctx context.Context) (*gateway, error) {
	if w.large != nil {
		return w.large, nil
	}
	database, err := w.newDatabase(ctx)
	if err != nil {
		return nil, err
	}
	loader, err := w.serve(ctx, database)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if err := w.load(ctx, loader, largeServices); err != nil {
		return nil, err
	}
	w.progress("loaded 100,000 instances in %s", time.Since(began).Round(100*time.Millisecond))
	w.end(loader.process)
	w.large, err = w.serve(ctx, database)
	return w.large, err
}

package main

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

const (
	writeClients = 64
	writeNodes   = 1000
)

func writeFigures() []figure {
	const many, one = "registrations, 64 clients", "registration, one client, p50"
	return []figure{
		{[]string{many}, func(ctx context.Context, w *world) ([]row, error) {
			runs, note, err := w.registrations(ctx, writeClients)
			if err != nil {
				return nil, err
			}
			r := absolute(many, perSecond, valuesOf(runs, load.rate), atLeast(10_000))
			r.Note = note
			return []row{r}, nil
		}},
		{[]string{one}, func(ctx context.Context, w *world) ([]row, error) {
			runs, note, err := w.registrations(ctx, 1)
			if err != nil {
				return nil, err
			}
			r := absolute(one, seconds, valuesOf(runs, func(l load) float64 { return l.p50.Seconds() }), atMost(0.003))
			r.Note = note
			return []row{r}, nil
		}},
	}
}

func valuesOf(runs []load, value func(load) float64) []float64 {
	values := make([]float64, len(runs))
	for i, l := range runs {
		values[i] = value(l)
	}
	return values
}

// registrations has each request change one service and one check, on one of
// 1,000 nodes in turn, so that no two requests that are under way touch the
// same record. The first run, which makes them, does not count.
func (w *world) registrations(ctx context.Context, clients int) ([]load, string, error) {
	g, err := w.writesGateway(ctx)
	if err != nil {
		return nil, "", err
	}
	if _, err := w.register(ctx, g, writeClients, w.warmUp); err != nil {
		return nil, "", err
	}
	var runs []load
	answers := 0
	before, pgBefore, err := w.writeCPU(g)
	if err != nil {
		return nil, "", err
	}
	for range w.turns {
		l, err := w.register(ctx, g, clients, w.each)
		if err != nil {
			return nil, "", err
		}
		runs = append(runs, l)
		answers += l.answers
	}
	after, pgAfter, err := w.writeCPU(g)
	if err != nil {
		return nil, "", err
	}
	us := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(answers) }
	return runs, fmt.Sprintf("CPU for each: signpost %.0f µs, Postgres %.0f µs", us(after-before), us(pgAfter-pgBefore)), nil
}

// writeCPU is the CPU time so far of a gateway and of Postgres.
func (w *world) writeCPU(g *gateway) (server, postgres time.Duration, err error) {
	if server, err = g.cpu(); err != nil {
		return 0, 0, err
	}
	postgres, err = cpuBelow(w.pg.PID())
	return server, postgres, err
}

func (w *world) register(ctx context.Context, g *gateway, clients int, d time.Duration) (load, error) {
	w.writeRuns++
	return w.wrk(ctx, wrkRun{
		url: "http://" + g.http, script: registerScript, connections: clients,
		args: []string{strconv.Itoa(writeNodes), strconv.Itoa(w.writeRuns)},
	}, d)
}

// writesGateway has a catalog of its own, which the registrations make.
func (w *world) writesGateway(ctx context.Context) (*gateway, error) {
	if w.writes != nil {
		return w.writes, nil
	}
	database, err := w.newDatabase(ctx)
	if err != nil {
		return nil, err
	}
	w.writes, err = w.serve(ctx, database)
	return w.writes, err
}

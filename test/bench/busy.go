package main

import (
	"context"
	"fmt"
	"time"
)

const backgroundRate = 200 // registrations per second

func busyFigures() []figure {
	const udp, execute = "DNS query A, udp, at 200 writes/s", "HTTP execute, at 200 writes/s"
	return []figure{
		{[]string{udp}, busyFigure(udp, func(w *world, g *gateway) (side, error) {
			questions, err := w.questions(1)
			return w.asks(g.process, g.dns, "udp", questions), err
		})},
		{[]string{execute}, busyFigure(execute, func(w *world, g *gateway) (side, error) {
			return w.lookups(g.process, g.http, executePath(0)), nil
		})},
	}
}

// busyFigure compares the same lookups on the same gateway with and without
// registrations of other services going on.
func busyFigure(name string, sideOf func(*world, *gateway) (side, error)) func(context.Context, *world) ([]row, error) {
	return func(ctx context.Context, w *world) ([]row, error) {
		g, err := w.smallGateway(ctx)
		if err != nil {
			return nil, err
		}
		quiet, err := sideOf(w, g)
		if err != nil {
			return nil, err
		}
		var rates []float64
		busy := side{g.process, func(ctx context.Context, d time.Duration) (load, error) {
			ws := w.startWriters(ctx, g, backgroundRate)
			l, err := quiet.load(ctx, d)
			rate, failed := ws.stop()
			if err == nil {
				err = failed
			}
			rates = append(rates, rate)
			return l, err
		}}
		s, err := w.compare(ctx, busy, quiet)
		if err != nil {
			return nil, err
		}
		r := relative(name, perSecond, s.by(rateOf), atLeast(0.9))
		r.Note = fmt.Sprintf("%.0f writes/s were done; %s", median(rates), s.note())
		return []row{r}, nil
	}
}

package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"time"
)

// Faults of gateways.

// gatewayKilled ends a gateway in the middle of what it does, and starts it
// again, three times.
func gatewayKilled(ctx context.Context, r *run) error {
	g := r.gateways[1]
	rounds := 5
	if r.short {
		rounds = 2
	}
	for range rounds {
		g.outages.Add(1)
		if err := g.kill(); err != nil {
			return err
		}
		if err := g.launch(); err != nil {
			return err
		}
		if err := g.ready(ctx); err != nil {
			return err
		}
		g.outages.Add(1)
		if err := rest(ctx, 500*time.Millisecond); err != nil {
			return err
		}
	}
	r.note("%d times", rounds)
	r.book.back()
	return nil
}

// gatewayStopped stops a gateway for half a minute.
func gatewayStopped(ctx context.Context, r *run) error {
	d := 30 * time.Second
	if r.short {
		d = 3 * time.Second
	}
	return r.asleep(r.gateways[1], func() error { return rest(ctx, d) })
}

// asleep does something while a gateway is stopped.
func (r *run) asleep(g *gateway, meanwhile func() error) error {
	g.outages.Add(1)
	if err := g.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	err := meanwhile()
	if continued := g.signal(syscall.SIGCONT); continued != nil {
		return continued
	}
	r.book.back()
	g.outages.Add(1)
	return err
}

// trimmed drops the change log that a stopped gateway has not read.
func trimmed(ctx context.Context, r *run) error {
	for range 3 {
		if err := r.asleep(r.gateways[1], func() error {
			if err := rest(ctx, time.Second); err != nil {
				return err
			}
			return r.operate(ctx, `SELECT signpost.trim_changes('0 s', 1000000)`)
		}); err != nil {
			return err
		}
		if err := rest(ctx, time.Second); err != nil {
			return err
		}
	}
	for _, line := range r.gateways[1].lines() {
		if strings.Contains(line, "loading the catalog anew") {
			r.note("the gateway loaded anew")
			return nil
		}
	}
	return fmt.Errorf("void: the gateway never had to load anew")
}

// bornTogether starts three gateways at once on an empty database, again and
// again: the schema must be made once, and all must be ready.
func bornTogether(ctx context.Context, r *run) error {
	rounds := 8
	if r.short {
		rounds = 2
	}
	var longest time.Duration
	for range rounds {
		url, err := r.pg.database(ctx)
		if err != nil {
			return err
		}
		began := time.Now()
		gateways, err := fleet(ctx, r.binary, url, url, url)
		if err == nil {
			longest = max(longest, time.Since(began))
			err = writtenOnOne(ctx, gateways)
		}
		for _, g := range gateways {
			g.stop()
		}
		if err != nil {
			return err
		}
	}
	r.note("%d times three gateways, all ready within %s", rounds, longest.Round(time.Millisecond))
	return nil
}

// writtenOnOne: what is written on one gateway is read on the others.
func writtenOnOne(ctx context.Context, gateways []*gateway) error {
	a, err := gateways[0].ask(ctx, http.MethodPut, "/v1/catalog/register", `{"Node":"first","Address":"10.0.0.1"}`, writeWait)
	if outcomeOf(a, err) != acked {
		return fmt.Errorf("the first write: %d %q (%w)", a.status, a.body, err)
	}
	for _, g := range gateways {
		a, err := g.ask(ctx, http.MethodGet, "/v1/catalog/node/first?consistent", "", readWait)
		if err != nil || !strings.Contains(a.body, "10.0.0.1") {
			return fmt.Errorf("gateway %d does not know the first write: %q (%w)", g.number, a.body, err)
		}
	}
	return nil
}

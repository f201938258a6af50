package main

import (
	"context"
	"fmt"
	"net/http"
	"sort"
	"time"
)

const (
	servicesSQL = `SELECT name, port FROM signpost.services`
	queriesSQL  = `SELECT name, coalesce(rtrim(dns ->> 'TTL', 's'), '0')::int FROM signpost.queries`
	settleWait  = 5 * time.Second // then a blocked reader has missed what it did not see
)

// compare judges the end: the table against what was acknowledged, every
// gateway against the table, and a gateway that was only just started against
// those that lived through everything.
func (r *run) compare(ctx context.Context) error {
	services, err := r.table(ctx, servicesSQL)
	if err != nil {
		return err
	}
	queries, err := r.table(ctx, queriesSQL)
	if err != nil {
		return err
	}
	r.compareServices(services)
	r.compareQueries(queries)
	r.compareWatchers(ctx, services)
	fresh, err := fleet(ctx, r.binary, r.url)
	defer func() {
		for _, g := range fresh {
			g.stop()
		}
	}()
	if err != nil {
		return err
	}
	fresh[0].number = len(r.gateways)
	want, err := r.state(ctx, fresh[0])
	if err != nil {
		return err
	}
	for _, s := range r.book.services {
		f, err := overHTTP("")(ctx, fresh[0], s)
		if err != nil || f.value != services[s.name] {
			r.book.blame(missed, "a new gateway has %s = %d (%v), the table %d", s.name, f.value, err, services[s.name])
		}
	}
	for _, g := range r.gateways {
		have, err := r.state(ctx, g)
		if err != nil {
			return err
		}
		for path, answer := range want {
			if have[path] != answer {
				r.book.blame(missed, "gateway %d, %s: %s, a new gateway: %s", g.number, path, have[path], answer)
			}
		}
	}
	return nil
}

func (r *run) compareServices(table map[string]int) {
	r.book.mu.Lock()
	defer r.book.mu.Unlock()
	for _, s := range r.book.services {
		value := table[s.name]
		switch {
		case value < s.acked:
			r.book.blameLocked(lost, "%s = %d in the end, %d was acknowledged", s.name, value, s.acked)
		case value < s.seen:
			r.book.blameLocked(lost, "%s = %d in the end, %d was seen", s.name, value, s.seen)
		case value > s.tried:
			r.book.blameLocked(wrong, "%s = %d in the end, at most %d was written", s.name, value, s.tried)
		case s.refused[value]:
			r.book.blameLocked(lied, "%s = %d in the end, which was refused with nothing changed", s.name, value)
		}
	}
}

func (r *run) compareWatchers(ctx context.Context, table map[string]int) {
	late := func() (keys []watchKey) {
		r.watched.mu.Lock()
		defer r.watched.mu.Unlock()
		for key, value := range r.watched.last {
			if value != table[key.service] {
				keys = append(keys, key)
			}
		}
		return keys
	}
	_ = r.await(ctx, settleWait, func() error {
		if n := len(late()); n > 0 {
			return fmt.Errorf("%d readers wait", n)
		}
		return nil
	})
	for _, key := range late() {
		r.book.blame(missed, "a reader of %s at gateway %d knows %d, the table has %d",
			key.service, key.gateway, r.watched.last[key], table[key.service])
	}
}

// state is everything that a gateway answers, with the indexes.
func (r *run) state(ctx context.Context, g *gateway) (map[string]string, error) {
	paths := []string{"/v1/catalog/nodes", "/v1/catalog/services", "/v1/query", "/v1/health/service/nobody"}
	for _, s := range r.book.services {
		paths = append(paths, "/v1/health/service/"+s.name, "/v1/catalog/service/"+s.name, "/v1/health/checks/"+s.name)
	}
	for i := range 4 {
		paths = append(paths, fmt.Sprintf("/v1/catalog/node/n-%d", i), fmt.Sprintf("/v1/health/node/n-%d", i))
	}
	sort.Strings(paths)
	out := map[string]string{}
	for _, path := range paths {
		a, err := g.ask(ctx, http.MethodGet, path+"?consistent", "", readWait)
		if err != nil {
			return nil, err
		}
		out[path] = fmt.Sprintf("%d, index %d, %s", a.status, a.index, a.body)
	}
	return out, nil
}

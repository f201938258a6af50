package main

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// watched is the last value that each blocked reader was told.
type watched struct {
	mu   sync.Mutex
	last map[watchKey]int
}

type watchKey struct {
	gateway int
	service string
}

const (
	blockFor   = 20 * time.Second
	blockPlus  = 10 * time.Second // a server may add up to a sixteenth
	watchRetry = 20 * time.Millisecond
)

// watch blocks on one service at one gateway, again and again.
func (r *run) watch(ctx context.Context, g *gateway, s *service) {
	w := watcher{run: r, gateway: g, service: s}
	for ctx.Err() == nil {
		outages, expected := g.outages.Load(), r.book.expect(s, g.number, false)
		sent := time.Now()
		path := fmt.Sprintf("/v1/health/service/%s?index=%d&wait=%s", s.name, w.index, blockFor)
		a, err := g.ask(ctx, http.MethodGet, path, "", blockFor+blockPlus)
		if ctx.Err() != nil {
			return
		}
		var f found
		if err == nil {
			f, err = foundIn(s, a)
		}
		undisturbed := outages == g.outages.Load() && outages%2 == 0
		if err != nil {
			if undisturbed {
				r.readFailed(fmt.Sprintf("gateway %d, blocked", g.number), s, err)
			}
			if rest(ctx, watchRetry) != nil {
				return
			}
			continue
		}
		w.woke(f, expected.epoch, time.Since(sent), undisturbed)
	}
}

// watcher is a blocked reader and what it was told last.
type watcher struct {
	*run
	gateway *gateway
	service *service
	index   uint64
	body    string
	value   int
	epoch   int
}

func (w *watcher) woke(f found, epoch int, took time.Duration, undisturbed bool) {
	b := w.book
	who := fmt.Sprintf("gateway %d, blocked", w.gateway.number)
	b.judge(w.service, expectation{epoch, 0}, f.value, who)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wakes++
	first := w.index == 0
	switch {
	case f.index < w.index:
		b.blameLocked(wentBack, "%s: index of %s from %d to %d", who, w.service.name, w.index, f.index)
	case first:
	case f.index == w.index && took < blockFor && undisturbed:
		b.blameLocked(wrong, "%s: %s woke after %s with its old index %d", who, w.service.name, took, f.index)
	case f.index > w.index && f.body == w.body && !w.fault.floorMoves:
		b.blameLocked(wrong, "%s: %s woke for another's write: index %d to %d, same answer", who, w.service.name, w.index, f.index)
	}
	if f.value < w.value && epoch == w.epoch && epoch%2 == 0 && epoch == b.epoch {
		b.blameLocked(wentBack, "%s: %s from %d to %d", who, w.service.name, w.value, f.value)
	}
	w.index, w.body, w.value, w.epoch = f.index, f.body, f.value, epoch
	w.watched.mu.Lock()
	defer w.watched.mu.Unlock()
	w.watched.last[watchKey{w.gateway.number, w.service.name}] = f.value
}

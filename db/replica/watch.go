package replica

import (
	"sync"

	"signpost/resolver/snapshot"
)

// watchers are those who wait for things to change.
type watchers struct {
	mu sync.Mutex
	by map[snapshot.Thing]map[chan struct{}]struct{}
}

// subscribe: see gateway.State.
func (w *watchers) subscribe(things []snapshot.Thing) (<-chan struct{}, func()) {
	c := make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.by == nil {
		w.by = map[snapshot.Thing]map[chan struct{}]struct{}{}
	}
	for _, t := range things {
		set, ok := w.by[t]
		if !ok {
			set = map[chan struct{}]struct{}{}
			w.by[t] = set
		}
		set[c] = struct{}{}
	}
	return c, func() { w.cancel(things, c) }
}

func (w *watchers) cancel(things []snapshot.Thing, c chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, t := range things {
		delete(w.by[t], c)
		if len(w.by[t]) == 0 {
			delete(w.by, t)
		}
	}
}

// tell wakes those who wait for one of the things.
func (w *watchers) tell(things []snapshot.Thing) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.by) == 0 {
		return
	}
	for _, t := range things {
		wake(w.by[t])
	}
}

// tellAll wakes everybody.
func (w *watchers) tellAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, set := range w.by {
		wake(set)
	}
}

func wake(set map[chan struct{}]struct{}) {
	for c := range set {
		select {
		case c <- struct{}{}:
		default: // it has been told and has not looked yet
		}
	}
}

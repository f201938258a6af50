package gateway

import (
	"context"
	"slices"
	"sync"
	"time"

	"signpost/resolver/catalog"
	"signpost/resolver/snapshot"
)

// watches lets readers wait for an answer to change. Readers of the same
// thing with the same parameters share one watch: one goroutine evaluates the
// answer once per change and hands it to all of them.
//
//	reader --join--> watch --Subscribe--> State
//	reader <-answer- watch <--changed---- State
//
// A watch subscribes before it evaluates, so that no change falls between.
// It ends when its last reader has left.
type watches struct {
	g  *Gateway
	mu sync.Mutex
	by map[string]*watch
}

type watch struct {
	readers int // guarded by watches.mu
	stop    chan struct{}

	mu     sync.Mutex
	latest shared
	next   chan struct{} // closed when latest is replaced
}

// shared is one evaluation. reply is a *Reply[A] of the watch's operation.
type shared struct {
	reply any
	index catalog.Index
	err   error
}

// evaluation computes the answer of a watch and what it looked at.
type evaluation func() (shared, []snapshot.Thing)

func newWatches(g *Gateway) *watches { return &watches{g: g, by: map[string]*watch{}} }

// await blocks until the answer's index exceeds the one that the request
// gave, its time is over, or the gateway stops. In each case the reader gets
// what is true now.
func await[A any](ctx context.Context, g *Gateway, req *Request, look func() (*Reply[A], *Seen, error)) (*Reply[A], error) {
	w := g.watches.join(req.Key, func() (shared, []snapshot.Thing) {
		reply, seen, err := look()
		if err != nil {
			return shared{err: err}, seen.things
		}
		return shared{reply: reply, index: reply.Index}, seen.things
	})
	defer g.watches.leave(req.Key, w)
	timer := time.NewTimer(req.Wait)
	defer timer.Stop()
	for {
		latest, next := w.current()
		if latest.err != nil { // it may be of before this reader came
			reply, _, err := look()
			return reply, err
		}
		if latest.reply != nil && latest.index > req.MinIndex {
			return latest.reply.(*Reply[A]), nil
		}
		select {
		case <-next:
			continue
		case <-timer.C:
		case <-g.closing:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		reply, _, err := look()
		return reply, err
	}
}

func (ws *watches) join(key string, evaluate evaluation) *watch {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w, ok := ws.by[key]
	if !ok {
		w = &watch{stop: make(chan struct{}), next: make(chan struct{})}
		ws.by[key] = w
		go w.run(ws.g.state, evaluate)
	}
	w.readers++
	return w
}

func (ws *watches) leave(key string, w *watch) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if w.readers--; w.readers == 0 {
		delete(ws.by, key)
		close(w.stop)
	}
}

// Readers tells how many readers wait.
func (ws *watches) count() int {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	n := 0
	for _, w := range ws.by {
		n += w.readers
	}
	return n
}

// Blocked tells how many readers wait for a change.
func (g *Gateway) Blocked() int { return g.watches.count() }

func (w *watch) current() (shared, <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.latest, w.next
}

func (w *watch) run(state State, evaluate evaluation) {
	_, things := evaluate()
	for {
		changed, cancel := state.Subscribe(things)
		answer, now := evaluate()
		if !slices.Equal(now, things) { // it looks elsewhere by now: subscribe to that, then look again
			cancel()
			things = now
			continue
		}
		w.publish(answer)
		select {
		case <-changed:
			cancel()
		case <-w.stop:
			cancel()
			return
		}
	}
}

// publish hands an answer to the readers if it is another than the last.
func (w *watch) publish(answer shared) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.latest.reply != nil && answer.err == nil && answer.index == w.latest.index {
		return
	}
	w.latest = answer
	close(w.next)
	w.next = make(chan struct{})
}

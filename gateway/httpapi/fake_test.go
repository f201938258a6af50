package httpapi

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"signpost/gateway"
	"signpost/resolver/catalog"
	"signpost/resolver/snapshot"
)

// memoryState is a catalog without a database: writes go straight into the
// next snapshot.
type memoryState struct {
	mu       sync.Mutex
	now      *snapshot.Snapshot
	watchers map[chan struct{}][]snapshot.Thing
	contact  gateway.Contact
	barrier  error
	refuse   error // of every write
	writes   []catalog.Write
	watching chan struct{} // gets a value for each subscription; may be nil
}

func newState() *memoryState {
	return &memoryState{
		now: snapshot.Empty(), watchers: map[chan struct{}][]snapshot.Thing{},
		contact: gateway.Contact{Known: true},
	}
}

func (s *memoryState) Snapshot() *snapshot.Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *memoryState) Barrier(context.Context) error { return s.barrier }

func (s *memoryState) Reach(context.Context, catalog.Index) error { return nil }

func (s *memoryState) Contact() gateway.Contact { return s.contact }

func (s *memoryState) Subscribe(things []snapshot.Thing) (<-chan struct{}, func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := make(chan struct{}, 1)
	s.watchers[changed] = things
	if s.watching != nil {
		s.watching <- struct{}{}
	}
	return changed, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watchers, changed)
	}
}

// change publishes the snapshot that edit makes at the next index.
func (s *memoryState) change(edit func(b *snapshot.Builder, at catalog.Index)) catalog.Index {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.now.Index() + 1
	b := snapshot.NewBuilder(s.now)
	edit(b, at)
	next, things, err := b.Publish(at, fmt.Sprint("tx", at))
	if err != nil {
		panic(err)
	}
	s.now = next
	for watcher, watched := range s.watchers {
		if shares(things, watched) {
			select {
			case watcher <- struct{}{}:
			default:
			}
		}
	}
	return at
}

func shares(a, b []snapshot.Thing) bool {
	for _, x := range a {
		for _, y := range b {
			if x == y {
				return true
			}
		}
	}
	return false
}

func (s *memoryState) Apply(_ context.Context, w catalog.Write) (catalog.Outcome, error) {
	if s.refuse != nil {
		return catalog.Outcome{}, s.refuse
	}
	at := s.change(func(b *snapshot.Builder, at catalog.Index) {
		s.writes = append(s.writes, w)
		switch w := w.(type) {
		case catalog.Registration:
			putRegistration(b, w, at)
		case catalog.CreateQuery:
			w.Query.CreateIndex, w.Query.ModifyIndex = at, at
			b.PutQuery(&w.Query)
		case catalog.UpdateQuery:
			w.Query.CreateIndex, w.Query.ModifyIndex = s.now.Query(w.Query.ID).CreateIndex, at
			b.PutQuery(&w.Query)
		case catalog.DeleteQuery:
			b.DeleteQuery(w.ID)
		}
	})
	return catalog.Outcome{Index: at, Held: true}, nil
}

func putRegistration(b *snapshot.Builder, r catalog.Registration, at catalog.Index) {
	r.Node.CreateIndex, r.Node.ModifyIndex = at, at
	b.PutNode(&r.Node)
	if r.Service != nil {
		service := *r.Service
		service.CreateIndex, service.ModifyIndex = at, at
		b.PutService(&service)
	}
	for i := range r.Checks {
		check := r.Checks[i]
		check.CreateIndex, check.ModifyIndex = at, at
		b.PutCheck(&check)
	}
}

// rig is a door over a catalog in memory.
type rig struct {
	*testing.T
	state   *memoryState
	gateway *gateway.Gateway
	handler http.Handler
	log     *bytes.Buffer
}

func newRig(t *testing.T, c Config) *rig {
	t.Helper()
	r := &rig{T: t, state: newState(), log: &bytes.Buffer{}}
	log := slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	r.gateway = gateway.New(gateway.Config{Advertise: "10.9.8.7:8500"}, r.state, r.state, log)
	r.handler = New(r.gateway, c, log)
	return r
}

// answer is a response, read to its end.
type answer struct {
	status int
	header http.Header
	body   string
}

// send makes a request; headers are given as name, value, ….
func (r *rig) send(method, target, body string, headers ...string) answer {
	r.Helper()
	return r.sendContext(context.Background(), method, target, body, headers...)
}

func (r *rig) sendContext(ctx context.Context, method, target, body string, headers ...string) answer {
	req := httptest.NewRequestWithContext(ctx, method, target, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	r.handler.ServeHTTP(w, req)
	result := w.Result()
	text, err := io.ReadAll(result.Body)
	if err != nil {
		panic(err)
	}
	return answer{result.StatusCode, result.Header, string(text)}
}

func (r *rig) get(target string, headers ...string) answer {
	r.Helper()
	return r.send(http.MethodGet, target, "", headers...)
}

// register puts a registration in by the front door.
func (r *rig) register(body string) {
	r.Helper()
	got := r.send(http.MethodPut, "/v1/catalog/register", body)
	require.Equal(r, answer{200, got.header, "true"}, got)
}

// eventually waits for a condition that becomes true by itself.
func (r *rig) eventually(condition func() bool, what string) {
	r.Helper()
	require.Eventually(r, condition, 5*time.Second, time.Millisecond, what)
}

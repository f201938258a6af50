package replica_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"signpost/resolver/catalog"
	"signpost/resolver/snapshot"
)

const (
	writersInAll = 16
	servicesEach = 3
	writeFor     = 10 * time.Second
	leastWrites  = 500 // fewer show nothing
)

// value is what one service looks like in one snapshot.
type value struct {
	port     int
	modified catalog.Index
}

// history is what one replica published: what each index looked like.
type history struct {
	order []catalog.Index
	at    map[catalog.Index]map[string]value
}

// ack is a write that was acknowledged.
type ack struct {
	service string
	port    int
	index   catalog.Index
}

// TestEveryReplicaHasTheSameHistory has 16 writers change services of their
// own over three replicas for ten seconds, each value greater than the last.
func TestEveryReplicaHasTheSameHistory(t *testing.T) {
	t.Parallel()
	url := newDatabase(t)
	members := fleet(t, url, 3)
	ctx, cancel := context.WithTimeout(context.Background(), writeFor)
	defer cancel()

	histories := make([]*history, len(members))
	watching, stopWatching := context.WithCancel(context.Background())
	defer stopWatching()
	var watchers sync.WaitGroup
	for i, m := range members {
		h := &history{at: map[catalog.Index]map[string]value{}}
		histories[i] = h
		watchers.Go(func() { h.record(watching, m) })
	}
	var mu sync.Mutex
	var acks []ack
	g := errgroup.Group{}
	for w := range writersInAll {
		g.Go(func() error {
			mine, err := writeUntil(ctx, members[w%len(members)], w)
			mu.Lock()
			defer mu.Unlock()
			acks = append(acks, mine...)
			return err
		})
	}
	require.NoError(t, g.Wait())
	require.GreaterOrEqual(t, len(acks), leastWrites, "too little happened to show anything")
	last := members[0].apply(t, registration("n1", "end", "end", 1, catalog.Passing)).Index
	for _, m := range members {
		m.reach(t, last)
	}
	within(t, 5*time.Second, "every recorder has seen the end", func() bool {
		for _, m := range members {
			if m.Snapshot().Index() < last {
				return false
			}
		}
		return true
	})
	stopWatching()
	watchers.Wait()
	checkOrder(t, histories)
	checkEqual(t, histories)
	checkComplete(t, histories, acks)
	t.Logf("%d writes acknowledged; indexes recorded: %d, %d, %d", len(acks), len(histories[0].order), len(histories[1].order), len(histories[2].order))
}

func writeUntil(ctx context.Context, m *member, w int) ([]ack, error) {
	var acks []ack
	for port := 1; ctx.Err() == nil; port++ {
		name := fmt.Sprintf("s-%d-%d", w, port%servicesEach)
		out, err := m.store.Apply(context.Background(), registration("n1", name, name, port, catalog.Passing))
		if err != nil {
			return acks, err
		}
		acks = append(acks, ack{name, port, out.Index})
	}
	return acks, nil
}

func (h *history) record(ctx context.Context, m *member) {
	var last catalog.Index
	for m.Reach(ctx, last+1) == nil {
		s := m.Snapshot()
		last = s.Index()
		h.order = append(h.order, last)
		h.at[last] = digest(s)
	}
}

func digest(s *snapshot.Snapshot) map[string]value {
	out := map[string]value{}
	for service := range s.Services() {
		inst := service.Instances[0]
		out[service.Name] = value{inst.Service.Port, inst.Service.ModifyIndex}
	}
	return out
}

func checkOrder(t *testing.T, histories []*history) {
	for i, h := range histories {
		for j := 1; j < len(h.order); j++ {
			require.Greater(t, h.order[j], h.order[j-1], "replica %d went back", i)
		}
	}
}

// checkEqual: an index names one content, and (record, modify index) does.
func checkEqual(t *testing.T, histories []*history) {
	type version struct {
		service string
		index   catalog.Index
	}
	ports := map[version]int{}
	for i, h := range histories {
		for index, content := range h.at {
			if other, ok := histories[0].at[index]; ok {
				require.Equal(t, other, content, "index %d differs on replica %d", index, i)
			}
			for service, v := range content {
				key := version{service, v.modified}
				if port, ok := ports[key]; ok {
					require.Equal(t, port, v.port, "%v has two contents", key)
				}
				ports[key] = v.port
			}
		}
	}
}

// checkComplete: a write is in every snapshot from its index on, and in none
// before it.
func checkComplete(t *testing.T, histories []*history, acks []ack) {
	byService := map[string][]ack{}
	for _, a := range acks {
		byService[a.service] = append(byService[a.service], a)
	}
	for i, h := range histories {
		for _, index := range h.order {
			content := h.at[index]
			for service, list := range byService {
				want := 0
				for _, a := range list { // in the order of the one writer
					if a.index <= index {
						want = a.port
					}
				}
				require.Equal(t, want, content[service].port, "replica %d, index %d, %s", i, index, service)
			}
		}
	}
}

func TestCASOfManyRacersHasOneWinner(t *testing.T) {
	t.Parallel()
	members := fleet(t, newDatabase(t), 3)
	q := catalog.Query{ID: uuid.NewString(), Name: "raced", Service: catalog.QueryService{Service: "s"}}
	members[0].apply(t, catalog.CreateQuery{Query: q})
	const racers, rounds = 32, 20
	for round := range rounds {
		require.NoError(t, members[0].Barrier(context.Background()))
		at := members[0].Snapshot().Query(q.ID).ModifyIndex
		var wins atomic.Int64
		var winner atomic.Int64
		g := errgroup.Group{}
		for r := range racers {
			g.Go(func() error {
				mine := q
				mine.Service.Service = fmt.Sprintf("round-%d-racer-%d", round, r)
				out, err := members[r%len(members)].store.Apply(context.Background(), catalog.UpdateQuery{Query: mine, If: &at})
				if out.Held {
					wins.Add(1)
					winner.Store(int64(r))
				}
				return err
			})
		}
		require.NoError(t, g.Wait())
		require.EqualValues(t, 1, wins.Load(), "round %d", round)
		for _, m := range members {
			require.NoError(t, m.Barrier(context.Background()))
			require.Equal(t, fmt.Sprintf("round-%d-racer-%d", round, winner.Load()), m.Snapshot().Query(q.ID).Service.Service)
		}
	}
	missing := catalog.Index(1)
	_, err := members[0].store.Apply(context.Background(), catalog.UpdateQuery{
		Query: catalog.Query{ID: uuid.NewString(), Service: q.Service}, If: &missing,
	})
	require.Equal(t, catalog.NotFound, catalog.CodeOf(err))
}

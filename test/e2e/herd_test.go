package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// wake is what one blocked reader was answered.
type wake struct {
	reader int
	answer answer
	err    error
}

// herd has n readers block on a path from an index on. Each reports its
// answer, blocks again from the index it got, and so on until the test ends.
func herd(t testing.TB, g *gate, n int, path string, from uint64) <-chan wake {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	wakes := make(chan wake, 16*n)
	done := make(chan struct{}, n)
	for reader := range n {
		go func() {
			defer func() { done <- struct{}{} }()
			for index := from; ; {
				a, err := g.try(ctx, http.MethodGet, fmt.Sprintf("%s?index=%d&wait=5m", path, index), "")
				if ctx.Err() != nil {
					return
				}
				wakes <- wake{reader, a, err}
				if err != nil || a.status != http.StatusOK {
					return
				}
				index = a.index()
			}
		}()
	}
	t.Cleanup(func() {
		cancel()
		for range n {
			<-done
		}
	})
	blocked(t, g, n)
	return wakes
}

// blocked waits until exactly n readers block on a gateway.
func blocked(t testing.TB, g *gate, n int) {
	t.Helper()
	within(t, 30*time.Second, fmt.Sprint(n, " readers block"), func() bool { return g.Gateway().Blocked() == n })
}

// wokenOnce takes one wake of each of n readers, all with the same answer.
func wokenOnce(t testing.TB, wakes <-chan wake, n int, want answer) {
	t.Helper()
	seen := make(map[int]bool, n)
	deadline := time.After(30 * time.Second)
	for len(seen) < n {
		select {
		case w := <-wakes:
			require.NoError(t, w.err)
			require.Equal(t, http.StatusOK, w.answer.status, w.answer.body)
			require.False(t, seen[w.reader], "reader %d woke twice", w.reader)
			require.Equal(t, want.index(), w.answer.index())
			require.Equal(t, want.body, w.answer.body)
			seen[w.reader] = true
		case <-deadline:
			t.Fatalf("%d of %d readers woke", len(seen), n)
		}
	}
}

// asleep requires that nobody woke.
func asleep(t testing.TB, wakes <-chan wake) {
	t.Helper()
	select {
	case w := <-wakes:
		t.Fatalf("reader %d woke for nothing: %v %v", w.reader, w.answer, w.err)
	default:
	}
}

// foreignWrites are n changes that have nothing to do with the service web,
// though some of them are to the node that it is on.
func foreignWrites(t testing.TB, g *gate, n, seed int) {
	t.Helper()
	for i := range n {
		port := 1000 + seed + i
		switch i % 5 {
		case 0: // another service on another node
			g.register(t, instance(fmt.Sprint("other-", i), "api", port, "passing"))
		case 1: // another service on the same node, with its check
			g.register(t, instance("n1", fmt.Sprint("neighbour-", i), port, "passing"))
		case 2: // another node alone
			g.register(t, fmt.Sprintf(`{"Node":"empty-%d","Address":"10.9.9.9"}`, port))
		case 3: // a query over the very service
			g.createQuery(t, fmt.Sprintf(`{"Name":"q-%d","Service":{"Service":"web"}}`, port))
		case 4: // a service whose name only begins the same, there and gone
			g.register(t, instance("n1", "web-2", port, "critical"))
			g.deregister(t, `{"Node":"n1","ServiceID":"web-2"}`)
		}
	}
}

func TestAThousandReadersWakeOncePerChange(t *testing.T) {
	t.Parallel()
	const n = 1000
	gates := fleet(t, 2)
	g, other := gates[0], gates[1]
	const path = "/v1/health/service/web"
	g.register(t, instance("n1", "web", 80, "passing"))
	before := g.get(t, path)
	wakes := herd(t, g, n, path, before.index())

	foreignWrites(t, other, 50, 0)
	g.get(t, path+"?consistent") // the foreign writes have arrived
	asleep(t, wakes)
	require.Equal(t, n, g.Gateway().Blocked())

	for port := range 3 {
		other.register(t, instance("n1", "web", 81+port, "passing"))
		after := g.get(t, path+"?consistent")
		require.Greater(t, after.index(), before.index())
		wokenOnce(t, wakes, n, after)
		blocked(t, g, n)
		foreignWrites(t, other, 5, 100*(port+1))
		asleep(t, wakes)
		before = after
	}
}

func TestReadersOfAServiceThatDoesNotExistYetWakeWhenItAppears(t *testing.T) {
	t.Parallel()
	const n = 100
	g := fleet(t, 1)[0]
	const path = "/v1/health/service/web"
	before := g.get(t, path)
	require.Equal(t, "[]", strings.TrimSpace(before.body))
	require.NotZero(t, before.index())
	wakes := herd(t, g, n, path, before.index())
	foreignWrites(t, g, 10, 0)
	asleep(t, wakes)

	for round := range 3 { // it comes, it goes, it comes again
		if round%2 == 0 {
			g.register(t, instance("n1", "web", 80, "passing"))
		} else {
			g.deregister(t, `{"Node":"n1","ServiceID":"web"}`)
		}
		after := g.get(t, path)
		require.Equal(t, round%2 == 1, strings.TrimSpace(after.body) == "[]")
		wokenOnce(t, wakes, n, after)
		blocked(t, g, n)
	}
}

func TestReadersOfADeletedQueryAreToldSo(t *testing.T) {
	t.Parallel()
	const n = 100
	gates := fleet(t, 2)
	g, other := gates[0], gates[1]
	id := g.createQuery(t, `{"Name":"mine","Service":{"Service":"web"}}`)
	path := "/v1/query/" + id
	wakes := herd(t, g, n, path, g.get(t, path).index())
	foreignWrites(t, other, 10, 0)
	g.get(t, path+"?consistent")
	asleep(t, wakes)
	other.write(t, http.MethodDelete, path, "")
	deadline := time.After(20 * time.Second)
	for range n {
		select {
		case w := <-wakes:
			require.NoError(t, w.err)
			require.Equal(t, http.StatusNotFound, w.answer.status)
			require.Equal(t, "Query not found", w.answer.body)
		case <-deadline:
			t.Fatal("not every reader was told")
		}
	}
	blocked(t, g, 0)
}

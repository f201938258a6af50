package e2e_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// load keeps every gateway busy with registrations of services of its own
// until the test ends, and gives the number of writes so far.
func load(t testing.TB, gates []*gate, writersEach int) *atomic.Int64 {
	t.Helper()
	var group errgroup.Group
	var written atomic.Int64
	var over atomic.Bool
	for i, g := range gates {
		for w := range writersEach {
			group.Go(func() error {
				for n := 1; !over.Load(); n++ {
					body := instance(fmt.Sprint("load-", i), fmt.Sprintf("load-%d-%d", i, w), n%60000, "passing")
					if err := g.must(context.Background(), http.MethodPut, registerPath, body); err != nil {
						return fmt.Errorf("the load: %w", err)
					}
					written.Add(1)
				}
				return nil
			})
		}
	}
	t.Cleanup(func() {
		over.Store(true)
		require.NoError(t, group.Wait())
	})
	return &written
}

// must makes a request from any goroutine; all answers but 200 are errors.
func (g *gate) must(ctx context.Context, method, path, body string) error {
	_, err := g.mustAnswer(ctx, method, path, body)
	return err
}

func (g *gate) mustAnswer(ctx context.Context, method, path, body string) (answer, error) {
	a, err := g.try(ctx, method, path, body)
	if err == nil && a.status != http.StatusOK {
		err = fmt.Errorf("%s %s: %d %s", method, path, a.status, a.body)
	}
	return a, err
}

const (
	walkers = 10
	rounds  = 50 // of each walker
)

// walk runs walkers at once, each so many rounds.
func walk(t testing.TB, step func(ctx context.Context, walker, round int) error) {
	t.Helper()
	group, ctx := errgroup.WithContext(t.Context())
	for walker := range walkers {
		group.Go(func() error {
			for round := range rounds {
				if err := step(ctx, walker, round); err != nil {
					return fmt.Errorf("walker %d, round %d: %w", walker, round, err)
				}
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
}

func TestAConsistentReadSeesWhatAnotherReplicaWrote(t *testing.T) {
	t.Parallel()
	gates := fleet(t, 3)
	written := load(t, gates, 2)
	walk(t, func(ctx context.Context, walker, round int) error {
		writer, reader := gates[(walker+round)%3], gates[(walker+round+1)%3]
		service, port := fmt.Sprint("svc-", walker), 1+round
		if err := writer.must(ctx, http.MethodPut, registerPath, instance(fmt.Sprint("n-", walker), service, port, "passing")); err != nil {
			return err
		}
		a, err := reader.mustAnswer(ctx, http.MethodGet, "/v1/health/service/"+service+"?consistent", "")
		if err != nil {
			return err
		}
		return has(a, fmt.Sprintf(`"Port":%d,`, port))
	})
	require.Greater(t, written.Load(), int64(rounds), "there was hardly any load")
}

func TestWhatAReplicaCreatedIsNeverMissingOnAnother(t *testing.T) {
	t.Parallel()
	gates := fleet(t, 3)
	written := load(t, gates, 2)
	walk(t, func(ctx context.Context, walker, round int) error {
		writer, readers := gates[(walker+round)%3], []*gate{gates[(walker+round+1)%3], gates[(walker+round+2)%3]}
		name := fmt.Sprintf("q-%d-%d", walker, round)
		a, err := writer.mustAnswer(ctx, http.MethodPost, "/v1/query", fmt.Sprintf(`{"Name":%q,"Service":{"Service":"web"}}`, name))
		if err != nil {
			return err
		}
		id := a.body[len(`{"ID":"`) : len(a.body)-len(`"}`)]
		// Which of the two is asked first differs, so that neither question
		// helps the other.
		paths := []string{"/v1/query/" + id, "/v1/query/" + name + "/execute"}
		for i, reader := range readers {
			path := paths[(round+i)%2]
			if _, err := reader.mustAnswer(ctx, http.MethodGet, path, ""); err != nil {
				return err
			}
		}
		return nil
	})
	require.Greater(t, written.Load(), int64(rounds), "there was hardly any load")
}

func TestANodeThatAReplicaRegisteredIsNeverMissingOnAnother(t *testing.T) {
	t.Parallel()
	gates := fleet(t, 2)
	walk(t, func(ctx context.Context, walker, round int) error {
		node := fmt.Sprintf("n-%d-%d", walker, round)
		if err := gates[0].must(ctx, http.MethodPut, registerPath, fmt.Sprintf(`{"Node":%q,"Address":"10.0.0.1"}`, node)); err != nil {
			return err
		}
		a, err := gates[1].mustAnswer(ctx, http.MethodGet, "/v1/catalog/node/"+node, "")
		if err != nil {
			return err
		}
		return has(a, fmt.Sprintf(`"Node":%q`, node))
	})
}

// Indexes are the same everywhere, and so is everything else, on a replica
// that followed each change as on one that loaded the result of them.
func TestAReplicaThatStartsLaterAnswersTheSame(t *testing.T) {
	t.Parallel()
	url := newDatabase(t)
	gates := fleetOn(t, url, 2)
	query, other := world(t, gates[0])
	writes := writesOf(query, other)
	names := slices.Sorted(maps.Keys(writes))
	dice := rand.New(rand.NewPCG(7, 11)) // the same each time
	for i := range 300 {
		c := writes[names[dice.IntN(len(names))]](i)
		a := gates[i%2].ask(t, c.method, c.path, c.body)
		// What was removed before is refused: a check of it, a node without an address.
		require.Less(t, a.status, http.StatusInternalServerError, a.body)
	}
	late := fleetOn(t, url, 1)[0]
	for _, path := range with(reads, []string{"/v1/query/" + query, "/v1/query/" + other}) {
		if strings.HasSuffix(path, "/execute") {
			continue // its order is drawn
		}
		want := late.ask(t, http.MethodGet, path+"?consistent", "")
		for _, g := range gates {
			got := g.ask(t, http.MethodGet, path+"?consistent", "")
			require.Equal(t, want.index(), got.index(), path)
			require.Equal(t, want.body, got.body, path)
		}
	}
}

func has(a answer, text string) error {
	if !strings.Contains(a.body, text) {
		return fmt.Errorf("no %s in %s", text, a.body)
	}
	return nil
}

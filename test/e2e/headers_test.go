package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"signpost/cmd/signpost/config"
)

// reads are paths of reads that find something in the world of watch_test.go.
var reads = []string{
	"/v1/catalog/nodes", "/v1/catalog/services", "/v1/catalog/service/web", "/v1/catalog/connect/web", "/v1/catalog/node/n1",
	"/v1/health/service/web", "/v1/health/connect/web", "/v1/health/node/n1", "/v1/health/checks/web",
	"/v1/query", "/v1/query/mine/execute",
	"/v1/catalog/service/nobody", "/v1/catalog/node/nobody", "/v1/health/node/nobody", "/v1/health/checks/nobody",
}

func TestEveryReadHasTheConsistencyHeadersInBothFamilies(t *testing.T) {
	t.Parallel()
	g := fleet(t, 1)[0]
	query, _ := world(t, g)
	for _, path := range with(reads, []string{"/v1/query/" + query}) {
		for asked, effective := range map[string]string{"": "leader", "stale": "stale", "consistent": "consistent", "leader": "leader", "max_stale=10s": "stale"} {
			a := g.get(t, path+"?"+asked)
			for name, want := range map[string]string{
				"Knownleader": "true", "Lastcontact": "0", "Effective-Consistency": effective,
				"Query-Backend": "blocking-query", "Default-Acl-Policy": "allow",
			} {
				for _, family := range []string{"X-Service-", "X-Consul-"} {
					require.Equal(t, []string{want}, a.header.Values(family+name), "%s?%s %s%s", path, asked, family, name)
				}
			}
			require.Len(t, a.header.Values("X-Service-Index"), 1)
			require.Equal(t, a.header.Values("X-Service-Index"), a.header.Values("X-Consul-Index"))
			require.GreaterOrEqual(t, a.index(), uint64(1), path)
			require.Equal(t, "application/json", a.header.Get("Content-Type"))
		}
	}
	refused := g.ask(t, http.MethodGet, "/v1/query/nobody/execute", "")
	require.Equal(t, http.StatusNotFound, refused.status)
	require.EqualValues(t, 1, refused.index())
	require.Equal(t, "text/plain; charset=utf-8", refused.header.Get("Content-Type"))
}

func TestTheOtherFamilyOfHeadersCanBeTurnedOff(t *testing.T) {
	t.Parallel()
	g := fleet(t, 1, func(c *config.Config) { c.CompatHeaders = false })[0]
	a := g.get(t, "/v1/catalog/nodes")
	require.NotZero(t, a.index())
	for name := range a.header {
		require.False(t, strings.HasPrefix(name, "X-Consul-"), name)
	}
}

// A reader polls while things come, change and go: 200 changes, each of which
// moves what it reads. One reader asks one replica, as the interface has it.
func TestTheIndexOfAReaderNeverGoesBack(t *testing.T) {
	t.Parallel()
	gates := fleet(t, 2)
	_, _ = world(t, gates[0])
	done := make(chan struct{})
	group, ctx := errgroup.WithContext(t.Context())
	for _, path := range reads {
		group.Go(func() error { return polls(ctx, gates[1], path, done) })
		group.Go(func() error { return polls(ctx, gates[0], path, done) })
	}
	for i := range 50 {
		for _, c := range []change{
			serviceChange("n1", "web", i+1), checkChange("n1", "web", i+1),
			deregisters(`{"Node":"n1","ServiceID":"web"}`), nodeChange("n1", i+1),
		} {
			gates[i%2].write(t, c.method, c.path, c.body)
		}
		if i%10 == 9 { // everything about the node goes
			gates[0].deregister(t, `{"Node":"n1"}`)
			gates[0].write(t, http.MethodPut, registerPath, nodeChange("n1", 0).body)
		}
	}
	close(done)
	require.NoError(t, group.Wait())
}

// polls reads until done, without blocking, and reports an index that is
// below 1 or below an earlier one.
func polls(ctx context.Context, g *gate, path string, done <-chan struct{}) error {
	last, moved := uint64(1), 0
	for {
		select {
		case <-done:
			if moved < 3 && !strings.Contains(path, "nobody") && !strings.Contains(path, "query") && !strings.Contains(path, "connect") {
				return fmt.Errorf("%s: the index moved %d times: nothing was tested", path, moved)
			}
			return nil
		default:
		}
		a, err := g.mustAnswer(ctx, http.MethodGet, path, "")
		switch {
		case err != nil:
			return err
		case a.index() < last:
			return fmt.Errorf("%s: index %d after %d", path, a.index(), last)
		case a.index() > last:
			moved++
		}
		last = a.index()
	}
}

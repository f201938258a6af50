package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"signpost/gateway"
	"signpost/resolver/catalog"
	"signpost/resolver/snapshot"
)

// blocked waits until so many readers wait for a change.
func (r *rig) blocked(n int) {
	r.Helper()
	r.eventually(func() bool { return r.gateway.Blocked() == n }, fmt.Sprint(n, " blocked readers"))
}

// later starts a request and gives a channel for its answer.
func (r *rig) later(target string) <-chan answer {
	out := make(chan answer, 1)
	go func() { out <- r.get(target) }()
	return out
}

func (r *rig) receive(from <-chan answer) answer {
	r.Helper()
	select {
	case a := <-from:
		return a
	case <-time.After(5 * time.Second):
		r.Fatal("no answer")
		return answer{}
	}
}

func TestReadersBlockUntilWhatTheyReadChanges(t *testing.T) {
	t.Parallel()
	for target, change := range map[string]string{
		"/v1/catalog/nodes":         `{"Node": "n9", "Address": "10.0.0.9"}`,
		"/v1/catalog/services":      `{"Node": "n9", "Address": "10.0.0.9", "Service": {"Service": "new"}}`,
		"/v1/catalog/service/web":   `{"Node": "n9", "Address": "10.0.0.9", "Service": {"Service": "web"}}`,
		"/v1/catalog/connect/web":   `{"Node": "n9", "Address": "10.0.0.9", "Service": {"Service": "web", "Connect": {"Native": true}}}`,
		"/v1/catalog/node/n1":       `{"Node": "n1", "Address": "10.0.0.9"}`,
		"/v1/health/service/web":    `{"Node": "n1", "Address": "10.0.0.1", "Check": {"CheckID": "new", "Status": "passing"}}`,
		"/v1/health/connect/web":    `{"Node": "n1", "Address": "10.0.0.1", "Check": {"CheckID": "new", "Status": "passing"}}`,
		"/v1/health/node/n1":        `{"Node": "n1", "Address": "10.0.0.1", "Check": {"CheckID": "new", "Status": "passing"}}`,
		"/v1/health/checks/web":     `{"Node": "n1", "Address": "10.0.0.1", "Check": {"CheckID": "new", "ServiceID": "web1", "Status": "passing"}}`,
		"/v1/query":                 "",
		"/v1/query/" + queryID:      "",
		"/v1/health/service/nobody": `{"Node": "n9", "Address": "10.0.0.9", "Service": {"Service": "nobody"}}`,
	} {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, Config{})
			sample(r)
			index := r.get(target).header.Get("X-Service-Index")
			waiting := r.later(target + "?wait=60s&index=" + index)
			r.blocked(1)
			if change == "" {
				r.state.change(putQuery(queryID, "another name"))
			} else {
				r.register(change)
			}
			got := r.receive(waiting)
			require.Equal(t, 200, got.status)
			require.NotEqual(t, index, got.header.Get("X-Service-Index"))
			require.Equal(t, r.get(target).body, got.body, "what is true now")
			r.blocked(0)
		})
	}
}

func TestReadersWithTheSameQuestionShareItsAnswer(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	shop(r)
	r.state.watching = make(chan struct{}, 100)
	const readers = 50
	index := r.get("/v1/health/service/web").header.Get("X-Service-Index")
	var waiting []<-chan answer
	for i := range readers {
		spelling := []string{
			"tag=v1&passing&wait=60s&token=a", "wait=50s&passing&tag=v1&pretty", "tag=v1&stale&passing",
		}[i%3]
		waiting = append(waiting, r.later("/v1/health/service/"+[]string{"web", "WEB"}[i%2]+"?index="+index+"&"+spelling))
	}
	other := r.later("/v1/health/service/web?tag=v2&index=" + index)
	r.blocked(readers + 1)
	r.eventually(func() bool { return len(r.state.watching) == 2 }, "one watch for each question")
	r.register(`{"Node": "n4", "Address": "10.0.0.4", "Service": {"ID": "web-4", "Service": "web", "Tags": ["v1"]}}`)
	for _, w := range waiting {
		require.Equal(t, "web-1 web-4", ids(t, r.receive(w)))
	}
	require.Equal(t, "web-3", ids(t, r.receive(other)))
}

func TestAReaderIsAnsweredWithoutChangeWhenItsTimeIsOver(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	sample(r)
	for _, index := range []string{"2", "99"} { // an index from the future waits, too
		began := time.Now()
		got := r.get("/v1/query?wait=20ms&index=" + index)
		require.GreaterOrEqual(t, time.Since(began), 20*time.Millisecond)
		require.Equal(t, 200, got.status)
		require.Equal(t, "2", got.header.Get("X-Service-Index"))
	}
}

func TestReadersWhoNeedNotWaitDoNot(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	sample(r)
	for _, target := range []string{
		"/v1/query?index=0&wait=60s", "/v1/query?wait=60s", "/v1/query?index=1&wait=60s",
		"/v1/query/web-q/execute?index=99&wait=60s", "/v1/catalog/datacenters?index=99&wait=60s",
	} {
		require.Equal(t, 200, r.receive(r.later(target)).status, target)
	}
}

func TestReleaseAnswersBlockedReaders(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	sample(r)
	waiting := r.later("/v1/query?index=2&wait=600s")
	r.blocked(1)
	r.gateway.Release()
	require.Equal(t, 200, r.receive(waiting).status)
}

func TestAReaderWhoLeavesIsForgotten(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	sample(r)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { r.sendContext(ctx, http.MethodGet, "/v1/query?index=2&wait=600s", "") })
	r.blocked(1)
	cancel()
	wg.Wait()
	r.blocked(0)
	require.Contains(t, r.log.String(), "the client went away")
	require.NotContains(t, r.log.String(), "level=ERROR")
}

func TestTheTimeOfAReaderIsBoundedAndSpread(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	d := &door{gateway: r.gateway, families: families[:]}
	for text, base := range map[string]time.Duration{
		"": defaultWait, "0s": defaultWait, "-5s": defaultWait, "10s": 10 * time.Second, "1h": maxWait, "1ns": 1, "2m": 2 * time.Minute,
	} {
		seen := map[time.Duration]bool{}
		for range 50 {
			c := callOf(d, request("/v1/query?index=5&wait="+text))
			c.route = &route{path: "/v1/query", sort: watch, op: gateway.QueryList.Info()}
			require.NoError(t, c.readOptions())
			require.Equal(t, catalog.Index(5), c.request.MinIndex)
			require.GreaterOrEqual(t, c.request.Wait, base, text)
			require.LessOrEqual(t, c.request.Wait, base+base/16, text)
			seen[c.request.Wait] = true
		}
		require.True(t, base < time.Second || len(seen) > 1, "%s: they would all come back at once", text)
	}
}

func TestKeysTellQuestionsApart(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	d := &door{gateway: r.gateway, families: families[:]}
	seen := map[string]string{}
	for _, query := range []string{
		"", "tag=a", "tag=a&tag=b", "tag=a%22b", "tag=a%26tag%3Db", "node-meta=a:b", "node-meta=a:b&node-meta=a:c",
		"node-meta=a:c&node-meta=a:b", "passing", "passing=0", "filter=Node==a", "tag=a&passing",
	} {
		c := callOf(d, request("/v1/query?index=5&"+query))
		c.route = &route{path: "/v1/query", sort: watch}
		require.NoError(t, c.readOptions())
		require.Empty(t, seen[c.request.Key], "%q has the key of %q", query, seen[c.request.Key])
		seen[c.request.Key] = query
	}
}

func TestReadersWhoWakeTogetherShareTheBytes(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	sample(r)
	d := &door{gateway: r.gateway, families: families[:]}
	const readers = 100
	var encoded atomic.Int32
	var wg sync.WaitGroup
	for range readers {
		wg.Go(func() {
			c := callOf(d, request("/v1/query?index=2"))
			c.route = &route{path: "/v1/query", sort: watch}
			require.NoError(t, c.readOptions())
			require.NoError(t, ask(c, &gateway.QueryList, gateway.None{}, func(_ *call, b []byte, q []*snapshot.QueryEntry) []byte {
				encoded.Add(1)
				return appendList(b, q, appendQuery)
			}))
			require.Contains(t, string(c.body), `"Name":"renamed"`)
		})
	}
	r.blocked(readers)
	r.state.change(putQuery(queryID, "renamed"))
	wg.Wait()
	require.Less(t, encoded.Load(), int32(readers), "those who come while it is being written may write it themselves, others not")
}

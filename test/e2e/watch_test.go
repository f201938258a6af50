package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// change is one write, named after what it changes.
type change struct{ method, path, body string }

func registers(body string) change   { return change{http.MethodPut, registerPath, body} }
func deregisters(body string) change { return change{http.MethodPut, deregisterPath, body} }

// The world of these tests: web is on n1, api on n2.
func world(t testing.TB, g *gate) (query, other string) {
	t.Helper()
	for _, c := range []change{
		nodeChange("n1", 0), nodeChange("n2", 0), serviceChange("n1", "web", 0), serviceChange("n2", "api", 0),
		checkChange("n1", "web", 0), checkChange("n2", "api", 0), checkChange("n1", "", 0),
	} {
		g.write(t, c.method, c.path, c.body)
	}
	return g.createQuery(t, queryBody("mine", 0)), g.createQuery(t, queryBody("other", 0))
}

// Each of these is another content for every i.

func nodeChange(node string, i int) change {
	return registers(fmt.Sprintf(`{"Node":%q,"Address":"10.0.0.1","NodeMeta":{"v":"%d"}}`, node, i))
}

func serviceChange(node, service string, i int) change {
	return registers(fmt.Sprintf(`{"Node":%q,"SkipNodeUpdate":true,"Service":{"Service":%q,"Port":%d}}`, node, service, 80+i))
}

// checkChange is of a check of a service, or of the node if service is empty.
func checkChange(node, service string, i int) change {
	status := []string{"passing", "warning", "critical"}[i%3]
	return registers(fmt.Sprintf(`{"Node":%q,"SkipNodeUpdate":true,"Check":{"CheckID":"of:%s","Name":"alive","ServiceID":%q,"Status":%q,"Output":"%d"}}`,
		node, service, service, status, i))
}

func queryBody(name string, i int) string {
	return fmt.Sprintf(`{"Name":%q,"Service":{"Service":"web"},"DNS":{"TTL":"%ds"}}`, name, i+1)
}

// writesOf are the writes of the table below, each by what it changes.
func writesOf(query, other string) map[string]func(i int) change {
	fixed := func(c change) func(int) change { return func(int) change { return c } }
	return map[string]func(i int) change{
		"a new node":   func(i int) change { return nodeChange(fmt.Sprint("new-", i), i) },
		"the node":     func(i int) change { return nodeChange("n1", i+1) },
		"another node": func(i int) change { return nodeChange("n2", i+1) },
		"the service":  func(i int) change { return serviceChange("n1", "web", i+1) },
		"an instance elsewhere": func(i int) change {
			return registers(fmt.Sprintf(`{"Node":"n2","SkipNodeUpdate":true,"Service":{"ID":"web-%d","Service":"web"}}`, i))
		},
		"another service":            func(i int) change { return serviceChange("n2", "api", i+1) },
		"a service on the node":      func(i int) change { return serviceChange("n1", fmt.Sprint("new-", i), i) },
		"the check":                  func(i int) change { return checkChange("n1", "web", i+1) },
		"the check of the node":      func(i int) change { return checkChange("n1", "", i+1) },
		"another check":              func(i int) change { return checkChange("n2", "api", i+1) },
		"the query":                  func(i int) change { return change{http.MethodPut, "/v1/query/" + query, queryBody("mine", i+1)} },
		"another query":              func(i int) change { return change{http.MethodPut, "/v1/query/" + other, queryBody("other", i+1)} },
		"a new query":                func(i int) change { return change{http.MethodPost, "/v1/query", queryBody(fmt.Sprint("new-", i), i)} },
		"removal of the service":     fixed(deregisters(`{"Node":"n1","ServiceID":"web"}`)),
		"removal of another service": fixed(deregisters(`{"Node":"n2","ServiceID":"api"}`)),
		"removal of the check":       fixed(deregisters(`{"Node":"n1","CheckID":"of:web"}`)),
		"removal of another check":   fixed(deregisters(`{"Node":"n2","CheckID":"of:api"}`)),
		"removal of the node":        fixed(deregisters(`{"Node":"n1"}`)),
		"removal of another node":    fixed(deregisters(`{"Node":"n2"}`)),
		"removal of another query":   fixed(change{http.MethodDelete, "/v1/query/" + other, ""}),
	}
}

func TestReadersWakeForTheirOwnChangesAlone(t *testing.T) {
	t.Parallel()
	var (
		nodes     = []string{"a new node", "the node", "another node"}
		services  = []string{"the service", "another service", "a service on the node", "an instance elsewhere"}
		checks    = []string{"the check", "the check of the node", "another check"}
		queries   = []string{"the query", "another query", "a new query"}
		ofService = []string{"the service", "an instance elsewhere", "the check", "the check of the node", "the node"}
		elsewhere = []string{"another service", "another check", "another node", "a new node", "a service on the node", "removal of another check", "removal of another service"}
		// What is foreign to everything that is asked about the node n1.
		offNode = with(queries, []string{"another node", "a new node", "another service", "another check", "an instance elsewhere", "removal of another check", "removal of another node"})
	)
	for _, tc := range []struct {
		path  string
		own   []string // in this order, twice
		gone  []string // own, too; made last
		other []string
	}{
		{"/v1/query", queries, []string{"removal of another query"}, with(nodes, services, checks)},
		{"/v1/query/ID", []string{"the query"}, nil, with(nodes, services, checks, []string{"another query", "a new query", "removal of another query"})},
		{"/v1/catalog/nodes", nodes, []string{"removal of another node"}, with(queries, services, checks)},
		{"/v1/catalog/services", services, []string{"removal of the service", "removal of another node"}, with(queries, nodes, checks)},
		{"/v1/catalog/node/n1", []string{"the node", "the service", "a service on the node"}, []string{"removal of the service", "removal of the node"},
			with(offNode, []string{"the check", "the check of the node", "removal of the check"})},
		{"/v1/health/node/n1", []string{"the check", "the check of the node"}, []string{"removal of the check", "removal of the service", "removal of the node"}, offNode},
		{"/v1/health/checks/web", []string{"the check", "an instance elsewhere"}, []string{"removal of the check", "removal of the service"}, with(queries, elsewhere)},
		{"/v1/health/service/web", ofService, []string{"removal of the check", "removal of the service"}, with(queries, elsewhere)},
		{"/v1/catalog/service/web", ofService, []string{"removal of the node"}, with(queries, elsewhere)},
		{"/v1/health/service/web?passing", ofService, nil, with(queries, elsewhere)},
	} {
		t.Run(tc.path, func(t *testing.T) {
			t.Parallel()
			g := fleet(t, 1)[0]
			query, other := world(t, g)
			writes := writesOf(query, other)
			path := tc.path
			if path == "/v1/query/ID" {
				path = "/v1/query/" + query
			}
			write := func(name string, i int) {
				w, known := writes[name]
				require.True(t, known, name)
				c := w(i)
				g.write(t, c.method, c.path, c.body)
			}
			for i, own := range with(tc.own, tc.own, tc.gone) {
				before := g.get(t, path)
				answers := block(t, g, path, before.index())
				if i == 0 {
					for j, name := range tc.other {
						write(name, 100+j)
						require.Equal(t, before.index(), g.get(t, path).index(), "%s moved the index", name)
					}
					select {
					case a := <-answers:
						t.Fatalf("the reader woke for nothing: %v", a)
					default:
					}
				}
				write(own, i)
				after := g.get(t, path)
				require.Greater(t, after.index(), before.index(), own)
				select {
				case a := <-answers:
					require.NoError(t, a.err, own)
					require.Equal(t, after.index(), a.index(), own)
					require.Equal(t, after.body, a.body, own)
				case <-time.After(20 * time.Second):
					t.Fatalf("%s woke nobody", own)
				}
			}
		})
	}
}

func with(lists ...[]string) (all []string) {
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}

type blockedAnswer struct {
	answer
	err error
}

// block starts one blocked reader, and returns when it blocks.
func block(t testing.TB, g *gate, path string, index uint64) <-chan blockedAnswer {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	out := make(chan blockedAnswer, 1)
	blocked(t, g, 0)
	go func() {
		a, err := g.try(ctx, http.MethodGet, withQuery(path, fmt.Sprintf("index=%d&wait=5m", index)), "")
		out <- blockedAnswer{a, err}
	}()
	blocked(t, g, 1)
	return out
}

// withQuery adds parameters to a path that may have some.
func withQuery(path, query string) string {
	for _, c := range path {
		if c == '?' {
			return path + "&" + query
		}
	}
	return path + "?" + query
}

func TestABlockedReadEndsWithItsWaitAndTheSameIndex(t *testing.T) {
	t.Parallel()
	g := fleet(t, 1)[0]
	query, _ := world(t, g)
	for _, path := range []string{
		"/v1/query", "/v1/query/" + query, "/v1/catalog/nodes", "/v1/catalog/services", "/v1/catalog/service/web",
		"/v1/catalog/node/n1", "/v1/health/service/web", "/v1/health/node/n1", "/v1/health/checks/web", "/v1/health/service/nobody",
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			before := g.get(t, path)
			for _, index := range []uint64{before.index(), before.index() + 1000} {
				began := time.Now()
				after := g.get(t, fmt.Sprintf("%s?index=%d&wait=200ms", path, index))
				took := time.Since(began)
				require.GreaterOrEqual(t, took, 200*time.Millisecond)
				require.Less(t, took, 5*time.Second)
				require.Equal(t, before.index(), after.index())
				require.Equal(t, before.body, after.body)
			}
			began := time.Now()
			g.get(t, fmt.Sprintf("%s?index=0&wait=5m", path))
			require.Less(t, time.Since(began), 5*time.Second, "index 0 does not block")
		})
	}
}

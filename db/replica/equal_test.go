package replica_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"signpost/resolver/catalog"
	"signpost/resolver/snapshot"
)

// world makes random changes, through a store and as an operator would.
type world struct {
	t        *testing.T
	rand     *rand.Rand
	m        *member
	operator *pgx.Conn
	queries  []string
}

func (w *world) pick(of string, n int) string { return fmt.Sprint(of, w.rand.IntN(n)) }

func (w *world) step() {
	node, id, name := w.pick("Node-", 4), w.pick("id-", 4), w.pick("Svc-", 3)
	switch w.rand.IntN(18) {
	case 0, 1, 2, 3:
		r := registration(node, id, name, w.rand.IntN(5), catalog.Passing)
		if w.rand.IntN(3) == 0 {
			r.Service.Connect.Native = true
		}
		if w.rand.IntN(3) == 0 {
			r.Service.Kind, r.Service.Proxy = catalog.KindConnectProxy, &catalog.Proxy{DestinationServiceName: w.pick("Svc-", 3)}
		}
		r.Node.Address = w.pick("10.0.0.", 3)
		w.m.apply(w.t, r)
	case 4, 5:
		status := []catalog.Status{catalog.Passing, catalog.Warning, catalog.Critical}[w.rand.IntN(3)]
		w.m.apply(w.t, catalog.Registration{
			Node: catalog.Node{Name: node, Address: "10.0.0.9"}, SkipNodeUpdate: true,
			Checks: []catalog.Check{{Node: node, ID: w.pick("node-check-", 2), Status: status}},
		})
	case 6:
		w.m.apply(w.t, catalog.Deregistration{Node: node, ServiceID: id})
	case 7:
		w.m.apply(w.t, catalog.Deregistration{Node: node, CheckID: "check:" + id})
	case 8:
		w.m.apply(w.t, catalog.Deregistration{Node: node, CheckID: w.pick("node-check-", 2)})
	case 9:
		w.m.apply(w.t, catalog.Deregistration{Node: node})
	case 10:
		w.sql(`UPDATE signpost.services SET name = $1 WHERE id = $2`, name, id)
	case 11: // a check moves to another service, or becomes the node's
		w.sql(`UPDATE signpost.checks c SET service_id = (SELECT s.id FROM signpost.services s WHERE s.node = c.node ORDER BY random() LIMIT 1) WHERE c.id = $1`, "check:"+id)
		w.sql(`UPDATE signpost.checks SET service_id = NULL WHERE id = $1`, "check:"+w.pick("id-", 4))
	case 12:
		w.sql(`UPDATE signpost.nodes SET name = name || 'x' WHERE name = $1 AND NOT EXISTS (SELECT FROM signpost.nodes WHERE lower(name) = lower($1 || 'x'))`, node)
		w.sql(`UPDATE signpost.nodes SET name = upper(name) WHERE name = $1`, node+"x")
	case 13:
		w.sql(`DELETE FROM signpost.services WHERE name = $1`, name)
	case 14:
		w.query()
	case 15:
		w.sql(`DELETE FROM signpost.sessions WHERE id = (SELECT id FROM signpost.sessions ORDER BY random() LIMIT 1)`)
	case 16:
		w.sql(`UPDATE signpost.services SET port = port`)
		w.sql(`UPDATE signpost.services SET details = '{}' WHERE id = $1`, id)
	case 17:
		if w.rand.IntN(10) == 0 {
			w.sql(`SELECT signpost.trim_tombstones(5)`)
		}
		if w.rand.IntN(20) == 0 {
			w.sql(`TRUNCATE signpost.services CASCADE`)
		}
	}
}

func (w *world) query() {
	if w.rand.IntN(2) == 0 || len(w.queries) == 0 {
		id, session := uuid.NewString(), uuid.NewString()
		w.sql(`INSERT INTO signpost.sessions (id, node) SELECT $1::text::uuid, name FROM signpost.nodes LIMIT 1`, session)
		q := catalog.Query{ID: id, Name: w.pick("Q-", 3), Service: catalog.QueryService{Service: "svc-1"}}
		if w.rand.IntN(2) == 0 {
			q.Session = session
		}
		if _, err := w.m.store.Apply(context.Background(), catalog.CreateQuery{Query: q}); err == nil {
			w.queries = append(w.queries, id)
		}
		return
	}
	w.sql(`UPDATE signpost.queries SET name = $2 WHERE id = $1::text::uuid AND NOT EXISTS (SELECT FROM signpost.queries WHERE lower(name) = lower($2))`,
		w.queries[w.rand.IntN(len(w.queries))], w.pick("Q-", 3))
}

func (w *world) sql(sql string, args ...any) { exec(w.t, w.operator, sql, args...) }

// TestARestartedReplicaIsEqual: what was followed change by change and what is
// loaded afresh are the same, in content and in every index.
func TestARestartedReplicaIsEqual(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			url := newDatabase(t)
			followed, _ := join(t, url, "followed")
			w := &world{t: t, rand: rand.New(rand.NewPCG(seed, 1)), m: followed, operator: psql(t, url)}
			for range 6 {
				for range 60 {
					w.step()
				}
				fresh, stop := join(t, url, "fresh")
				require.NoError(t, followed.Barrier(context.Background()))
				a, b := followed.Snapshot(), fresh.Snapshot()
				require.Equal(t, a.Index(), b.Index())
				require.Equal(t, a.Transaction(), b.Transaction())
				requireEqual(t, a, b, w.queries)
				stop()
			}
		})
	}
}

func requireEqual(t *testing.T, a, b *snapshot.Snapshot, queries []string) {
	t.Helper()
	require.Equal(t, contents(a), contents(b))
	for _, thing := range universe(queries) {
		require.Equal(t, a.IndexOf(thing), b.IndexOf(thing), "%s %q", thing.Kind, thing.Name)
	}
}

// universe is every thing that the world may have touched.
func universe(queries []string) []snapshot.Thing {
	things := []snapshot.Thing{
		{Kind: snapshot.Nodes}, {Kind: snapshot.Services}, {Kind: snapshot.Checks}, {Kind: snapshot.Queries},
	}
	for i := range 4 {
		for _, suffix := range []string{"", "x", "xx"} {
			name := fmt.Sprint("node-", i, suffix)
			things = append(things, snapshot.Of(snapshot.Node, name), snapshot.Of(snapshot.NodeCheck, name))
		}
		things = append(things, snapshot.Of(snapshot.Service, fmt.Sprint("svc-", i)), snapshot.Of(snapshot.Mesh, fmt.Sprint("svc-", i)),
			snapshot.Of(snapshot.QueryName, fmt.Sprint("q-", i)))
	}
	for _, id := range queries {
		things = append(things, snapshot.Of(snapshot.Query, id))
	}
	return things
}

func show(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// contents writes a snapshot down, with every join that it holds ready.
func contents(s *snapshot.Snapshot) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	instance := func(of string, i *snapshot.Instance) {
		add("%s: %s on %s", of, show(i.Service), show(i.Node))
		for _, c := range i.Checks {
			add("%s:   %s", of, show(c))
		}
	}
	for n := range s.Nodes() {
		add("node %s", show(n.Node))
		for _, c := range n.Checks {
			add("node:   %s", show(c))
		}
		for _, i := range n.Instances {
			instance("node", i)
		}
	}
	for service := range s.Services() {
		for _, i := range service.Instances {
			instance("service "+service.Name, i)
		}
		if mesh := s.Mesh(service.Name); mesh != nil {
			for _, i := range mesh.Instances {
				instance("mesh "+service.Name, i)
			}
		}
	}
	for q := range s.Queries() {
		add("query %s, by name %v", show(q.Query), q.Name == "" || s.QueryNamed(q.Name) == q)
	}
	return out
}

// TestAnIndexMovesWithWhatItIsTheIndexOf: whenever a reader of a thing would
// see something else, the thing's index is another, greater one.
func TestAnIndexMovesWithWhatItIsTheIndexOf(t *testing.T) {
	t.Parallel()
	url := newDatabase(t)
	m, _ := join(t, url, "one")
	w := &world{t: t, rand: rand.New(rand.NewPCG(7, 7)), m: m, operator: psql(t, url)}
	before, moved := m.Snapshot(), 0
	for range 500 {
		w.step()
		require.NoError(t, m.Barrier(context.Background()))
		after := m.Snapshot()
		for _, thing := range universe(w.queries) {
			was, is := before.IndexOf(thing), after.IndexOf(thing)
			require.GreaterOrEqual(t, is, was, "%s %q went back", thing.Kind, thing.Name)
			if old, now := seen(before, thing), seen(after, thing); old != now {
				moved++
				require.Greater(t, is, was, "%s %q changed from %s to %s", thing.Kind, thing.Name, old, now)
			}
		}
		before = after
	}
	require.Greater(t, moved, 500, "too little happened to show anything")
}

// seen is what a reader of a thing can see of it.
func seen(s *snapshot.Snapshot, thing snapshot.Thing) string {
	instances := func(e *snapshot.ServiceEntry) (out string) {
		if e == nil {
			return "none"
		}
		for _, i := range e.Instances {
			out += show(i.Service) + " on " + show(i.Node)
			for _, c := range i.Checks {
				out += show(c)
			}
		}
		return out
	}
	out := ""
	switch thing.Kind {
	case snapshot.Nodes:
		for n := range s.Nodes() {
			out += show(n.Node)
		}
	case snapshot.Services, snapshot.Checks:
		for n := range s.Nodes() {
			for _, i := range n.Instances {
				if thing.Kind == snapshot.Services {
					out += show(i.Service)
				}
			}
			for _, c := range n.Checks {
				if thing.Kind == snapshot.Checks {
					out += show(c)
				}
			}
		}
	case snapshot.Node:
		if n := s.Node(thing.Name); n != nil {
			out = show(n.Node)
			for _, i := range n.Instances {
				out += show(i.Service)
			}
		}
	case snapshot.NodeCheck:
		if n := s.Node(thing.Name); n != nil {
			for _, c := range n.Checks {
				out += show(c)
			}
		}
	case snapshot.Service:
		out = instances(s.Service(thing.Name))
	case snapshot.Mesh:
		out = instances(s.Mesh(thing.Name))
	case snapshot.Queries:
		for q := range s.Queries() {
			out += show(q.Query)
		}
	case snapshot.Query:
		if q := s.Query(thing.Name); q != nil {
			out = show(q.Query)
		}
	case snapshot.QueryName:
		if q := s.QueryNamed(thing.Name); q != nil {
			out = show(q.Query)
		}
	}
	return out
}

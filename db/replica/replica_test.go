package replica_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"signpost/resolver/catalog"
	"signpost/resolver/snapshot"
)

func TestAWriteReachesEveryReplica(t *testing.T) {
	t.Parallel()
	members := fleet(t, newDatabase(t), 2)
	out := members[0].apply(t, registration("n1", "web-1", "Web", 80, catalog.Passing))
	for _, m := range members {
		m.reach(t, out.Index)
		service := m.Snapshot().Service("wEB")
		require.NotNil(t, service)
		require.Len(t, service.Instances, 1)
		inst := service.Instances[0]
		require.Equal(t, 80, inst.Service.Port)
		require.Equal(t, "n1", inst.Node.Name)
		require.Len(t, inst.Checks, 1)
		require.Equal(t, out.Index, m.Snapshot().IndexOf(snapshot.Of(snapshot.Service, "web")))
	}
}

func TestAnIdenticalWriteMovesNoIndex(t *testing.T) {
	t.Parallel()
	m, _ := join(t, newDatabase(t), "one")
	first := m.apply(t, registration("n1", "web-1", "web", 80, catalog.Passing))
	again := m.apply(t, registration("n1", "web-1", "web", 80, catalog.Passing))
	require.Equal(t, first.Index, again.Index)
	other := m.apply(t, registration("n1", "web-1", "web", 81, catalog.Passing))
	require.Greater(t, other.Index, first.Index)
	m.reach(t, other.Index)
	n := m.Snapshot().Node("n1")
	require.Equal(t, first.Index, n.Node.ModifyIndex, "the node was not changed")
	require.Equal(t, first.Index, n.Checks[0].ModifyIndex, "the check was not changed")
	require.Equal(t, first.Index, n.Instances[0].Service.CreateIndex)
	require.Equal(t, other.Index, n.Instances[0].Service.ModifyIndex)
}

func TestCascadesAndOperatorsReachEveryReplica(t *testing.T) {
	t.Parallel()
	url := newDatabase(t)
	members := fleet(t, url, 2)
	m := members[0]
	m.apply(t, registration("N1", "web-1", "web", 80, catalog.Passing))
	m.apply(t, registration("n2", "web-2", "web", 80, catalog.Passing))
	operator := psql(t, url)
	session, query := uuid.NewString(), uuid.NewString()
	exec(t, operator, `INSERT INTO signpost.sessions (id, node) VALUES ($1, 'N1')`, session)
	m.apply(t, catalog.CreateQuery{Query: catalog.Query{ID: query, Name: "q", Session: session, Service: catalog.QueryService{Service: "web"}}})
	exec(t, operator, `UPDATE signpost.services SET port = 8080 WHERE id = 'web-2'`)
	for _, m := range members {
		within(t, 5*time.Second, "the operator's update", func() bool {
			s := m.Snapshot().Service("web")
			return s != nil && len(s.Instances) == 2 && s.Instances[1].Service.Port == 8080
		})
		require.NotNil(t, m.Snapshot().QueryNamed("Q"))
	}
	out := m.apply(t, catalog.Deregistration{Node: "n1"})
	for _, m := range members {
		m.reach(t, out.Index)
		s := m.Snapshot()
		require.Nil(t, s.Node("n1"))
		require.Nil(t, s.Query(query), "it went with its session, and that with its node")
		require.Nil(t, s.QueryNamed("q"))
		require.Len(t, s.Service("web").Instances, 1)
		for _, thing := range []snapshot.Thing{
			{Kind: snapshot.Nodes}, {Kind: snapshot.Services}, {Kind: snapshot.Checks}, {Kind: snapshot.Queries},
			snapshot.Of(snapshot.Service, "web"), snapshot.Of(snapshot.Node, "n1"), snapshot.Of(snapshot.Query, query),
			snapshot.Of(snapshot.QueryName, "q"), snapshot.Of(snapshot.NodeCheck, "n1"),
		} {
			require.Equal(t, out.Index, s.IndexOf(thing), "%v", thing)
		}
	}
	exec(t, operator, `TRUNCATE signpost.nodes CASCADE`)
	for _, m := range members {
		within(t, 5*time.Second, "the truncation", func() bool { return m.Snapshot().NodeCount() == 0 })
	}
}

func TestARenamedNodeTakesItsServicesAlong(t *testing.T) {
	t.Parallel()
	url := newDatabase(t)
	m, _ := join(t, url, "one")
	m.apply(t, registration("n1", "web-1", "web", 80, catalog.Passing))
	operator := psql(t, url)
	for _, name := range []string{"N1", "other"} { // in case only, then wholly
		exec(t, operator, `UPDATE signpost.nodes SET name = $1`, name)
		within(t, 5*time.Second, "the rename", func() bool {
			n := m.Snapshot().Node(name)
			return n != nil && n.Node.Name == name
		})
		s := m.Snapshot()
		require.Equal(t, 1, s.NodeCount())
		require.Len(t, s.Service("web").Instances, 1)
		require.Equal(t, name, s.Service("web").Instances[0].Node.Name)
		require.Len(t, s.Service("web").Instances[0].Checks, 1)
	}
}

func TestRefusalsNameTheRightWrite(t *testing.T) {
	t.Parallel()
	m, _ := join(t, newDatabase(t), "one")
	m.apply(t, registration("n1", "web-1", "web", 80, catalog.Passing))
	query := func(name string) catalog.Query {
		return catalog.Query{ID: uuid.NewString(), Name: name, Service: catalog.QueryService{Service: "web"}}
	}
	m.apply(t, catalog.CreateQuery{Query: query("taken")})
	bad := []struct {
		write catalog.Write
		code  catalog.Code
	}{
		{catalog.CreateQuery{Query: query("TAKEN")}, catalog.Conflict},
		{catalog.UpdateQuery{Query: query("new")}, catalog.NotFound},
		{catalog.DeleteQuery{ID: uuid.NewString()}, catalog.NotFound},
		{catalog.CreateQuery{Query: catalog.Query{ID: uuid.NewString(), Session: uuid.NewString(), Service: catalog.QueryService{Service: "web"}}}, catalog.Invalid},
		{catalog.CreateQuery{Query: catalog.Query{ID: uuid.NewString(), Session: "abc", Service: catalog.QueryService{Service: "web"}}}, catalog.Invalid},
		{catalog.Registration{Node: catalog.Node{Name: "n9", Address: "x"}, Checks: []catalog.Check{{Node: "n9", ID: "c", ServiceID: "nope"}}}, catalog.Invalid},
	}
	type answer struct {
		i    int
		good bool
		err  error
	}
	answers := make(chan answer)
	const each = 8
	for i := range bad {
		for j := range each { // bad ones among good ones: the good ones must not suffer
			go func() {
				_, err := m.store.Apply(context.Background(), bad[i].write)
				answers <- answer{i, false, err}
			}()
			go func() {
				_, err := m.store.Apply(context.Background(), registration("n1", fmt.Sprint("s", i, "-", j), "good", 1, catalog.Passing))
				answers <- answer{i, true, err}
			}()
		}
	}
	for range 2 * each * len(bad) {
		a := <-answers
		if a.good {
			require.NoError(t, a.err)
			continue
		}
		require.Error(t, a.err, "%d", a.i)
		require.Equal(t, bad[a.i].code, catalog.CodeOf(a.err), "%d: %v", a.i, a.err)
	}
	require.Positive(t, m.store.Stats().Halved.Load(), "no group was ever refused: nothing was tested")
	out := m.apply(t, registration("n1", "last", "last", 1, catalog.Passing))
	m.reach(t, out.Index)
	require.Len(t, m.Snapshot().Service("good").Instances, each*len(bad))
	require.Nil(t, m.Snapshot().Node("n9"), "nothing of a refused write may be stored")
}

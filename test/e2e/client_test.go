package e2e_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"
	"github.com/stretchr/testify/require"
)

// published is the published Go client of the interface, pointed at a gateway
// and otherwise as it comes: it reads the X-Consul-* headers.
func published(t testing.TB, g *gate) *api.Client {
	t.Helper()
	transport := &http.Transport{}
	client, err := api.NewClient(&api.Config{Address: g.HTTP().String(), Transport: transport})
	require.NoError(t, err)
	t.Cleanup(transport.CloseIdleConnections)
	return client
}

// webOn registers an instance of web with one check, by the published client.
func webOn(t testing.TB, c *api.Client, node, address, status string) {
	t.Helper()
	_, err := c.Catalog().Register(&api.CatalogRegistration{
		Node: node, Address: address, NodeMeta: map[string]string{"rack": "r1"},
		Service: &api.AgentService{
			ID: "web-1", Service: "web", Tags: []string{"v1", "public"}, Meta: map[string]string{"version": "2"},
			Port: 8080, Weights: api.AgentWeights{Passing: 5, Warning: 1},
		},
		Check: &api.AgentCheck{
			Node: node, CheckID: "service:web-1", Name: "answers", Status: status, Output: "200 OK", ServiceID: "web-1", ServiceName: "web",
			Definition: api.HealthCheckDefinition{HTTP: "http://localhost/health", IntervalDuration: 10 * time.Second, TimeoutDuration: time.Second},
		},
		Checks: api.HealthChecks{{Node: node, CheckID: "disk", Name: "disk", Status: api.HealthPassing}},
	}, nil)
	require.NoError(t, err)
}

func TestThePublishedClientReadsTheCatalog(t *testing.T) {
	t.Parallel()
	c := published(t, fleet(t, 1)[0])
	webOn(t, c, "n1", "10.0.0.1", api.HealthPassing)

	nodes, meta, err := c.Catalog().Nodes(&api.QueryOptions{NodeMeta: map[string]string{"rack": "r1"}})
	require.NoError(t, err)
	require.Len(t, nodes, 1)
	require.Equal(t, "10.0.0.1", nodes[0].Address)
	require.True(t, meta.KnownLeader)
	require.Zero(t, meta.LastContact)
	require.Greater(t, meta.LastIndex, uint64(1))

	services, _, err := c.Catalog().Services(nil)
	require.NoError(t, err)
	require.Equal(t, map[string][]string{"web": {"public", "v1"}}, services)

	instances, _, err := c.Catalog().Service("web", "v1", &api.QueryOptions{AllowStale: true})
	require.NoError(t, err)
	require.Len(t, instances, 1)
	require.Equal(t, 8080, instances[0].ServicePort)
	require.Equal(t, api.Weights{Passing: 5, Warning: 1}, instances[0].ServiceWeights)

	node, _, err := c.Catalog().Node("n1", &api.QueryOptions{RequireConsistent: true})
	require.NoError(t, err)
	require.Equal(t, "web", node.Services["web-1"].Service)
	node, _, err = c.Catalog().Node("nobody", nil)
	require.NoError(t, err)
	require.Nil(t, node)

	datacenters, err := c.Catalog().Datacenters()
	require.NoError(t, err)
	require.Equal(t, []string{"dc1"}, datacenters)
	leader, err := c.Status().Leader()
	require.NoError(t, err)
	peers, err := c.Status().Peers()
	require.NoError(t, err)
	require.Contains(t, peers, leader)
}

func TestThePublishedClientReadsHealth(t *testing.T) {
	t.Parallel()
	c := published(t, fleet(t, 1)[0])
	webOn(t, c, "n1", "10.0.0.1", api.HealthPassing)
	webOn(t, c, "n2", "10.0.0.2", api.HealthCritical)

	all, meta, err := c.Health().Service("web", "", false, nil)
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.True(t, meta.KnownLeader)
	passing, _, err := c.Health().Service("web", "public", true, &api.QueryOptions{Filter: `Service.Meta.version == "2"`})
	require.NoError(t, err)
	require.Len(t, passing, 1)
	entry := passing[0]
	require.Equal(t, "n1", entry.Node.Node)
	require.Equal(t, map[string]string{"rack": "r1"}, entry.Node.Meta)
	require.Equal(t, "web-1", entry.Service.ID)
	require.Equal(t, api.HealthPassing, entry.Checks.AggregatedStatus())
	require.Len(t, entry.Checks, 2)

	checks, _, err := c.Health().Checks("web", nil)
	require.NoError(t, err)
	require.Len(t, checks, 2)
	require.Equal(t, "http://localhost/health", checks[0].Definition.HTTP)
	require.Equal(t, 10*time.Second, checks[0].Definition.IntervalDuration)
	checks, _, err = c.Health().Node("n2", nil)
	require.NoError(t, err)
	require.Len(t, checks, 2)

	_, err = c.Catalog().Deregister(&api.CatalogDeregistration{Node: "n1"}, nil)
	require.NoError(t, err)
	all, _, err = c.Health().Service("web", "", false, nil)
	require.NoError(t, err)
	require.Len(t, all, 1)
}

func TestThePublishedClientWorksWithQueries(t *testing.T) {
	t.Parallel()
	c := published(t, fleet(t, 1)[0])
	webOn(t, c, "n1", "10.0.0.1", api.HealthPassing)
	webOn(t, c, "n2", "10.0.0.2", api.HealthWarning)
	queries := c.PreparedQuery()
	definition := &api.PreparedQueryDefinition{
		Name: "find-web",
		Service: api.ServiceQuery{
			Service: "web", OnlyPassing: true, Tags: []string{"v1", "!canary"}, NodeMeta: map[string]string{"rack": "r1"},
			ServiceMeta: map[string]string{"version": "2"}, Failover: api.QueryFailoverOptions{Datacenters: []string{"dc1"}},
		},
		DNS: api.QueryDNSOptions{TTL: "10s"},
	}
	id, _, err := queries.Create(definition, nil)
	require.NoError(t, err)

	read, meta, err := queries.Get(id, nil)
	require.NoError(t, err)
	require.True(t, meta.KnownLeader)
	require.Len(t, read, 1)
	definition.ID = id
	require.Equal(t, definition, read[0])
	list, _, err := queries.List(nil)
	require.NoError(t, err)
	require.Equal(t, read, list)

	for _, by := range []string{id, "find-web", "FIND-WEB"} {
		found, _, err := queries.Execute(by, nil)
		require.NoError(t, err)
		require.Equal(t, "web", found.Service)
		require.Equal(t, "dc1", found.Datacenter)
		require.Equal(t, "10s", found.DNS.TTL)
		require.Zero(t, found.Failovers)
		require.Len(t, found.Nodes, 1)
		require.Equal(t, "10.0.0.1", found.Nodes[0].Node.Address)
	}

	read[0].Service.OnlyPassing, read[0].Name = false, "find-all"
	_, err = queries.Update(read[0], nil)
	require.NoError(t, err)
	found, _, err := queries.Execute("find-all", nil)
	require.NoError(t, err)
	require.Len(t, found.Nodes, 2)
	_, _, err = queries.Execute("find-web", nil)
	require.ErrorContains(t, err, "404")

	_, err = queries.Delete(id, nil)
	require.NoError(t, err)
	_, _, err = queries.Get(id, nil)
	require.ErrorContains(t, err, "404")
	_, err = queries.Delete(id, nil)
	require.Error(t, err)
	list, _, err = queries.List(nil)
	require.NoError(t, err)
	require.Empty(t, list)
}

func TestThePublishedClientWakesOnAChange(t *testing.T) {
	t.Parallel()
	gates := fleet(t, 2)
	reader, writer := published(t, gates[0]), published(t, gates[1])
	webOn(t, writer, "n1", "10.0.0.1", api.HealthPassing)
	_, meta, err := reader.Health().Service("web", "", false, &api.QueryOptions{RequireConsistent: true})
	require.NoError(t, err)

	type woken struct {
		entries []*api.ServiceEntry
		meta    *api.QueryMeta
		err     error
	}
	answers := make(chan woken, 1)
	go func() {
		entries, meta, err := reader.Health().Service("web", "", false, &api.QueryOptions{WaitIndex: meta.LastIndex, WaitTime: time.Minute})
		answers <- woken{entries, meta, err}
	}()
	within(t, 10*time.Second, "the reader blocks", func() bool { return gates[0].Gateway().Blocked() == 1 })
	webOn(t, writer, "n2", "10.0.0.2", api.HealthPassing)
	select {
	case a := <-answers:
		require.NoError(t, a.err)
		require.Len(t, a.entries, 2)
		require.Greater(t, a.meta.LastIndex, meta.LastIndex)
	case <-time.After(20 * time.Second):
		t.Fatal("the change woke nobody")
	}
}

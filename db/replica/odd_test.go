package replica_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"signpost/resolver/catalog"
)

// TestOddValuesOfOperatorsStopNobody: what a hand-typed statement stores may
// have any type inside its JSON. It is read as far as it can be, the same by
// who follows and by who loads, and what comes after it is read too.
func TestOddValuesOfOperatorsStopNobody(t *testing.T) {
	t.Parallel()
	url := newDatabase(t)
	m, _ := join(t, url, "follower")
	m.apply(t, registration("n1", "web-1", "web", 80, catalog.Passing))
	operator, query := psql(t, url), uuid.NewString()
	for _, sql := range []string{
		`UPDATE signpost.nodes SET meta = '{"rack": 7, "row": "b"}', tagged_addresses = '{"lan": []}'`,
		`UPDATE signpost.services SET tags = '["a", 1, {}]', meta = '{"x": null}', details = '{"Weights": "many", "Proxy": 3, "SocketPath": "/s"}'`,
		`UPDATE signpost.checks SET details = '{"Definition": {"Interval": "soon", "HTTP": "http://x"}, "Type": true}'`,
		`INSERT INTO signpost.queries (id, name, template, service, dns) VALUES ('` + query + `', 'q', '{"Type": 1}', '{"Service": "web", "Tags": "a"}', '{"TTL": 10}')`,
	} {
		exec(t, operator, sql)
	}
	last := m.apply(t, registration("n2", "web-2", "web", 80, catalog.Passing))
	m.reach(t, last.Index)
	loader, _ := join(t, url, "loader")
	require.NoError(t, loader.Barrier(context.Background()))
	for _, r := range []*member{m, loader} {
		inst := r.Snapshot().Service("web").Instances[0]
		require.Equal(t, "b", inst.Node.Meta["row"], r.name)
		require.Contains(t, inst.Service.Tags, "a", r.name)
		require.Equal(t, "/s", inst.Service.SocketPath, r.name)
		require.Equal(t, "http://x", inst.Checks[0].Definition.HTTP, r.name)
		require.Equal(t, "web-1", inst.Checks[0].ServiceID, r.name)
		require.Equal(t, catalog.Index(5), inst.Checks[0].ModifyIndex, r.name)
		require.Equal(t, "web", r.Snapshot().Query(query).Service.Service, r.name)
	}
}

package httpapi

import (
	"regexp"

	"signpost/resolver/catalog"
	"signpost/resolver/snapshot"
)

var uuids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// putQuery stores a query over web under an ID of the test's choice.
func putQuery(id, name string) func(*snapshot.Builder, catalog.Index) {
	return func(b *snapshot.Builder, at catalog.Index) {
		b.PutQuery(&catalog.Query{
			ID: id, Name: name, Token: "s>cret",
			Service: catalog.QueryService{
				Service: "web", Tags: []string{"v1", "!canary"}, IgnoreCheckIDs: []string{}, NodeMeta: map[string]string{},
				Failover: catalog.Failover{Targets: []catalog.FailoverTarget{{Datacenter: "dc9"}}},
			},
			DNS: catalog.QueryDNS{TTL: "7s"}, CreateIndex: at, ModifyIndex: at,
		})
	}
}

package httpapi

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"

	"github.com/gin-gonic/gin"

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

// gatewayLog is a logger that writes where the rig's does.
func (r *rig) gatewayLog() *slog.Logger { return slog.New(slog.NewTextHandler(r.log, nil)) }

// callOf is a call in the state that a handler finds it in.
func callOf(d *door, r *http.Request) *call {
	g, _ := gin.CreateTestContext(httptest.NewRecorder())
	g.Request = r
	p, err := params(nil).parse(r.URL.RawQuery)
	if err != nil {
		panic(err)
	}
	return &call{door: d, gin: g, route: &routes[0], params: p}
}

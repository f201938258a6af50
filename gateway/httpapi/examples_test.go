package httpapi

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// example is one request of an endpoint and its answer, byte by byte.
type example struct {
	target, body string
	want         string
}

// sample is a catalog of one node, one service with a check, one check of the
// node, and one query. Indexes: 1 the registration, 2 the query.
func sample(r *rig) {
	r.register(`{
		"ID": "2D906E16-71df-1875-6449-7f5fbb6d8067", "Node": "n1", "Address": "10.0.0.1",
		"TaggedAddresses": {"wan": "198.51.100.1", "lan": "10.0.0.1"}, "NodeMeta": {"rack": "<r1>"},
		"Service": {
			"ID": "web1", "Service": "web", "Tags": ["v1", "Primary"], "Meta": {"ver": "1"}, "Port": 80,
			"TaggedAddresses": {"wan": {"Address": "198.51.100.9", "Port": 8080}},
			"Weights": {"Passing": 10, "Warning": 0}, "Connect": {"Native": true}
		},
		"Checks": [
			{"CheckID": "alive", "Name": "node check", "Status": "passing"},
			{"CheckID": "web1chk", "Name": "web check", "Status": "warning", "ServiceID": "web1", "Notes": "n", "Output": "ok & well",
			 "Definition": {"HTTP": "http://10.0.0.1/", "Interval": "10s", "Timeout": 1000000000, "Bogus": 1}}
		]
	}`)
	r.state.change(putQuery(queryID, `web-q`))
}

const queryID = "27fba898-4b08-0d61-4efc-931f7054e96e"

const (
	nodeJSON = `{"ID":"2d906e16-71df-1875-6449-7f5fbb6d8067","Node":"n1","Address":"10.0.0.1","Datacenter":"dc1",` +
		`"TaggedAddresses":{"lan":"10.0.0.1","wan":"198.51.100.1"},"Meta":{"rack":"\u003cr1\u003e"},"CreateIndex":1,"ModifyIndex":1}`
	nodeBothJSON = `{"ID":"2d906e16-71df-1875-6449-7f5fbb6d8067","Node":"n1","Address":"10.0.0.1","Datacenter":"dc1",` +
		`"TaggedAddresses":{"lan":"10.0.0.1","wan":"198.51.100.1"},"Meta":{"rack":"\u003cr1\u003e"},"NodeMeta":{"rack":"\u003cr1\u003e"},"CreateIndex":1,"ModifyIndex":1}`
	serviceJSON = `{"ID":"web1","Service":"web","Tags":["v1","Primary"],"Address":"","TaggedAddresses":{"wan":{"Address":"198.51.100.9","Port":8080}},` +
		`"Meta":{"ver":"1"},"Port":80,"Weights":{"Passing":10,"Warning":0},"EnableTagOverride":false,` +
		`"Proxy":{"Mode":"","MeshGateway":{},"Expose":{}},"Connect":{"Native":true},"PeerName":"","CreateIndex":1,"ModifyIndex":1}`
	flatJSON = `{"ID":"2d906e16-71df-1875-6449-7f5fbb6d8067","Node":"n1","Address":"10.0.0.1","Datacenter":"dc1",` +
		`"TaggedAddresses":{"lan":"10.0.0.1","wan":"198.51.100.1"},"NodeMeta":{"rack":"\u003cr1\u003e"},` +
		`"ServiceKind":"","ServiceID":"web1","ServiceName":"web","ServiceTags":["v1","Primary"],"ServiceAddress":"",` +
		`"ServiceTaggedAddresses":{"wan":{"Address":"198.51.100.9","Port":8080}},"ServiceWeights":{"Passing":10,"Warning":0},"ServiceMeta":{"ver":"1"},` +
		`"ServicePort":80,"ServiceSocketPath":"","ServiceEnableTagOverride":false,"ServiceProxy":{"Mode":"","MeshGateway":{},"Expose":{}},` +
		`"ServiceConnect":{"Native":true},"ServiceLocality":null,"CreateIndex":1,"ModifyIndex":1}`
	serviceCheckJSON = `{"Node":"n1","CheckID":"web1chk","Name":"web check","Status":"warning","Notes":"n","Output":"ok \u0026 well",` +
		`"ServiceID":"web1","ServiceName":"web","ServiceTags":["v1","Primary"],"Type":"","Interval":"","Timeout":"","ExposedPort":0,` +
		`"Definition":{"HTTP":"http://10.0.0.1/","Interval":"10s","Timeout":"1s"},"CreateIndex":1,"ModifyIndex":1}`
	nodeCheckJSON = `{"Node":"n1","CheckID":"alive","Name":"node check","Status":"passing","Notes":"","Output":"",` +
		`"ServiceID":"","ServiceName":"","ServiceTags":[],"Type":"","Interval":"","Timeout":"","ExposedPort":0,` +
		`"Definition":{},"CreateIndex":1,"ModifyIndex":1}`
	queryJSON = `{"ID":"` + queryID + `","Name":"web-q","Session":"","Token":"s\u003ecret",` +
		`"Template":{"Type":"","Regexp":"","RemoveEmptyTags":false},` +
		`"Service":{"Service":"web","SamenessGroup":"","Failover":{"NearestN":0,"Datacenters":null,"Targets":[{"Peer":"","Datacenter":"dc9"}]},` +
		`"OnlyPassing":false,"IgnoreCheckIDs":[],"Near":"","Tags":["v1","!canary"],"NodeMeta":{},"ServiceMeta":null,"Connect":false,"Peer":""},` +
		`"DNS":{"TTL":"7s"},"CreateIndex":2,"ModifyIndex":2,"RaftIndex":{"CreateIndex":2,"ModifyIndex":2}}`
)

// examples has every line of the table, by method and path.
var examples = map[string]example{
	"PUT /v1/catalog/register":   {"/v1/catalog/register", `{"Node": "n2", "Address": "10.0.0.2"}`, "true"},
	"PUT /v1/catalog/deregister": {"/v1/catalog/deregister", `{"Node": "nobody", "Address": "x", "Datacenter": "dc1"}`, "true"},

	"GET /v1/catalog/datacenters":      {"/v1/catalog/datacenters", "", `["dc1"]`},
	"GET /v1/catalog/nodes":            {"/v1/catalog/nodes", "", "[" + nodeJSON + "]"},
	"GET /v1/catalog/services":         {"/v1/catalog/services", "", `{"web":["Primary","v1"]}`},
	"GET /v1/catalog/service/:service": {"/v1/catalog/service/WEB", "", "[" + flatJSON + "]"},
	"GET /v1/catalog/connect/:service": {"/v1/catalog/connect/web", "", "[" + flatJSON + "]"},
	"GET /v1/catalog/node/:node":       {"/v1/catalog/node/N1", "", `{"Node":` + nodeJSON + `,"Services":{"web1":` + serviceJSON + `}}`},

	"GET /v1/health/service/:service": {"/v1/health/service/web", "",
		`[{"Node":` + nodeJSON + `,"Service":` + serviceJSON + `,"Checks":[` + nodeCheckJSON + `,` + serviceCheckJSON + `]}]`},
	"GET /v1/health/connect/:service": {"/v1/health/connect/web", "",
		`[{"Node":` + nodeJSON + `,"Service":` + serviceJSON + `,"Checks":[` + nodeCheckJSON + `,` + serviceCheckJSON + `]}]`},
	"GET /v1/health/node/:node":      {"/v1/health/node/2d906e16", "", "[" + nodeCheckJSON + "," + serviceCheckJSON + "]"},
	"GET /v1/health/checks/:service": {"/v1/health/checks/web", "", "[" + serviceCheckJSON + "]"},

	"GET /v1/query":           {"/v1/query", "", "[" + queryJSON + "]"},
	"POST /v1/query":          {"/v1/query", `{"Service": {"Service": "web"}}`, `{"ID":"<uuid>"}`},
	"GET /v1/query/:query":    {"/v1/query/" + queryID, "", "[" + queryJSON + "]"},
	"PUT /v1/query/:query":    {"/v1/query/" + queryID, `{"ID": "any", "Service": {"Service": "api"}}`, ""},
	"DELETE /v1/query/:query": {"/v1/query/" + strings.ToUpper(queryID), "", ""},
	"GET /v1/query/:query/execute": {"/v1/query/WEB-q/execute", "",
		`{"Service":"web","Nodes":[{"Node":` + nodeBothJSON + `,"Service":` + serviceJSON + `,"Checks":[` +
			strings.Replace(nodeCheckJSON, `"ServiceTags":[]`, `"ServiceTags":null`, 1) + `,` + serviceCheckJSON + `]}],` +
			`"DNS":{"TTL":"7s"},"Datacenter":"dc1","PeerName":"","Failovers":0,"Index":1,"LastContact":0,"KnownLeader":true,` +
			`"ConsistencyLevel":"leader","NotModified":false,"Backend":0,"ResultsFilteredByACLs":false}`},

	"GET /v1/status/leader": {"/v1/status/leader", "", `"10.9.8.7:8500"`},
	"GET /v1/status/peers":  {"/v1/status/peers", "", `["10.9.8.7:8500"]`},
	"GET /health":           {"/health", "", "ok"},
	"GET /ready":            {"/ready", "", "ready"},
}

func TestEveryRouteHasAnExampleAndADocEntry(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/compatibility.md")
	require.NoError(t, err)
	for _, route := range routes {
		name := route.method + " " + route.path
		require.Contains(t, examples, name)
		require.NotEmpty(t, route.op.Name, name)
		require.Contains(t, string(page), "`"+name+"`", "docs/compatibility.md lists every endpoint")
	}
	require.Len(t, examples, len(routes), "an example without a route")
}

func TestEveryEndpointAnswersAsItsExample(t *testing.T) {
	t.Parallel()
	for name, e := range examples {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, Config{})
			sample(r)
			method, _, _ := strings.Cut(name, " ")
			got := r.send(method, e.target, e.body)
			require.Equal(t, http.StatusOK, got.status, got.body)
			require.Equal(t, e.want, uuids.ReplaceAllStringFunc(got.body, func(id string) string {
				if strings.Contains(e.want, id) {
					return id
				}
				return "<uuid>"
			}))
		})
	}
}

func TestNothingStoredLooksAsTheReferenceHasIt(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]string{
		"/v1/catalog/nodes":         `[]`,
		"/v1/catalog/services":      `{}`,
		"/v1/catalog/service/web":   `[]`,
		"/v1/catalog/connect/web":   `[]`,
		"/v1/catalog/node/n1":       `null`,
		"/v1/health/service/web":    `[]`,
		"/v1/health/connect/web":    `[]`,
		"/v1/health/node/n1":        `[]`,
		"/v1/health/checks/web":     `[]`,
		"/v1/query":                 `[]`,
		"/v1/health/service/a?peer": `[]`,
	} {
		got := newRig(t, Config{}).get(target)
		require.Equal(t, http.StatusOK, got.status, target)
		require.Equal(t, want, got.body, target)
		require.Equal(t, "application/json", got.header.Get("Content-Type"), target)
	}
}

func TestWhatIsNotGivenIsNullOnlyWhereTheReferenceHasNull(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	r.register(`{"Node": "n1", "Address": "10.0.0.1", "Service": {"Service": "web"}}`)
	r.state.change(putQuery(queryID, "q"))
	require.Equal(t, 200, r.send(http.MethodPut, "/v1/query/"+queryID, `{"Name": "q", "Service": {"Service": "web"}}`).status)

	const weights = `"Weights":{"Passing":1,"Warning":1}`
	health := r.get("/v1/health/service/web").body
	for _, part := range []string{`"TaggedAddresses":null`, `"Meta":null,"CreateIndex"`, `"Tags":[]`, `"Meta":null,"Port":0`, `"Checks":[]`, weights} {
		require.Contains(t, health, part)
	}
	flat := r.get("/v1/catalog/service/web").body
	for _, part := range []string{`"TaggedAddresses":null`, `"NodeMeta":null`, `"ServiceTags":[]`, `"ServiceMeta":{}`} {
		require.Contains(t, flat, part)
	}
	require.NotContains(t, flat, "ServiceTaggedAddresses")
	require.Equal(t, `{"web":[]}`, r.get("/v1/catalog/services").body)
	require.Contains(t, r.get("/v1/catalog/node/n1").body, `"Tags":[]`)

	executed := r.get("/v1/query/q/execute").body
	for _, part := range []string{`"Tags":null`, `"Checks":null`, `"Meta":null,"NodeMeta":null`} {
		require.Contains(t, executed, part)
	}
}

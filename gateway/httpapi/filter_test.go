package httpapi

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestFiltersSelectByTheNamesOfTheWire(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	shop(r)
	for _, c := range []struct{ path, filter, want string }{
		{"/v1/health/service/web", `Checks.Status == warning`, "web-2"},
		{"/v1/health/service/web", `Checks.ServiceTags contains "Primary"`, "web-1"},
		{"/v1/health/service/web", `Node.Meta.env is not empty`, ""}, // not an operator of texts
		{"/v1/health/service/web", `"env" in Node.Meta and Service.Port != 8001`, "web-2"},
		{"/v1/health/service/web", `Node.Address matches "^10\\.0\\.0\\.[13]$"`, "web-1 web-3"},
		{"/v1/health/service/web", `Service.Weights.Passing == 1`, "web-1 web-2 web-3"},
		{"/v1/health/service/web", `not (Service.Tags contains v1 or Service.ID == "web-9")`, "web-3"},
		{"/v1/health/service/web", "Service.Meta[\"zone\"] == `z2`", "web-2"},
		{"/v1/health/service/web", `Service.Tags is empty`, ""},
		{"/v1/health/service/web", `Node.Meta.path == "/v1/x" or Node.Node == n3`, "web-3"},
		{"/v1/health/service/web", `Service.Connect.Native == false`, "web-1 web-2 web-3"},
		{"/v1/health/connect/web", `Service.Proxy.DestinationServiceName == web`, "proxy"},
		{"/v1/health/connect/web", `Service.Proxy.TransparentProxy.DialedDirectly == true`, "proxy"},
		{"/v1/health/service/web", `Service.Proxy.TransparentProxy.DialedDirectly == true`, ""},
		{"/v1/catalog/service/web", `ServiceMeta.zone==z2`, "web-2"},
		{"/v1/catalog/service/web", `NodeMeta.rack == b and ServicePort == 8003`, "web-3"},
		{"/v1/catalog/service/web", `Datacenter == dc1 and ServiceName == web and "v1" in ServiceTags`, "web-1 web-2"},
		{"/v1/health/checks/web", `Status == critical or ServiceTags contains Primary`, "web-1 web-3"},
		{"/v1/health/node/n1", `ServiceID != ""`, "web-1"},
	} {
		got := r.get(c.path + "?filter=" + url.QueryEscape(c.filter))
		if c.want == "" && got.status == http.StatusBadRequest {
			require.Contains(t, got.body, "Invalid match operator", c.filter)
			continue
		}
		require.Equal(t, c.want, ids(t, got), c.filter)
	}

	require.Equal(t, `{"web":["v2"],"web-proxy":[]}`, r.get("/v1/catalog/services?filter="+url.QueryEscape(`Node == n3`)).body, "tags of the instances that pass")
	require.Equal(t, 1, strings.Count(r.get("/v1/catalog/nodes?filter="+url.QueryEscape(`Meta.rack == a`)).body, `"Node"`))
	node := r.get("/v1/catalog/node/n3?filter=" + url.QueryEscape(`Kind == "connect-proxy"`)).body
	require.Contains(t, node, `"proxy":{`)
	require.NotContains(t, node, `"web-3"`)
}

func TestBadFiltersAreRefusedFast(t *testing.T) {
	t.Parallel()
	const start = "Failed to create boolean expression evaluator: "
	deep := func(n int) string { return strings.Repeat("(", n) + "Node == a" + strings.Repeat(")", n) }
	for filter, want := range map[string]string{
		"broken(((":                start + "1:10 (9): a parenthesis or a quote is not closed",
		"broken":                   start + "1:7 (6): no match found",
		"Bogus == 1":               start + `Selector "Bogus" is not valid`,
		"Meta.a.b == 1":            start,
		`Node == "a`:               start + "1:11 (10): a parenthesis or a quote is not closed",
		"Node == a)":               start + "1:10 (9): parentheses must be balanced, and not deeper than 4",
		`Node matches "("`:         start + "Failed to compile regular expression",
		"Node < 1":                 start,
		"any Meta as m { m == a }": start,
		deep(5):                    start + "1:5 (4): parentheses must be balanced, and not deeper than 4",
		strings.Repeat("(", 4096):  start,
		strings.Repeat("x", 4097):  start + "longer than 4096 bytes",
		strings.TrimSuffix(strings.Repeat(deep(4)+" or ", 80), " or "): start + "1:",
		"((((Node == a and))))":               start,
		strings.Repeat("not ", 900) + "Bogus": start,
	} {
		r := newRig(t, Config{}) // an empty catalog: refused all the same
		began := time.Now()
		got := r.get("/v1/catalog/nodes?filter=" + url.QueryEscape(filter))
		require.Less(t, time.Since(began), 2*time.Second, filter)
		require.Equal(t, 400, got.status, filter)
		require.Contains(t, got.body, want, filter)
		require.NotContains(t, got.body, "\n")
	}
	require.Equal(t, 200, newRig(t, Config{}).get("/v1/catalog/nodes?filter="+url.QueryEscape(deep(4))).status)
	brackets := url.QueryEscape(`Node == "((((((" or Node == ` + "`)))`")
	require.Equal(t, 200, newRig(t, Config{}).get("/v1/catalog/nodes?filter="+brackets).status, "in text they are text")
}

func TestParsedFiltersAreKept(t *testing.T) {
	t.Parallel()
	f := newFilters()
	first, err := f.parse("Node == a", (*nodeRecord)(nil))
	require.NoError(t, err)
	again, err := f.parse("Node == a", (*nodeRecord)(nil))
	require.NoError(t, err)
	require.Same(t, first, again)
	other, err := f.parse("Node == a", (*flatRecord)(nil))
	require.NoError(t, err)
	require.NotSame(t, first, other, "of another record")
	for i := range 2 * keptFilters {
		_, err := f.parse("Node == a"+strings.Repeat("a", i), (*nodeRecord)(nil))
		require.NoError(t, err)
	}
	require.Equal(t, keptFilters, f.parsed.Len())
}

package httpapi

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	bexpr "github.com/hashicorp/go-bexpr"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
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
		"broken(((":                start + "1:7 (6): no match found",
		"broken":                   start + "1:7 (6): no match found",
		"Bogus == 1":               start + `Selector "Bogus" is not valid`,
		"Meta.a.b == 1":            start,
		`Node == "a`:               start + "1:11 (10): ",
		"Node == a)":               start + `1:10 (9): expected "and", "or" or the end`,
		"(Node == a":               start + `1:11 (10): expected ")"`,
		"Node == a and Meta.x = b": start + "1:22 (21): no match found",
		"Node == a or":             start + "1:13 (12): no match found",
		"Node == a Node == b":      start + `1:11 (10): expected "and", "or" or the end`,
		"not":                      start + "1:4 (3): no match found",
		"()":                       start + "1:2 (1): no match found",
		" ":                        start + "1:2 (1): no match found",
		"Node in":                  start,
		"(\n (":                    start + "2:3 (4): no match found",
		`Node matches "("`:         start + "Failed to compile regular expression",
		"Node < 1":                 start,
		"any Meta as m { m == a }": start,
		deep(33):                   start + "1:33 (32): nested deeper than 32 levels",
		strings.Repeat("(", 4096):  start + "1:33 (32): nested deeper than 32 levels",
		strings.Repeat("x", 4097):  start + "longer than 4096 bytes",
		strings.Repeat("(", 30) + "Node == a and" + strings.Repeat(")", 30): start,
		strings.Repeat("Node == a and ", 290):                               start,
		strings.Repeat("not ", 900) + "Bogus":                               start,
	} {
		r := newRig(t, Config{}) // an empty catalog: refused all the same
		began := time.Now()
		got := r.get("/v1/catalog/nodes?filter=" + url.QueryEscape(filter))
		require.Less(t, time.Since(began), 2*time.Second, filter)
		require.Equal(t, 400, got.status, filter)
		require.Contains(t, got.body, want, filter)
		require.NotContains(t, got.body, "\n")
	}
	require.Equal(t, 200, newRig(t, Config{}).get("/v1/catalog/nodes?filter="+url.QueryEscape(deep(32))).status)
	brackets := url.QueryEscape(`Node == "((((((" or Node == ` + "`)))`")
	require.Equal(t, 200, newRig(t, Config{}).get("/v1/catalog/nodes?filter="+brackets).status, "in text they are text")
}

func TestParsedFiltersAreKept(t *testing.T) {
	t.Parallel()
	f := newFilters()
	for range 2 {
		_, err := f.parse("Node == a", (*nodeRecord)(nil))
		require.NoError(t, err)
	}
	require.Equal(t, 1, f.parsed.Len())
	_, err := f.parse("Node == a", (*flatRecord)(nil))
	require.NoError(t, err)
	require.Equal(t, 2, f.parsed.Len(), "of another record")
	_, err = f.parse("Node ==", (*flatRecord)(nil))
	require.Error(t, err)
	require.Equal(t, 2, f.parsed.Len(), "bad ones are not")
	for i := range 2 * keptFilters {
		_, err := f.parse("Node == a"+strings.Repeat("a", i), (*nodeRecord)(nil))
		require.NoError(t, err)
	}
	require.Equal(t, keptFilters, f.parsed.Len())
}

// TestFiltersMeanWhatTheWholeGrammarSays compares with go-bexpr reading the
// expression in one piece.
func TestFiltersMeanWhatTheWholeGrammarSays(t *testing.T) {
	t.Parallel()
	record := &nodeRecord{Node: "a b", ID: "and", Address: "not (", Meta: map[string]string{"k": "v", "is empty": `"`}}
	leaves := []string{
		`Node == "a b"`, `ID==and`, `ID != or`, `Address contains "t ("`, "Address matches `^not \\($`", `"k" in Meta`, `k not in Meta`,
		`Meta contains k`, `Meta["is empty"] != x`, `Meta is empty`, `Meta is not empty`, `Meta.k not matches "x"`, `ID not contains "nd"`, `Node in ID`,
	}
	var draw func(t *rapid.T, depth int) string
	draw = func(t *rapid.T, depth int) string {
		leaf := rapid.SampledFrom(leaves).Draw(t, "leaf")
		if depth == 0 {
			return leaf
		}
		space := rapid.SampledFrom([]string{" ", "\n\t "}).Draw(t, "space")
		switch rapid.IntRange(0, 4).Draw(t, "form") {
		case 0:
			return draw(t, depth-1) + space + "and" + space + draw(t, depth-1)
		case 1:
			return draw(t, depth-1) + space + "or" + space + draw(t, depth-1)
		case 2:
			return "not" + space + draw(t, depth-1)
		case 3:
			return "(" + draw(t, depth-1) + ")"
		}
		return leaf
	}
	f := newFilters()
	rapid.Check(t, func(t *rapid.T) {
		text := draw(t, 3)
		whole, err := bexpr.CreateEvaluatorForType(text, nil, record)
		require.NoError(t, err, text)
		want, err := whole.Evaluate(record)
		require.NoError(t, err, text)
		parts, err := f.parse(text, record)
		require.NoError(t, err, text)
		got, err := parts(record)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	})
}

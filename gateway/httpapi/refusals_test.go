package httpapi

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// refusal is a request that cannot be right, and what is said about it.
type refusal struct {
	name, method, target, body string
	status                     int
	text                       string // in full, unless it ends in "…"
}

func (f refusal) check(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	sample(r)
	before := len(r.state.writes)
	got := r.send(f.method, f.target, f.body)
	require.Equal(t, f.status, got.status, got.body)
	if start, ok := strings.CutSuffix(f.text, "…"); ok {
		require.Contains(t, got.body, start)
	} else {
		require.Equal(t, f.text, got.body)
	}
	require.Equal(t, "text/plain; charset=utf-8", got.header.Get("Content-Type"))
	require.NotContains(t, strings.TrimSuffix(got.body, "\n"), "\n", "one line")
	require.Len(t, r.state.writes, before, "nothing is stored")
}

const (
	registerPath, deregisterPath, queryPath = "/v1/catalog/register", "/v1/catalog/deregister", "/v1/query"

	get, put, post = http.MethodGet, http.MethodPut, http.MethodPost
)

func TestBadParametersAreRefused(t *testing.T) {
	t.Parallel()
	const web = "/v1/health/service/web"
	for _, f := range []refusal{
		{"wait without unit", get, web + "?wait=5", "", 400, "Invalid wait time"},
		{"wait that is no duration", get, web + "?index=1&wait=nonsense", "", 400, "Invalid wait time"},
		{"index that is no number", get, web + "?index=abc", "", 400, "Invalid index"},
		{"negative index", get, web + "?index=-1", "", 400, "Invalid index"},
		{"index over 64 bits", get, web + "?index=18446744073709551616", "", 400, "Invalid index"},
		{"index of an execution", get, "/v1/query/web-q/execute?index=abc", "", 400, "Invalid index"},
		{"max_stale", get, web + "?max_stale=zz", "", 400, `Invalid max_stale value "zz"`},
		{"stale and consistent", get, web + "?stale&consistent", "", 400, "Cannot specify ?stale with ?consistent, conflicting semantics."},
		{"max_stale and consistent", get, web + "?max_stale=1s&consistent", "", 400, "Cannot specify ?stale with ?consistent, conflicting semantics."},
		{"cached and consistent", get, web + "?cached&consistent", "", 400, "Cannot specify ?cached with ?consistent, conflicting semantics."},
		{"passing", get, web + "?passing=zz", "", 400, "Invalid value for ?passing"},
		{"limit", get, "/v1/query/web-q/execute?limit=abc", "", 400, `Bad limit: strconv.Atoi: parsing "abc": invalid syntax`},
		{"connect", get, "/v1/query/web-q/execute?connect=zz", "", 400, `Error parsing 'connect' value: strconv.ParseBool: parsing "zz": invalid syntax`},
		{"namespace", get, web + "?ns=team", "", 400, `Invalid namespace "team": this version has the namespace "default" only`},
		{"sameness group", get, web + "?sg=x", "", 400, "sameness groups are not supported"},
		{"unknown datacenter", get, web + "?dc=dc9", "", 400, "No path to datacenter"},
		{"datacenter in another case", get, web + "?dc=DC1", "", 400, "No path to datacenter"},
		{"datacenter wins over dc", get, web + "?dc=dc1&datacenter=dc9", "", 400, "No path to datacenter"},
		{"unknown datacenter of a write", http.MethodDelete, "/v1/query/" + queryID + "?dc=dc9", "", 400, "No path to datacenter"},
		{"escape that is none", get, web + "?x=%zz", "", 400, "Invalid query string"},
		{"semicolon", get, web + "?stale;x", "", 400, "Invalid query string"},
		{"very many parameters", get, web + "?" + strings.Repeat("a&", 1001), "", 400, "Invalid query string"},
		{"newline in what is echoed", get, web + "?max_stale=a%0Ab", "", 400, `Invalid max_stale value "a\nb"`},
	} {
		t.Run(f.name, f.check)
	}
}

func TestBadPathsAreRefused(t *testing.T) {
	t.Parallel()
	const unknown = "Invalid URL path: not a recognized HTTP API endpoint\n"
	const outside = "Invalid URL path: if attempting to use the HTTP API, ensure the path starts with '/v1/'\n"
	const unprintable = "Invalid URL path: it contains characters that are not printable"
	long := strings.Repeat("x", 256)
	for _, f := range []refusal{
		{"unknown endpoint", get, "/v1/no/such/path", "", 404, unknown},
		{"trailing slash of a list", get, "/v1/catalog/nodes/", "", 404, unknown},
		{"missing slash", get, "/v1/catalog/service", "", 404, unknown},
		{"doubled slash", get, "//v1/catalog/nodes", "", 404, unknown},
		{"dot", get, "/v1/./catalog/nodes", "", 404, unknown},
		{"two dots", get, "/v1/catalog/../catalog/nodes", "", 404, unknown},
		{"outside the interface", get, "/catalog/nodes", "", 404, outside},
		{"root", get, "/", "", 404, outside},
		{"no service", get, "/v1/catalog/service/", "", 400, "Missing service name"},
		{"no mesh service", get, "/v1/catalog/connect/", "", 400, "Missing service name"},
		{"no service for health", get, "/v1/health/service/", "", 400, "Missing service name"},
		{"no mesh service for health", get, "/v1/health/connect/", "", 400, "Missing service name"},
		{"no service for checks", get, "/v1/health/checks/", "", 400, "Missing service name"},
		{"no node", get, "/v1/catalog/node/", "", 400, "Missing node name"},
		{"no node for health", get, "/v1/health/node/", "", 400, "Missing node name"},
		{"no query", get, "/v1/query/", "", 400, "Missing query ID"},
		{"no query to update", put, "/v1/query/", "{}", 400, "Missing query ID"},
		{"no query to execute", get, "/v1/query//execute", "", 404, "Query not found"},
		{"long service name", get, "/v1/health/service/" + long, "", 400, "Invalid service name: longer than 255 bytes"},
		{"long node name", get, "/v1/catalog/node/" + long, "", 400, "Invalid node name: longer than 255 bytes"},
		{"long query name", get, "/v1/query/" + long + "/execute", "", 400, "Invalid query name: longer than 255 bytes"},
		{"NUL", get, "/v1/catalog/node/a%00b", "", 400, unprintable},
		{"newline", get, "/v1/catalog/node/a%0Ab", "", 400, unprintable},
		{"not UTF-8", get, "/v1/catalog/node/a%ffb", "", 400, unprintable},
		{"unknown and not printable", get, "/v1/%01", "", 400, unprintable},
		{"method", http.MethodDelete, "/v1/catalog/nodes", "", 405, "method DELETE not allowed"},
		{"method without a meaning", "FOO", "/v1/catalog/nodes", "", 405, "method FOO not allowed"},
		{"unknown query", get, "/v1/query/00000000-0000-0000-0000-000000000000", "", 404, "Query not found"},
		{"name for an ID", get, "/v1/query/web-q", "", 404, "Query not found"},
		{"execution of nothing", get, "/v1/query/nothing/execute", "", 404, "Query not found"},
		{"update of nothing", put, "/v1/query/00000000-0000-0000-0000-000000000000", `{"Service": {"Service": "a"}}`, 404,
			"Cannot modify non-existent prepared query: '00000000-0000-0000-0000-000000000000'"},
		{"delete of nothing", http.MethodDelete, "/v1/query/00000000-0000-0000-0000-000000000000", "", 404,
			"Cannot modify non-existent prepared query: '00000000-0000-0000-0000-000000000000'"},
		{"update by name", put, "/v1/query/web-q", `{"Service": {"Service": "a"}}`, 400, `Prepared Query lookup failed: "web-q" is not a UUID`},
	} {
		t.Run(f.name, f.check)
	}
}

func TestBadBodiesAreRefused(t *testing.T) {
	t.Parallel()
	const failed = "Request decode failed: "
	const node = `"Node": "x", "Address": "10.0.0.1"`
	long := strings.Repeat("x", 256)
	for _, f := range []refusal{
		{"nothing", put, registerPath, "", 400, failed + "EOF"},
		{"spaces", post, queryPath, " \n ", 400, failed + "EOF"},
		{"half", put, registerPath, "{", 400, failed + "unexpected EOF"},
		{"null", post, queryPath, "null", 400, failed + "the body is null"},
		{"null registration", put, registerPath, " null ", 400, failed + "the body is null"},
		{"null update", put, "/v1/query/" + queryID, "null", 400, failed + "the body is null"},
		{"no JSON", post, queryPath, "Name=x", 400, failed + "invalid character 'N' looking for beginning of value"},
		{"list", post, queryPath, "[]", 400, failed + "json: cannot unmarshal array…"},
		{"unknown field", post, queryPath, `{"Bogus": 1}`, 400, failed + `json: unknown field "Bogus"`},
		{"unknown field within", post, queryPath, `{"Service": {"Service": "a", "Boguser": 1}}`, 400, failed + `json: unknown field "Boguser"`},
		{"unknown field of a registration", put, registerPath, `{` + node + `, "node_meta": {}}`, 400, failed + `json: unknown field "node_meta"`},
		{"unknown field of a deregistration", put, deregisterPath, `{"Node": "x", "Service": "a"}`, 400, failed + `json: unknown field "Service"`},
		{"wrong type", put, registerPath, `{` + node + `, "Service": {"Service": "a", "Port": "80"}}`, 400, failed + "json: cannot unmarshal string…"},
		{"TTL as a number", post, queryPath, `{"Service": {"Service": "a"}, "DNS": {"TTL": 10}}`, 400, failed + "json: cannot unmarshal number…"},
		{"bad duration", put, registerPath, `{` + node + `, "Check": {"Name": "c", "Definition": {"Timeout": "soon"}}}`, 400, failed + `time: invalid duration "soon"`},
		{"deep lists", post, queryPath, strings.Repeat("[", 512<<10), 400, failed + "nested deeper than 32 levels"},
		{"deep objects", put, registerPath, strings.Repeat(`{"Service":`, 100<<10), 400, failed + "nested deeper than 32 levels"},
		{"deep in what is ignored", put, registerPath, `{` + node + `, "Check": {"Name": "c", "Definition": {"Bogus": ` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}}}`,
			400, failed + "nested deeper than 32 levels"},
		{"invalid UTF-8", post, queryPath, "{\"Name\": \"a\xff\", \"Service\": {\"Service\": \"a\"}}", 400, failed + "the body is not valid UTF-8"},
		{"NUL", put, registerPath, "{" + node + ", \"NodeMeta\": {\"a\": \"\x00\"}}", 400, failed + "text must not contain NUL"},
		{"escaped NUL", put, registerPath, `{` + node + `, "NodeMeta": {"a": "b\u0000"}}`, 400, failed + "text must not contain NUL"},
		{"escaped NUL in a key", put, registerPath, `{` + node + `, "NodeMeta": {"\u0000": "b"}}`, 400, failed + "text must not contain NUL"},
		{"escaped NUL after a backslash", put, registerPath, `{` + node + `, "NodeMeta": {"a": "\\\u0000"}}`, 400, failed + "text must not contain NUL"},
		{"no node", put, registerPath, `{"Address": "10.0.0.1"}`, 400, "Must provide node"},
		{"blank node", put, registerPath, `{"Node": "  ", "Address": "10.0.0.1"}`, 400, "Invalid node name: must not be blank"},
		{"long node", put, registerPath, `{"Node": "` + long + `", "Address": "10.0.0.1"}`, 400, "Invalid node name: longer than 255 bytes"},
		{"long service", put, registerPath, `{` + node + `, "Service": {"Service": "` + long + `"}}`, 400, "longer than 255 bytes…"},
		{"long query name", post, queryPath, `{"Name": "` + long + `", "Service": {"Service": "a"}}`, 400, "Invalid prepared query: name is longer than 255 bytes"},
		{"no address", put, registerPath, `{"Node": "x"}`, 400, "Must provide address if SkipNodeUpdate is not set"},
		{"no service name", put, registerPath, `{` + node + `, "Service": {"Port": 1}}`, 400, "Must provide service name (Service.Service)"},
		{"peer", put, registerPath, `{` + node + `, "PeerName": "p"}`, 400, "cannot register requests with PeerName in them"},
		{"peer of a service", put, registerPath, `{` + node + `, "Service": {"Service": "a", "PeerName": "p"}}`, 400, "cannot register requests with PeerName in them"},
		{"peer of a check", put, registerPath, `{` + node + `, "Checks": [{"Name": "a", "PeerName": "p"}, {"Name": "b"}]}`, 400, "cannot register requests with PeerName in them"},
		{"null check", put, registerPath, `{` + node + `, "Checks": [null]}`, 400, `failed inserting check on node "x": a check needs an ID or a name`},
		{"other datacenter", put, registerPath + "?dc=dc1", `{` + node + `, "Datacenter": "dc9"}`, 400, "No path to datacenter"},
		{"deregistration of nothing", put, deregisterPath, `{}`, 400, "Must provide node"},
		{"long name to deregister", put, deregisterPath, `{"Node": "n", "ServiceID": "` + long + `"}`, 400, "Invalid name: longer than 255 bytes"},
		{"query without service", put, "/v1/query/" + queryID, "", 400, "Invalid prepared query: Must provide a Service name to query"},
		{"query with namespace", post, queryPath, `{"Service": {"Service": "a", "Namespace": "team"}}`, 400, `Invalid namespace "team": this version has the namespace "default" only`},
		{"name that is taken", post, queryPath, `{"Name": "WEB-Q", "Service": {"Service": "a"}}`, 409, "name 'WEB-Q' aliases an existing query name"},
		{"body over the limit", post, queryPath, strings.Repeat(" ", maxBody+1), 413, "Request body(2097153 bytes) too large, max size: 2097152 bytes."},
	} {
		t.Run(f.name, f.check)
	}
}

func TestWhatOnlyLooksBadIsAccepted(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"backslash before u0000":    `{"Name": "a\\u0000", "Service": {"Service": "web"}}`,
		"brackets in text":          `{"Name": "` + strings.Repeat("[{", 60) + `", "Service": {"Service": "web"}}`,
		"quotes in text":            `{"Name": "\"` + strings.Repeat("[", 60) + `", "Service": {"Service": "web"}}`,
		"keys in any case":          `{"NAME": "a", "service": {"SERVICE": "web"}, "dns": {"ttl": "1s"}}`,
		"another value after it":    `{"Name": "a", "Service": {"Service": "web"}} {"Bogus": 1}`,
		"equal keys, last wins":     `{"Name": "a", "Name": "b", "Service": {"Service": "web"}}`,
		"what the server gives out": `{"Name": "a", "Service": {"Service": "web"}, "CreateIndex": 3, "ModifyIndex": 4, "RaftIndex": {"CreateIndex": 3, "ModifyIndex": 4}}`,
		"the default namespace":     `{"Name": "a", "Service": {"Service": "web", "Namespace": "default"}}`,
		"neither name nor session":  `{"Service": {"Service": "web"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := newRig(t, Config{}).send(post, queryPath, body)
			require.Equal(t, http.StatusOK, got.status, got.body)
		})
	}
}

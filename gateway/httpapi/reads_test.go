package httpapi

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// shop has three instances of web and a database without any check.
func shop(r *rig) {
	for _, body := range []string{
		`{"Node": "n1", "Address": "10.0.0.1", "NodeMeta": {"rack": "a", "env": "prod"}, "Service": {"ID": "web-1", "Service": "web", "Tags": ["v1", "Primary"], "Port": 8001, "Meta": {"zone": "z1"}},
		  "Checks": [{"CheckID": "c1", "Name": "c", "Status": "passing", "ServiceID": "web-1"}, {"CheckID": "alive", "Name": "alive", "Status": "passing"}]}`,
		`{"Node": "n2", "Address": "10.0.0.2", "NodeMeta": {"rack": "b", "env": "prod"}, "Service": {"ID": "web-2", "Service": "web", "Tags": ["v1"], "Port": 8002, "Meta": {"zone": "z2"}},
		  "Check": {"CheckID": "c2", "Name": "c", "Status": "warning", "ServiceID": "web-2"}}`,
		`{"Node": "n3", "Address": "10.0.0.3", "NodeMeta": {"rack": "b"}, "Service": {"ID": "web-3", "Service": "web", "Tags": ["v2"], "Port": 8003},
		  "Check": {"CheckID": "c3", "Name": "c", "Status": "critical", "ServiceID": "web-3"}}`,
		`{"Node": "n3", "Address": "10.0.0.3", "NodeMeta": {"rack": "b"}, "Service": {"Kind": "connect-proxy", "ID": "proxy", "Service": "web-proxy", "Port": 9, "Proxy": {"DestinationServiceName": "web", "TransparentProxy": {"DialedDirectly": true}}}}`,
	} {
		r.register(body)
	}
}

// ids gives the service IDs in an answer, in order.
func ids(t *testing.T, a answer) string {
	t.Helper()
	require.Equal(t, http.StatusOK, a.status, a.body)
	var list []struct {
		ServiceID string
		Service   struct{ ID string }
	}
	require.NoError(t, json.Unmarshal([]byte(a.body), &list))
	var out []string
	for _, e := range list {
		out = append(out, e.ServiceID+e.Service.ID)
	}
	return strings.Join(out, " ")
}

func TestParametersSelectInstances(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	shop(r)
	for query, want := range map[string]string{
		"":                                  "web-1 web-2 web-3",
		"tag=V1":                            "web-1 web-2",
		"tag=v1&tag=primary":                "web-1",
		"tag=":                              "",
		"node-meta=rack:b":                  "web-2 web-3",
		"node-meta=rack:b&node-meta=env:":   "",
		"node-meta=rack:a&node-meta=rack:b": "web-2 web-3",
		"node-meta=env":                     "",
		"near=n3":                           "web-1 web-2 web-3",
		"near=_agent&merge-central-config":  "web-1 web-2 web-3",
		"peer=east":                         "",
		"peer=":                             "web-1 web-2 web-3",
		"filter=":                           "web-1 web-2 web-3",
		"unknown=parameter&&":               "web-1 web-2 web-3",
		"ns=default":                        "web-1 web-2 web-3",
	} {
		require.Equal(t, want, ids(t, r.get("/v1/health/service/web?"+query)), query)
		require.Equal(t, want, ids(t, r.get("/v1/catalog/service/web?"+query)), query)
	}
	for query, want := range map[string]string{
		"passing": "web-1", "passing=": "web-1", "passing=1": "web-1", "passing=TRUE": "web-1", "passing=0": "web-1 web-2 web-3",
	} {
		require.Equal(t, want, ids(t, r.get("/v1/health/service/web?"+query)), query)
		require.Equal(t, "web-1 web-2 web-3", ids(t, r.get("/v1/catalog/service/web?"+query)), "passing is for health only")
	}
	require.Equal(t, "proxy", ids(t, r.get("/v1/health/connect/web")))
	require.Equal(t, "proxy", ids(t, r.get("/v1/catalog/connect/web")))
}

func TestParametersOfExecutions(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	shop(r)
	require.Equal(t, 200, r.send(http.MethodPost, queryPath, `{"Name": "q", "Service": {"Service": "web"}}`).status)
	for query, want := range map[string]int{
		"": 2, "?limit=1": 1, "?limit=0": 2, "?limit=-3": 2, "?limit=": 2, "?connect": 1, "?connect=true": 1, "?connect=false": 2,
		"?near=_ip": 2, "?near=nobody": 2, "?passing&tag=x&filter=(((": 2, "?index=7&wait=10m": 2,
	} {
		got := r.get("/v1/query/q/execute" + query)
		require.Equal(t, 200, got.status, query+got.body)
		require.Equal(t, want, strings.Count(got.body, `{"Node":{`), query)
	}
}

func TestNamesInPathsAreDecodedOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	shop(r)
	for i, name := range []string{"a b/c.d", "a+b", "50%", "a%20b", "ü/ß", "..", "a?b#c", " "} {
		body, err := json.Marshal(map[string]any{"Name": name, "Service": map[string]any{"Service": fmt.Sprint("svc", i)}})
		require.NoError(t, err)
		require.Equal(t, 200, r.send(http.MethodPost, queryPath, string(body)).status)
	}
	for path, want := range map[string]string{
		"a%20b%2Fc.d": "svc0", "A%20B%2fC.D": "svc0", "a+b": "svc1", "a%2Bb": "svc1", "50%25": "svc2", "a%2520b": "svc3",
		"%C3%BC%2F%C3%9F": "svc4", "..": "svc5", "%2E.": "svc5", "a%3Fb%23c": "svc6", "%20": "svc7",
		"%61+b": "svc1", // escaped without need
	} {
		got := r.get("/v1/query/" + path + "/execute")
		require.Equal(t, 200, got.status, path)
		require.Contains(t, got.body, `{"Service":"`+want+`"`, path)
	}
	require.Equal(t, "web-1 web-2 web-3", ids(t, r.get("/v1/catalog/service/%77eb")))
}

func TestPrettyAnswersAreIndented(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	sample(r)
	require.Equal(t, "[\n    \"dc1\"\n]\n", r.get("/v1/catalog/datacenters?pretty").body)
	require.Equal(t, "true\n", r.send(http.MethodPut, registerPath+"?pretty", `{"Node": "a", "Address": "b"}`).body)
	require.Empty(t, r.send(http.MethodDelete, "/v1/query/"+queryID+"?pretty=false", "").body, "nothing stays nothing")
	require.Equal(t, "Query not found", r.get("/v1/query/x?pretty").body)
}

func TestLargeAnswersAreCompressedForThoseWhoAsk(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	shop(r)
	const large, small = "/v1/health/service/web", "/v1/catalog/datacenters"
	plain := r.get(large)
	require.Greater(t, len(plain.body), gzipFrom)
	for accept, zipped := range map[string]bool{
		"gzip": true, "br, GZIP;q=0.5": true, "deflate,gzip;q=1": true,
		"gzip;q=0": false, "gzip; q=0.0": false, "identity": false, "*": false, "": false,
	} {
		got := r.get(large, "Accept-Encoding", accept)
		require.Equal(t, fmt.Sprint(len(got.body)), got.header.Get("Content-Length"), accept)
		if !zipped {
			require.Empty(t, got.header.Get("Content-Encoding"), accept)
			require.Equal(t, plain.body, got.body, accept)
			continue
		}
		require.Equal(t, "gzip", got.header.Get("Content-Encoding"), accept)
		reader, err := gzip.NewReader(bytes.NewReader([]byte(got.body)))
		require.NoError(t, err)
		body, err := io.ReadAll(reader)
		require.NoError(t, err)
		require.Equal(t, plain.body, string(body))
	}
	require.Empty(t, r.get(small, "Accept-Encoding", "gzip").header.Get("Content-Encoding"), "small ones are not")
}

func TestTheCallerIsReadFromTheRequest(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	d := &door{gateway: r.gateway, families: families[:]}
	for name, c := range map[string]struct {
		headers       []string
		query         string
		token, source string
	}{
		"nothing":                  {nil, "", "", "127.0.0.1"},
		"parameter":                {[]string{"X-Service-Token", "b"}, "token=a", "a", "127.0.0.1"},
		"empty parameter":          {[]string{"X-Service-Token", "b"}, "token=", "b", "127.0.0.1"},
		"other name":               {[]string{"X-Consul-Token", "b", "Authorization", "Bearer c"}, "", "b", "127.0.0.1"},
		"bearer":                   {[]string{"Authorization", "bearer   c d"}, "", "c", "127.0.0.1"},
		"another scheme":           {[]string{"Authorization", "Basic c"}, "", "", "127.0.0.1"},
		"bearer of nothing":        {[]string{"Authorization", "Bearer "}, "", "", "127.0.0.1"},
		"forwarded":                {[]string{"X-Forwarded-For", " 10.1.2.3 , 10.9.9.9"}, "", "", "10.1.2.3"},
		"forwarded, no address":    {[]string{"X-Forwarded-For", "unknown"}, "", "", "127.0.0.1"},
		"forwarded in version six": {[]string{"X-Forwarded-For", "::ffff:10.1.2.3"}, "", "", "10.1.2.3"},
	} {
		req := request("/v1/query?" + c.query)
		for i := 0; i < len(c.headers); i += 2 {
			req.Header.Set(c.headers[i], c.headers[i+1])
		}
		call := callOf(d, req)
		require.NoError(t, call.readCaller(), name)
		require.Equal(t, c.token, call.request.Token, name)
		require.Equal(t, c.source, call.request.Source.String(), name)
	}
}

package httpapi

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"signpost/resolver/catalog"
)

// limited fails when a request takes longer than any of its size may.
func limited(t *testing.T, r *rig, method, target, body string) answer {
	began := time.Now()
	got := r.send(method, target, body)
	require.Less(t, time.Since(began), 5*time.Second)
	require.NotEqual(t, http.StatusInternalServerError, got.status, got.body)
	if got.status != http.StatusOK {
		require.False(t, strings.ContainsAny(strings.TrimSuffix(got.body, "\n"), "\r\n\x00"), got.body)
	}
	return got
}

func FuzzBodies(f *testing.F) {
	for _, body := range []string{
		`{"Node": "n1", "Address": "10.0.0.1", "Service": {"Service": "web", "Tags": ["a"]}, "Check": {"Name": "c", "Definition": {"Interval": 5}}}`,
		`{"Name": "q", "Service": {"Service": "web", "NodeMeta": {"a": "b"}}, "DNS": {"TTL": "10s"}}`,
		`null`, `{`, `{"a":"\u0000"}`, `{"a":"\\u0000"}`, strings.Repeat("[", 40), "\xff", `{"Node":"a","Checks":[null]}`,
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		r := newRig(t, Config{})
		for _, target := range []string{"PUT " + registerPath, "PUT " + deregisterPath, "POST " + queryPath, "PUT /v1/query/" + queryID} {
			method, path, _ := strings.Cut(target, " ")
			limited(t, r, method, path, body)
		}
		for _, w := range r.state.writes { // what is stored can be stored
			text, err := json.Marshal(w)
			require.NoError(t, err)
			require.True(t, utf8.Valid(text))
			require.NoError(t, catalog.ValidateText(text), "%s", text)
		}
	})
}

func FuzzQueryStrings(f *testing.F) {
	for _, query := range []string{
		"filter=Node==a", "index=1&wait=1ns", "tag=a&tag=b&passing", "stale&max_stale=1s&pretty", "x=%zz", "a;b", "node-meta=a:b:c", "filter=((((a==b))))",
	} {
		f.Add(query)
	}
	f.Fuzz(func(t *testing.T, query string) {
		u := &url.URL{RawQuery: query}
		if _, err := url.ParseRequestURI("/v1/?" + query); err != nil || strings.ContainsAny(query, "# \r\n\t") || len(query) > 4096 {
			t.Skip("net/http would not let it in")
		}
		want, err := url.ParseQuery(u.RawQuery)
		got, refused := params(nil).parse(query)
		require.Equal(t, err != nil, refused != nil, "as net/url has it")
		for key := range want {
			if err == nil {
				require.Equal(t, want[key], got.all(key))
			}
		}
		if strings.Contains(query, "wait") || strings.Contains(query, "index") {
			t.Skip("it may block")
		}
		r := newRig(t, Config{})
		shop(r)
		for _, path := range []string{"/v1/health/service/web", "/v1/catalog/service/web", "/v1/catalog/node/n1", "/v1/query/x/execute"} {
			limited(t, r, http.MethodGet, path+"?"+query, "")
		}
	})
}

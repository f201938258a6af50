package httpapi

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"signpost/gateway"
	"signpost/resolver/catalog"
)

var readNames = []string{"Index", "KnownLeader", "LastContact", "Effective-Consistency", "Query-Backend"}

func TestReadsCarryTheirHeadersUnderBothNames(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	sample(r)
	for _, prefix := range []string{"X-Service-", "X-Consul-"} {
		h := r.get("/v1/query").header
		require.Equal(t, "2", h.Get(prefix+"Index"))
		require.Equal(t, "true", h.Get(prefix+"KnownLeader"))
		require.Equal(t, "0", h.Get(prefix+"LastContact"))
		require.Equal(t, "leader", h.Get(prefix+"Effective-Consistency"))
		require.Equal(t, "blocking-query", h.Get(prefix+"Query-Backend"))
		require.Equal(t, "allow", h.Get(prefix+"Default-ACL-Policy"))
		require.Equal(t, "1", r.get("/v1/query/web-q/execute").header.Get(prefix+"Index"), "executions have index 1, always")
	}
}

func TestWithoutCompatibilityOneFamilyIsSentAndRead(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{NoCompatHeaders: true})
	sample(r)
	got := r.get("/v1/query", "X-Consul-Namespace", "team")
	require.Equal(t, 200, got.status, "a header by the other name is not read")
	require.Equal(t, 400, r.get("/v1/query", "X-Service-Namespace", "team").status)
	require.Equal(t, "2", got.header.Get("X-Service-Index"))
	for name := range got.header {
		require.False(t, strings.HasPrefix(name, "X-Consul-"), name)
	}
}

func TestEveryAnswerHasTheCommonHeaders(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	sample(r)
	for name, got := range map[string]answer{
		"read":      r.get("/v1/query"),
		"write":     r.send(http.MethodPut, registerPath, `{"Node": "a", "Address": "b"}`),
		"not found": r.get("/v1/nowhere"),
		"refused":   r.get("/v1/query?index=x"),
		"method":    r.send(http.MethodDelete, "/v1/query", ""),
		"options":   r.send(http.MethodOptions, "/v1/query", ""),
		"process":   r.get("/health"),
	} {
		require.Equal(t, "nosniff", got.header.Get("X-Content-Type-Options"), name)
		require.Equal(t, "Accept-Encoding", got.header.Get("Vary"), name)
		require.Equal(t, "allow", got.header.Get("X-Service-Default-ACL-Policy"), name)
		require.NotEmpty(t, got.header.Get("Content-Length"), name)
	}
}

func TestOnlyReadsThatBeganHaveReadHeaders(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	sample(r)
	for _, target := range []string{"/v1/catalog/datacenters", "/v1/status/leader", "/v1/query?index=x", "/v1/nowhere"} {
		for _, name := range readNames {
			require.Empty(t, r.get(target).header.Get("X-Service-"+name), target)
		}
	}
	missing := r.get("/v1/query/nothing/execute")
	require.Equal(t, 404, missing.status)
	require.Equal(t, "1", missing.header.Get("X-Service-Index"), "a refused read has index 1")
	require.Equal(t, "true", missing.header.Get("X-Service-KnownLeader"))
}

func TestConsistencyIsAskedForAndReported(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"": "leader", "?leader": "leader", "?stale": "stale", "?stale=false": "stale", "?consistent": "consistent",
		"?consistent=": "consistent", "?max_stale=10s": "stale", "?max_stale=0s": "leader", "?cached": "leader",
	} {
		r := newRig(t, Config{})
		sample(r)
		got := r.get("/v1/query/web-q/execute" + query)
		require.Equal(t, want, got.header.Get("X-Service-Effective-Consistency"), query)
		require.Contains(t, got.body, `"ConsistencyLevel":"`+want+`"`)
	}
}

func TestConsistentReadsAreRefusedWithoutPostgres(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	sample(r)
	r.state.contact = gateway.Contact{Age: 90*time.Second + 1500*time.Microsecond}
	r.state.barrier = catalog.Errorf(catalog.Unavailable, "Postgres does not answer")

	refused := r.get("/v1/query?consistent")
	require.Equal(t, 503, refused.status)
	require.Equal(t, "Postgres does not answer", refused.body)

	served := r.get("/v1/query/web-q/execute")
	require.Equal(t, 200, served.status)
	require.Equal(t, "false", served.header.Get("X-Service-KnownLeader"))
	require.Equal(t, "90001", served.header.Get("X-Service-LastContact"), "whole milliseconds")
	require.Contains(t, served.body, `"LastContact":90001500000,"KnownLeader":false`)

	require.Equal(t, 200, r.get("/v1/query?max_stale=91s").status)
	require.Equal(t, 503, r.get("/v1/query?max_stale=90s").status, "older than the caller allows")
	require.Equal(t, 503, r.get("/v1/query?max_stale=90s&index=1").status)
	require.Equal(t, 503, r.get("/v1/query?stale&max_stale=90s").status)
}

func TestAnAnswerThatIsTooOldIsAskedForAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	sample(r)
	r.state.contact = gateway.Contact{Age: time.Minute}
	got := r.get("/v1/query?max_stale=1s") // the barrier is passed this time
	require.Equal(t, 200, got.status)
	require.Equal(t, "leader", got.header.Get("X-Service-Effective-Consistency"))
}

func TestErrorsHaveTheStatusOfTheirCode(t *testing.T) {
	t.Parallel()
	for _, code := range catalog.Codes() {
		require.Contains(t, statuses, code, "%s has no status", code)
		require.GreaterOrEqual(t, statuses[code], 400)
		r := newRig(t, Config{})
		r.state.refuse = catalog.Wrap(code, errors.New("secret cause"), "what\nhappened")
		got := r.send(http.MethodPost, queryPath, `{"Service": {"Service": "web"}}`)
		require.Equal(t, statuses[code], got.status, code)
		want := "what happened"
		if code == catalog.Internal {
			want = "internal error"
		}
		require.Equal(t, want, got.body, code)
	}
	require.Equal(t, 500, statusOf(catalog.Code(250)))
}

func TestInternalErrorsAreLoggedOnceAndLeakNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	r.state.refuse = errors.New("password=hunter2")
	got := r.send(http.MethodPost, queryPath, `{"Service": {"Service": "web"}}`)
	require.Equal(t, 500, got.status)
	require.Equal(t, "internal error", got.body)
	require.Equal(t, 1, strings.Count(r.log.String(), "hunter2"))
	require.Contains(t, r.log.String(), "level=ERROR")
}

func TestAPanicIsAnInternalError(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	got := r.send(http.MethodPut, "/v1/query/"+queryID, `{"Service": {"Service": "web"}}`)
	require.Equal(t, 404, got.status)
	r.handler = New(r.gateway, Config{Ready: func() []string { panic("boom") }}, r.gatewayLog())
	got = r.get("/ready")
	require.Equal(t, 500, got.status)
	require.Equal(t, "internal error", got.body)
	require.Contains(t, r.log.String(), "boom")
	require.Equal(t, 200, r.get("/health").status)
}

func TestPagesOfOtherOriginsAreRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	for origin, want := range map[string]int{
		"http://example.com": 200, "https://EXAMPLE.com": 200, // the host of test requests
		"http://evil.example": 403, "http://example.com.evil.example": 403, "null": 403, "http://example.com:81": 403, "%": 403,
	} {
		require.Equal(t, want, r.get("/v1/query", "Origin", origin).status, origin)
		require.Equal(t, want, r.send(http.MethodPut, registerPath, `{"Node": "a", "Address": "b"}`, "Origin", origin).status, origin)
	}
}

func TestMethodsOfAPathAreListed(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	for target, want := range map[string]string{
		"/v1/query": "OPTIONS,GET,POST", "/v1/query/x": "OPTIONS,GET,PUT,DELETE", "/v1/query/x/execute": "OPTIONS,GET",
		"/v1/catalog/register": "OPTIONS,PUT", "/v1/health/service/a%2Fb": "OPTIONS,GET",
	} {
		got := r.send(http.MethodOptions, target, "")
		require.Equal(t, 200, got.status)
		require.Empty(t, got.body)
		require.Equal(t, want, got.header.Get("Allow"), target)

		refused := r.send(http.MethodHead, target, "")
		require.Equal(t, http.StatusMethodNotAllowed, refused.status)
		require.Equal(t, want, refused.header.Get("Allow"), target)
	}
}

func TestReadinessIsSaidAndLatched(t *testing.T) {
	t.Parallel()
	reasons := []string{"the catalog is not loaded", "migrating"}
	r := newRig(t, Config{Ready: func() []string { return reasons }})
	require.Equal(t, 200, r.get("/health").status)
	got := r.get("/ready")
	require.Equal(t, 503, got.status)
	require.Equal(t, "the catalog is not loaded\nmigrating", got.body)
	leader := r.get("/v1/status/leader")
	require.Equal(t, 503, leader.status)
	require.Equal(t, "not ready: the catalog is not loaded; migrating", leader.body)
	require.Equal(t, 503, r.get("/v1/query").status)

	for _, target := range []string{"/v1/query", "/ready"} {
		r = newRig(t, Config{Ready: func() []string { return reasons }})
		reasons = nil
		require.Equal(t, 200, r.get(target).status)
		reasons = []string{"Postgres is away"}
		require.Equal(t, 503, r.get("/ready").status)
		require.Equal(t, 200, r.get("/v1/query").status, "reads go on from memory")
	}
}

func TestTheEventOfARequestHidesTheToken(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	sample(r)
	r.log.Reset()
	r.get("/v1/query/web-q/execute?token=hunter2", "X-Service-Token", "hunter3")
	require.Equal(t, 1, strings.Count(r.log.String(), "\n"), "one event")
	for _, part := range []string{"level=DEBUG", "operation=PreparedQuery.Execute", "method=GET", "route=/v1/query/:query/execute", "status=200", "bytes=", "duration="} {
		require.Contains(t, r.log.String(), part)
	}
	require.NotContains(t, r.log.String(), "hunter")
}

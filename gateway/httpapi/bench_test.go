package httpapi

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"signpost/gateway"
)

// discard is a ResponseWriter that keeps the headers alone.
type discard struct {
	header http.Header
	status int
	bytes  int
}

func (w *discard) Header() http.Header         { return w.header }
func (w *discard) WriteHeader(status int)      { w.status = status }
func (w *discard) Write(b []byte) (int, error) { w.bytes += len(b); return len(b), nil }

// request is what net/http makes of a GET, without the cost of parsing it.
func request(target string) *http.Request {
	u, err := url.ParseRequestURI(target)
	if err != nil {
		panic(err)
	}
	return &http.Request{
		Method: http.MethodGet, URL: u, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"User-Agent": {"bench"}}, Body: http.NoBody,
		Host: "127.0.0.1:8500", RemoteAddr: "127.0.0.1:40000", RequestURI: target,
	}
}

// tenInstances is a door over a catalog with one query that finds ten.
func tenInstances(t testing.TB) http.Handler {
	state := newState()
	log := slog.New(slog.DiscardHandler)
	g := gateway.New(gateway.Config{}, state, state, log)
	r := &rig{T: &testing.T{}, state: state, handler: New(g, Config{}, log)}
	for i := range 10 {
		r.register(fmt.Sprintf(`{"Node": "node-%d", "Address": "10.0.0.%d", "NodeMeta": {"rack": "r%d", "env": "prod"},
			"Service": {"ID": "web-%d", "Service": "web", "Tags": ["v1", "primary"], "Port": 8000, "Meta": {"version": "1", "zone": "z1"}},
			"Check": {"CheckID": "service:web-%d", "Name": "web", "Status": "passing", "ServiceID": "web-%d"}}`, i, i, i, i, i, i))
	}
	created := r.send(http.MethodPost, "/v1/query", `{"Name": "web", "Service": {"Service": "web"}}`)
	require.Equal(t, http.StatusOK, created.status, created.body)
	return r.handler
}

// static is the smallest gin handler that gives the same bytes and headers.
func static(like *discard, body []byte) http.Handler {
	gin.SetMode(gin.ReleaseMode)
	e := gin.New()
	e.GET("/v1/query/:query/execute", func(c *gin.Context) {
		for name, values := range like.header {
			if name != "Content-Type" && name != "Content-Length" {
				c.Header(name, values[0])
			}
		}
		c.Header("Content-Length", strconv.Itoa(len(body)))
		c.Data(http.StatusOK, "application/json", body)
	})
	return e
}

func serveMany(b *testing.B, h http.Handler, target string) {
	r := request(target)
	b.ReportAllocs()
	for b.Loop() {
		w := discard{header: http.Header{}}
		h.ServeHTTP(&w, r)
		if w.status != http.StatusOK || w.bytes == 0 {
			b.Fatalf("status %d, %d bytes", w.status, w.bytes)
		}
	}
}

func BenchmarkExecuteTenInstances(b *testing.B) {
	serveMany(b, tenInstances(b), "/v1/query/web/execute")
}

func BenchmarkHealthServiceTenInstances(b *testing.B) {
	serveMany(b, tenInstances(b), "/v1/health/service/web")
}

func BenchmarkStaticSameAnswer(b *testing.B) {
	var w discard
	w.header = http.Header{}
	tenInstances(b).ServeHTTP(&w, request("/v1/query/web/execute"))
	serveMany(b, static(&w, make([]byte, w.bytes)), "/v1/query/web/execute")
}

func BenchmarkQueryGet(b *testing.B) {
	state := newState()
	log := slog.New(slog.DiscardHandler)
	state.change(putQuery(queryID, "web-q"))
	h := New(gateway.New(gateway.Config{}, state, state, log), Config{}, log)
	serveMany(b, h, "/v1/query/"+queryID)
}

// BenchmarkWritingAnInstance is what an instance costs that is not
// remembered.
func BenchmarkWritingAnInstance(b *testing.B) {
	r := &rig{T: &testing.T{}, state: newState()}
	log := slog.New(slog.DiscardHandler)
	r.handler = New(gateway.New(gateway.Config{}, r.state, r.state, log), Config{}, log)
	shop(r)
	inst := r.state.Snapshot().Service("web").Instances[0]
	write := formsIn("dc1")[formExecute]
	b.ReportAllocs()
	for b.Loop() {
		if len(write(inst)) == 0 {
			b.Fatal("nothing written")
		}
	}
}

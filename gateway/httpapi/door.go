package httpapi

import (
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"

	"signpost/gateway"
	"signpost/resolver/snapshot"
)

// Config is how the door behaves. The zero value works.
type Config struct {
	// NoCompatHeaders leaves out the X-Consul-* names of headers. They are
	// then neither sent nor read.
	NoCompatHeaders bool
	// Ready gives the reasons for not being ready yet, none when it is.
	// nil: always ready. Until it gave none for the first time, operations
	// are refused with 503; after that it only decides what /ready says.
	Ready func() []string
	// FormMemory is how many bytes of instances in JSON are remembered.
	// Default 128 MiB.
	FormMemory int
}

const defaultFormMemory = 128 << 20

// door is what all calls share.
type door struct {
	gateway  *gateway.Gateway
	log      *slog.Logger
	ready    func() []string
	started  atomic.Bool // ready has once given no reason
	families []family
	memory   *snapshot.Memory
	forms    [snapshot.NumForms]func(*snapshot.Instance) []byte
	filters  *filters
	calls    sync.Pool
	buffers  sync.Pool
	zippers  sync.Pool
}

// New makes the handler over a gateway.
func New(g *gateway.Gateway, c Config, log *slog.Logger) http.Handler {
	if c.Ready == nil {
		c.Ready = func() []string { return nil }
	}
	if c.FormMemory == 0 {
		c.FormMemory = defaultFormMemory
	}
	d := &door{
		gateway: g, log: log, ready: c.Ready, families: families[:],
		memory: snapshot.NewMemory(c.FormMemory), filters: newFilters(),
	}
	if c.NoCompatHeaders {
		d.families = families[:1]
	}
	d.forms = formsIn(g.Datacenter)
	d.calls.New = func() any { return &call{door: d} }
	d.buffers.New = func() any { return new([]byte) }
	d.zippers.New = func() any { return newZipper() }
	return d.engine()
}

// engine binds the table of routes. Paths are matched as they were sent, so
// that an escaped slash is part of a name; nothing is redirected.
func (d *door) engine() http.Handler {
	gin.SetMode(gin.ReleaseMode)
	e := gin.New()
	e.UseRawPath, e.UnescapePathValues = true, false
	e.RedirectTrailingSlash, e.RedirectFixedPath = false, false
	e.HandleMethodNotAllowed = true
	e.NoRoute(d.serve(&unknownPath))
	e.NoMethod(d.serve(&wrongMethod))
	for i := range routes {
		r := &routes[i]
		e.Handle(r.method, r.path, d.serve(r))
		if missing, ok := r.withoutName(); ok {
			e.Handle(r.method, missing.path, d.serve(missing))
		}
	}
	for _, path := range paths() {
		e.Handle(http.MethodOptions, path, d.serve(&options))
	}
	return e
}

// Server makes the server for the handler. Headers must come within 10 s; a
// body within the time that readBody gives it; an answer must be taken within
// the longest time that a read may block, and some.
func Server(handler http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		WriteTimeout:      maxWait + maxWait/16 + time.Minute,
		MaxHeaderBytes:    1 << 20,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

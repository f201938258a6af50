package e2e_test

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"signpost/cmd/signpost/config"
	"signpost/cmd/signpost/server"
	"signpost/db"
	"signpost/migrations"
	"signpost/test/testdb"
)

// gate is one gateway of a fleet, with a client of its own.
type gate struct {
	*server.Server
	base   string // http://host:port
	dns    string // host:port
	client *http.Client
	stop   func() // ends it early; may be called again
}

func newDatabase(t testing.TB) string {
	t.Helper()
	return testdb.New(t, testdb.Migrated(db.Migrate, migrations.Files))
}

// fleet starts n gateways over one new database, and returns when they are
// ready.
func fleet(t testing.TB, n int, customise ...func(*config.Config)) []*gate {
	t.Helper()
	return fleetOn(t, newDatabase(t), n, customise...)
}

func fleetOn(t testing.TB, url string, n int, customise ...func(*config.Config)) []*gate {
	t.Helper()
	gates := make([]*gate, n)
	for i := range gates {
		gates[i] = start(t, url, customise...)
	}
	for _, g := range gates {
		within(t, 20*time.Second, "the gateway is ready", func() bool { return len(g.NotReady()) == 0 })
	}
	return gates
}

// start starts one gateway on free ports, ready or not.
func start(t testing.TB, url string, customise ...func(*config.Config)) *gate {
	t.Helper()
	c := config.Default()
	c.Postgres.URL = config.SecretURL(url)
	c.Addresses.HTTP, c.Addresses.DNS = "127.0.0.1:0", "127.0.0.1:0"
	for _, f := range customise {
		f(&c)
	}
	log, closeLog := logTo(t)
	s, err := server.New(c, server.Options{}, log)
	require.NoError(t, err)
	require.NoError(t, s.Listen())
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	g := &gate{
		Server: s, base: "http://" + s.HTTP().String(), dns: s.DNS().String(),
		client: &http.Client{Transport: transport, Timeout: patience},
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	g.stop = sync.OnceFunc(func() {
		cancel()
		transport.CloseIdleConnections()
		select {
		case err := <-ended:
			require.NoError(t, err)
		case <-time.After(30 * time.Second):
			t.Error("the gateway did not stop")
		}
		closeLog()
	})
	t.Cleanup(g.stop)
	return g
}

// patience bounds one request of a test.
const patience = 60 * time.Second

// within waits, with a deadline, for something that happens by itself.
func within(t testing.TB, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(limit)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", limit, what)
		}
		time.Sleep(time.Millisecond)
	}
}

// logTo makes a logger that writes into the test's output, until it is closed.
func logTo(t testing.TB) (*slog.Logger, func()) {
	w := &testLog{t: t}
	handler := slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelInfo})
	return slog.New(handler), w.close
}

type testLog struct {
	mu     sync.Mutex
	t      testing.TB
	closed bool
}

func (w *testLog) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.t.Logf("%s", b)
	}
	return len(b), nil
}

func (w *testLog) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
}

package replica_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"signpost/db"
	"signpost/db/replica"
	"signpost/migrations"
	"signpost/resolver/catalog"
	"signpost/test/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

func newDatabase(t testing.TB) string {
	return testdb.New(t, testdb.Migrated(db.Migrate, migrations.Files))
}

// member is what one gateway has of the state engine.
type member struct {
	*replica.Replica
	store *db.Store
	name  string
}

// join starts a member; it ends with the test, or earlier by the function
// that is returned.
func join(t testing.TB, url, name string) (*member, func()) {
	t.Helper()
	log := slog.New(slog.NewTextHandler(testWriter{t}, &slog.HandlerOptions{Level: slog.LevelWarn}))
	c := db.Config{URL: url}
	m := &member{Replica: replica.New(c, log), name: name}
	m.store = db.NewStore(c, m.Hint, log)
	ctx, cancel := context.WithCancel(context.Background())
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return m.Replica.Run(ctx) })
	g.Go(func() error { return m.store.Run(ctx) })
	stopped := false
	stop := func() {
		if !stopped {
			stopped = true
			cancel()
			require.NoError(t, g.Wait())
		}
	}
	t.Cleanup(stop)
	within(t, 10*time.Second, name+" is ready", m.Ready)
	return m, stop
}

func fleet(t testing.TB, url string, n int) []*member {
	t.Helper()
	out := make([]*member, n)
	for i := range out {
		out[i], _ = join(t, url, fmt.Sprint("replica ", i))
	}
	return out
}

type testWriter struct{ t testing.TB }

func (w testWriter) Write(b []byte) (int, error) {
	w.t.Logf("%s", b)
	return len(b), nil
}

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

func (m *member) apply(t testing.TB, w catalog.Write) catalog.Outcome {
	t.Helper()
	out, err := m.store.Apply(context.Background(), w)
	require.NoError(t, err)
	return out
}

func (m *member) reach(t testing.TB, index catalog.Index) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	require.NoError(t, m.Reach(ctx, index), m.name)
}

// psql is an operator's session.
func psql(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func exec(t testing.TB, conn *pgx.Conn, sql string, args ...any) {
	t.Helper()
	_, err := conn.Exec(context.Background(), sql, args...)
	require.NoError(t, err)
}

func registration(node, id, name string, port int, status catalog.Status) catalog.Registration {
	r := catalog.Registration{
		Node:    catalog.Node{Name: node, Address: "10.0.0.1"},
		Service: &catalog.Service{Node: node, ID: id, Name: name, Port: port, Weights: catalog.DefaultWeights},
		Checks:  []catalog.Check{{Node: node, ID: "check:" + id, Name: "check", ServiceID: id, Status: status}},
	}
	return r
}

package testdb_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"signpost/db/localpg"
	"signpost/test/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// migration is one made-up migration that counts how often it was applied.
type migration struct {
	files   fstest.MapFS
	applied atomic.Int32
}

func newMigration(statement string) *migration {
	return &migration{files: fstest.MapFS{"0001_things.up.sql": {Data: []byte(statement)}}}
}

func (m *migration) apply(ctx context.Context, url string) error {
	m.applied.Add(1)
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, string(m.files["0001_things.up.sql"].Data))
	return err
}

func (m *migration) option() testdb.Option { return testdb.Migrated(m.apply, m.files) }

func connect(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func value[T any](t testing.TB, conn *pgx.Conn, statement string) T {
	t.Helper()
	var v T
	require.NoError(t, conn.QueryRow(t.Context(), statement).Scan(&v))
	return v
}

func TestAnEmptyDatabaseIsUTF8(t *testing.T) {
	t.Parallel()
	conn := connect(t, testdb.New(t))
	require.Equal(t, "UTF8", value[string](t, conn, `SHOW server_encoding`))
	require.Zero(t, value[int](t, conn, `SELECT count(*) FROM pg_tables WHERE schemaname = 'public'`))
}

func TestDatabasesAreClonesOfOneMigratedTemplate(t *testing.T) {
	t.Parallel()
	// The time makes the files new on a server that ran this test before.
	m := newMigration(`CREATE TABLE things (name text); INSERT INTO things VALUES ('` + time.Now().String() + `')`)
	a, b := connect(t, testdb.New(t, m.option())), connect(t, testdb.New(t, m.option()))
	_, err := a.Exec(t.Context(), `INSERT INTO things VALUES ('only in a')`)
	require.NoError(t, err)
	require.Equal(t, 2, value[int](t, a, `SELECT count(*) FROM things`))
	require.Equal(t, 1, value[int](t, b, `SELECT count(*) FROM things`))
	require.EqualValues(t, 1, m.applied.Load(), "the template is made once")
}

func TestChangedMigrationsMakeAnotherTemplate(t *testing.T) {
	t.Parallel()
	first, second := newMigration(`CREATE TABLE first ()`), newMigration(`CREATE TABLE second ()`)
	testdb.New(t, first.option())
	conn := connect(t, testdb.New(t, second.option()))
	require.Equal(t, "second", value[string](t, conn, `SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'`))
}

func TestADatabaseIsDroppedAtTheEndOfItsTest(t *testing.T) {
	t.Parallel()
	var gone string
	t.Run("its test", func(t *testing.T) {
		gone = testdb.New(t)
		left, err := pgx.Connect(t.Context(), gone) // never closed
		require.NoError(t, err)
		require.NoError(t, left.Ping(t.Context()))
	})
	_, err := pgx.Connect(t.Context(), gone)
	require.ErrorContains(t, err, "does not exist")
}

// failing stands for a test that New ends.
type failing struct {
	testing.TB
	message string
}

var errFatal = errors.New("fatal")

func (f *failing) Fatal(args ...any) { f.message = args[0].(error).Error(); panic(errFatal) }
func (f *failing) Fatalf(format string, args ...any) {
	f.message = args[0].(error).Error()
	panic(errFatal)
}

func TestAMigrationThatFailsFailsTheTestAndLeavesNoTemplate(t *testing.T) {
	t.Parallel()
	m := newMigration(`CREATE TABLE half (); SELECT broken`)
	f := &failing{TB: t}
	require.PanicsWithError(t, "fatal", func() { testdb.New(f, m.option()) })
	require.Contains(t, f.message, "broken")
	require.PanicsWithError(t, "fatal", func() { testdb.New(f, m.option()) })
}

func TestAPrivateServerIsConfigured(t *testing.T) {
	t.Parallel()
	s := testdb.Server(t, func(cfg *localpg.Config) { cfg.Durable, cfg.Settings["max_connections"] = true, "20" })
	conn := connect(t, s.New(newMigration(`CREATE TABLE things AS SELECT 'cloned' AS it`).option()))
	require.Equal(t, "20", value[string](t, conn, `SHOW max_connections`))
	require.Equal(t, "on", value[string](t, conn, `SHOW fsync`))
	require.Equal(t, "cloned", value[string](t, conn, `SELECT it FROM things`))
}

func TestAServerNamedByTheEnvironmentIsUsed(t *testing.T) {
	s := testdb.Server(t)
	url := s.New()
	t.Setenv(testdb.EnvURL, url)
	found, err := testdb.Serve(t.Context())
	require.NoError(t, err)
	require.Equal(t, url, found.URL)
	require.NoError(t, found.Stop())
	require.NoError(t, connect(t, url).Ping(t.Context()), "a server that was not started here is not stopped here")

	t.Setenv(testdb.EnvURL, "host=/tmp dbname=x")
	_, err = testdb.Serve(t.Context())
	require.ErrorContains(t, err, testdb.EnvURL+": not a URL")

	t.Setenv(testdb.EnvURL, "postgres://nobody@127.0.0.1:1/none")
	_, err = testdb.Serve(t.Context())
	require.ErrorContains(t, err, testdb.EnvURL+": failed to connect")
}

func TestAnEngineWithoutTheImageMeansTheNextWay(t *testing.T) {
	t.Setenv(testdb.EnvURL, "")
	t.Setenv("SIGNPOST_TEST_POSTGRES_IMAGE", "localhost:1/no/such:image")
	began := time.Now()
	found, err := testdb.Serve(t.Context())
	require.Less(t, time.Since(began), time.Minute)
	if _, notInstalled := localpg.Find(); notInstalled != nil {
		require.ErrorContains(t, err, "tests need Postgres: install it, start Docker, or set "+testdb.EnvURL)
		require.NotContains(t, err.Error(), "\n")
		return
	}
	require.NoError(t, err)
	require.Contains(t, found.Where, "installed Postgres")
	require.Equal(t, "300", value[string](t, connect(t, found.URL), `SHOW max_connections`))
	require.NoError(t, found.Stop())
}

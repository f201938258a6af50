package db_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"signpost/db"
	"signpost/migrations"
	"signpost/resolver/catalog"
	"signpost/resolver/snapshot"
	"signpost/test/testdb"
)

func execAll(t *testing.T, conn *pgx.Conn, statements ...string) {
	t.Helper()
	for _, sql := range statements {
		_, err := conn.Exec(context.Background(), sql)
		require.NoError(t, err, sql)
	}
}

// TestALargeTransactionIsTrimmedInParts, and in between whoever has applied it
// can follow, and whoever has not is told to load.
func TestALargeTransactionIsTrimmedInParts(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	conn := connect(t, testdb.New(t, testdb.Migrated(db.Migrate, migrations.Files)))
	execAll(t, conn, `INSERT INTO signpost.nodes (name) VALUES ('first')`)
	before, err := db.Load(ctx, conn, db.NewValues(), snapshot.NewBuilder(snapshot.Empty()), func() {})
	require.NoError(t, err)
	execAll(t, conn, `INSERT INTO signpost.nodes (name) SELECT 'n' || i FROM generate_series(1, 1000) i`)
	bulk, err := db.Load(ctx, conn, db.NewValues(), snapshot.NewBuilder(snapshot.Empty()), func() {})
	require.NoError(t, err)
	execAll(t, conn, `INSERT INTO signpost.nodes (name) VALUES ('last')`)

	var left int64 = 1001
	for left > 0 {
		var gone int64
		require.NoError(t, conn.QueryRow(ctx, `SELECT signpost.trim_changes('0'::interval, 300)`).Scan(&gone))
		require.Equal(t, min(left, 300), gone)
		left -= gone
		_, err = db.Follow(ctx, conn, db.NewValues(), before, snapshot.NewBuilder(snapshot.Empty()), func() {})
		require.ErrorIs(t, err, db.ErrTrimmed)
		if left > 0 {
			at, err := db.Follow(ctx, conn, db.NewValues(), bulk, snapshot.NewBuilder(snapshot.Empty()), func() {})
			require.NoError(t, err)
			require.Greater(t, at.Index, bulk.Index)
		}
	}
	_, err = db.Follow(ctx, conn, db.NewValues(), bulk, snapshot.NewBuilder(snapshot.Empty()), func() {})
	require.ErrorIs(t, err, db.ErrTrimmed)
}

const (
	ageTheLog = `ALTER TABLE signpost.changes ALTER COLUMN at SET DEFAULT now() - interval '1 hour'`
	tooMany   = `WITH drawn AS MATERIALIZED (SELECT signpost.tx_index() AS index)
		INSERT INTO signpost.tombstones SELECT 'node', 'n' || i, index FROM drawn, generate_series(1, 100001) i`
	awaitingLock = `SELECT count(*) > 0 FROM pg_locks l JOIN pg_stat_activity a USING (pid)
		WHERE l.locktype = 'advisory' AND NOT l.granted AND a.datname = current_database()`
)

// TestTrimmingTakesTheWriteLockBeforeRows: whoever holds the lock must find
// no row held by one who waits for it.
func TestTrimmingTakesTheWriteLockBeforeRows(t *testing.T) {
	t.Parallel()
	url := testdb.New(t, testdb.Migrated(db.Migrate, migrations.Files))
	conn, other := connect(t, url), connect(t, url)
	execAll(t, conn, ageTheLog, tooMany, `INSERT INTO signpost.nodes (name) VALUES ('a')`, `BEGIN`, `SELECT signpost.write_lock()`, `SET LOCAL lock_timeout = '200ms'`)

	ctx, cancel := context.WithCancel(context.Background())
	store := db.NewStore(db.Config{URL: url}, func(catalog.Index) {}, slog.New(slog.DiscardHandler))
	ended := make(chan error, 1)
	go func() { ended <- store.Run(ctx) }()
	require.Eventually(t, func() bool {
		var waits bool
		return other.QueryRow(context.Background(), awaitingLock).Scan(&waits) == nil && waits
	}, 10*time.Second, 10*time.Millisecond, "the store never trimmed")
	execAll(t, conn, `TRUNCATE signpost.queries`, `COMMIT`)
	cancel()
	require.NoError(t, <-ended)
}

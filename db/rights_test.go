package db_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"signpost/db"
	"signpost/migrations"
	"signpost/test/testdb"
)

// actAs gives a connection the rights of a new role that may use the schema.
// Roles belong to the whole server, so it goes with the transaction.
func actAs(t *testing.T, conn *pgx.Conn, grants string) pgx.Tx {
	ctx := context.Background()
	tx, err := conn.Begin(ctx)
	require.NoError(t, err)
	t.Cleanup(func() { _ = tx.Rollback(ctx) })
	role := pgx.Identifier{"r" + uuid.NewString()}.Sanitize()
	_, err = tx.Exec(ctx, fmt.Sprintf(`CREATE ROLE %[1]s; GRANT USAGE ON SCHEMA signpost TO %[1]s; %[2]s; SET ROLE %[1]s`, role, fmt.Sprintf(grants, role)))
	require.NoError(t, err)
	return tx
}

const selectPublicFunctions = `
SELECT p.proname::text FROM pg_proc p
WHERE p.pronamespace = 'signpost'::regnamespace
  AND (p.proacl IS NULL OR EXISTS (SELECT FROM aclexplode(p.proacl) a WHERE a.grantee = 0))
ORDER BY 1`

// TestFunctionsAreNotForEverybody: a new function is executable by everybody
// unless its migration says otherwise.
func TestFunctionsAreNotForEverybody(t *testing.T) {
	t.Parallel()
	conn := connect(t, testdb.New(t, testdb.Migrated(db.Migrate, migrations.Files)))
	rows, err := conn.Query(context.Background(), selectPublicFunctions)
	require.NoError(t, err)
	open, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Equal(t, []string{"drawn_index", "tx_index"}, open)
}

// TestAnOperatorNeedsRightsOnTheTableOnly: triggers do the rest in the name of
// the owner.
func TestAnOperatorNeedsRightsOnTheTableOnly(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	conn := connect(t, testdb.New(t, testdb.Migrated(db.Migrate, migrations.Files)))
	tx := actAs(t, conn, `GRANT SELECT, INSERT, UPDATE, DELETE ON signpost.nodes TO %s`)
	for _, sql := range []string{
		`INSERT INTO signpost.nodes (name) VALUES ('a'), ('b')`,
		`UPDATE signpost.nodes SET address = '10.0.0.1'`,
		`DELETE FROM signpost.nodes WHERE name = 'b'`,
		`RESET ROLE`,
	} {
		_, err := tx.Exec(ctx, sql)
		require.NoError(t, err, sql)
	}
	var logged int
	require.NoError(t, tx.QueryRow(ctx, `SELECT count(*) FROM signpost.changes WHERE tbl = 'nodes'`).Scan(&logged))
	require.Equal(t, 5, logged)
}

// TestTheLogCannotBeForged: the engine's functions run with the rights of the
// owner, so nobody may call them on what is not the catalog.
func TestTheLogCannotBeForged(t *testing.T) {
	t.Parallel()
	for _, sql := range []string{
		`CREATE TEMP TABLE mine (LIKE signpost.nodes);
		 CREATE TRIGGER forge AFTER INSERT ON mine REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION signpost.log_nodes_put()`,
		`SELECT signpost.raise_index(9223372036854775000)`,
		`SELECT signpost.trim_changes('0', 1000)`,
		`SELECT signpost.raise_floor('reload')`,
	} {
		t.Run(sql, func(t *testing.T) {
			t.Parallel()
			conn := connect(t, testdb.New(t, testdb.Migrated(db.Migrate, migrations.Files)))
			_, err := actAs(t, conn, `GRANT SELECT ON ALL TABLES IN SCHEMA signpost TO %s`).Exec(context.Background(), sql)
			require.ErrorContains(t, err, "permission denied for function")
		})
	}
}

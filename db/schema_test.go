package db_test

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"signpost/db"
	"signpost/migrations"
	"signpost/resolver/catalog"
	"signpost/test/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

func connect(t *testing.T, url string) *pgx.Conn {
	conn, err := pgx.Connect(context.Background(), url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// TestEveryStatementPrepares finds the statements in the source, so that none
// can be forgotten here.
func TestEveryStatementPrepares(t *testing.T) {
	t.Parallel()
	conn := connect(t, testdb.New(t, testdb.Migrated(db.Migrate, migrations.Files)))
	found := 0
	for _, dir := range []string{".", "replica"} {
		for name, sql := range statements(t, dir) {
			found++
			for part := range strings.SplitSeq(sql, "; ") {
				_, err := conn.Prepare(context.Background(), "", part)
				require.NoError(t, err, "%s: %s", name, sql)
			}
		}
	}
	require.Greater(t, found, 25, "the search for statements is broken")
}

var isStatement = regexp.MustCompile(`^\s*(SELECT|INSERT|UPDATE|DELETE|WITH|BEGIN|COMMIT|ROLLBACK|SET|LISTEN|NOTIFY|CREATE) ?`)

func statements(t *testing.T, dir string) map[string]string {
	out := map[string]string{}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			for i, v := range spec.Values {
				if lit, ok := v.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					text, err := strconv.Unquote(lit.Value)
					require.NoError(t, err)
					if isStatement.MatchString(text) {
						out[file+" "+spec.Names[i].Name] = text
					}
				}
			}
			return true
		})
	}
	return out
}

// describe tells everything that a migration can make or leave behind.
const describe = `
SELECT coalesce(string_agg(line, E'\n' ORDER BY line), '') FROM (
    SELECT format('relation %s %s', c.relname, c.relkind) FROM pg_class c WHERE c.relnamespace = 'signpost'::regnamespace
    UNION ALL SELECT format('column %s.%s %s %s', table_name, column_name, data_type, column_default) FROM information_schema.columns WHERE table_schema = 'signpost'
    UNION ALL SELECT format('function %s %s', p.oid::regprocedure, md5(p.prosrc)) FROM pg_proc p WHERE p.pronamespace = 'signpost'::regnamespace
    UNION ALL SELECT format('constraint %s %s', conname, pg_get_constraintdef(oid)) FROM pg_constraint WHERE connamespace = 'signpost'::regnamespace
    UNION ALL SELECT format('trigger %s', pg_get_triggerdef(t.oid)) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid WHERE c.relnamespace = 'signpost'::regnamespace AND NOT t.tgisinternal
) AS lines(line)`

func TestEachMigrationGoesUpDownAndUp(t *testing.T) {
	t.Parallel()
	ctx, url := context.Background(), testdb.New(t)
	conn := connect(t, url)
	schema := func() (text string) {
		require.NoError(t, conn.QueryRow(ctx, describe).Scan(&text))
		return text
	}
	pairs, err := fs.Glob(migrations.Files, "*.up.sql")
	require.NoError(t, err)
	require.Len(t, pairs, migrations.Newest)
	before := ""
	for version := uint(1); version <= migrations.Newest; version++ {
		require.NoError(t, db.MigrateTo(ctx, url, version))
		if version == 1 {
			before = "" // the schema itself and the version table are not a migration's
		}
		up := schema()
		require.NotEqual(t, before, up)
		if version > 1 {
			require.NoError(t, db.MigrateTo(ctx, url, version-1))
			require.Equal(t, before, schema(), "version %d leaves something behind", version)
		} else {
			require.NoError(t, db.MigrateTo(ctx, url, 0))
			require.NotContains(t, schema(), "function")
		}
		require.NoError(t, db.MigrateTo(ctx, url, version))
		require.Equal(t, up, schema(), "version %d comes back different", version)
		before = up
	}
	at, err := db.Version(ctx, url)
	require.NoError(t, err)
	require.EqualValues(t, migrations.Newest, at)
}

func TestTheSchemaCheckKnowsOldNewAndHalfDone(t *testing.T) {
	t.Parallel()
	ctx, url := context.Background(), testdb.New(t, testdb.Migrated(db.Migrate, migrations.Files))
	conn := connect(t, url)
	set := func(version int, dirty bool) {
		_, err := conn.Exec(ctx, `UPDATE signpost.schema_migrations SET version = $1, dirty = $2`, version, dirty)
		require.NoError(t, err)
	}
	require.NoError(t, db.CheckSchema(ctx, url))
	set(migrations.Newest+1, false)
	require.NoError(t, db.CheckSchema(ctx, url), "one newer is served")
	require.NoError(t, db.Migrate(ctx, url), "and left as it is")
	set(migrations.Newest+2, false)
	require.ErrorContains(t, db.CheckSchema(ctx, url), "at most one newer")
	set(migrations.Newest-1, false)
	require.ErrorContains(t, db.CheckSchema(ctx, url), "migrate up")
	set(migrations.Newest, true)
	require.ErrorContains(t, db.CheckSchema(ctx, url), "half done")
	require.Error(t, db.Migrate(ctx, url))
}

// TestFoldingIsTheSameHereAndThere: the database and the gateways agree on
// which names are the same.
func TestFoldingIsTheSameHereAndThere(t *testing.T) {
	t.Parallel()
	conn := connect(t, testdb.New(t))
	names := []string{"web", "WEB", "ÄÖÜ", "İstanbul", "K", "ſ", "ǅ", "日本", "a\u0301A", "Ω"}
	for r := rune(1); r < 0x3000; r++ {
		if r < 0xd800 || r > 0xdfff {
			names = append(names, "x"+string(r)+"Y")
		}
	}
	rows, err := conn.Query(context.Background(), `SELECT lower(name COLLATE "C") FROM unnest($1::text[]) WITH ORDINALITY AS n(name, i) ORDER BY i`, names)
	require.NoError(t, err)
	folded, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	for i, name := range names {
		require.Equal(t, catalog.Fold(name), folded[i], "%q", name)
	}
}

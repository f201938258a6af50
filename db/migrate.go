package db

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/golang-migrate/migrate/v4"
	pgxdriver "github.com/golang-migrate/migrate/v4/database/pgx/v5"
	"github.com/golang-migrate/migrate/v4/source/iofs"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"signpost/migrations"
)

const migrationsTable = `"signpost"."schema_migrations"`

// Migrate brings the schema up to this build's version, if it is older. Any
// number of replicas may do so at once: they queue on an advisory lock.
// A newer schema is left as it is.
func Migrate(ctx context.Context, url string) error {
	v, err := Version(ctx, url)
	var half halfDoneError
	switch {
	case errors.As(err, &half): // or another replica is at it: under the lock that is certain
	case err != nil || v >= migrations.Newest:
		return err // the usual case takes no lock
	}
	return withMigrations(ctx, url, func(m *migrate.Migrate) error { return m.Up() })
}

// MigrateTo moves the schema to a version, up or down; 0 removes it all.
func MigrateTo(ctx context.Context, url string, version uint) error {
	return withMigrations(ctx, url, func(m *migrate.Migrate) error {
		if version == 0 {
			return m.Down()
		}
		return m.Migrate(version)
	})
}

// Version tells which version the schema has; 0 if there is none. It is an
// error if a migration was left half done.
func Version(ctx context.Context, url string) (uint, error) {
	conn, err := Connect(ctx, url, "version")
	if err != nil {
		return 0, err
	}
	defer closeNow(conn)
	return schemaVersion(ctx, conn)
}

const selectVersion = `SELECT version, dirty FROM signpost.schema_migrations`

func schemaVersion(ctx context.Context, conn *pgx.Conn) (uint, error) {
	var version int64
	var dirty bool
	err := conn.QueryRow(ctx, selectVersion).Scan(&version, &dirty)
	switch {
	case errors.Is(err, pgx.ErrNoRows), hasState(err, stateUndefinedTable), hasState(err, stateInvalidSchema):
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("read the schema's version: %w", err)
	case dirty:
		return 0, halfDoneError(version)
	}
	return uint(version), nil
}

// halfDoneError is the version that a migration began to move the schema to.
// Read without the lock it may mean that one is under way.
type halfDoneError int64

func (e halfDoneError) Error() string {
	return fmt.Sprintf("migration %d was left half done: mend the schema, then set dirty to false in %s", int64(e), migrationsTable)
}

const selectEncoding = `SELECT current_setting('server_encoding'), current_setting('server_version_num')::int`

const oldestPostgres = 130000

// CheckServer tells, in one line, why this database cannot be used.
func CheckServer(ctx context.Context, url string) error {
	conn, err := Connect(ctx, url, "check")
	if err != nil {
		return err
	}
	defer closeNow(conn)
	var encoding string
	var version int
	if err := conn.QueryRow(ctx, selectEncoding).Scan(&encoding, &version); err != nil {
		return fmt.Errorf("ask the database for its encoding: %w", err)
	}
	switch {
	case encoding != "UTF8":
		return fmt.Errorf("the database's encoding is %s, but it must be UTF8", encoding)
	case version < oldestPostgres:
		return fmt.Errorf("the server is Postgres %d, but at least 13 is needed", version/10000)
	}
	return nil
}

// CheckSchema refuses a schema that this build's statements do not fit.
func CheckSchema(ctx context.Context, url string) error {
	v, err := Version(ctx, url)
	switch {
	case err != nil:
		return err
	case v < migrations.Newest:
		return fmt.Errorf("the schema has version %d, this build needs %d: run `signpost migrate up`", v, migrations.Newest)
	case v > migrations.Newest+1:
		return fmt.Errorf("the schema has version %d, this build knows %d and serves at most one newer", v, migrations.Newest)
	}
	return nil
}

func withMigrations(ctx context.Context, url string, do func(*migrate.Migrate) error) error {
	if err := createSchema(ctx, url); err != nil {
		return err
	}
	c, err := pgx.ParseConfig(url)
	if err != nil {
		return fmt.Errorf("parse the database URL: %w", err)
	}
	pool := stdlib.OpenDB(*c)
	defer pool.Close()
	driver, err := pgxdriver.WithInstance(pool, &pgxdriver.Config{
		MigrationsTable: migrationsTable, MigrationsTableQuoted: true,
	})
	if err != nil {
		return fmt.Errorf("prepare to migrate: %w", err)
	}
	defer driver.Close()
	files, err := iofs.New(migrations.Files, ".")
	if err != nil {
		return fmt.Errorf("read the migrations: %w", err)
	}
	m, err := migrate.NewWithInstance("iofs", files, "pgx5", driver)
	if err != nil {
		return fmt.Errorf("prepare to migrate: %w", err)
	}
	err = do(m)
	var dirty migrate.ErrDirty
	switch {
	case errors.As(err, &dirty):
		return halfDoneError(dirty.Version)
	case err != nil && !errors.Is(err, migrate.ErrNoChange):
		return fmt.Errorf("migrate: %w", oneLine(err))
	}
	return nil
}

// createSchema makes the schema that everything lives in. Replicas that start
// at once must not stumble over each other here.
const createSchemaSQL = `CREATE SCHEMA IF NOT EXISTS signpost`

func createSchema(ctx context.Context, url string) error {
	conn, err := Connect(ctx, url, "migrate")
	if err != nil {
		return err
	}
	defer closeNow(conn)
	_, err = conn.Exec(ctx, createSchemaSQL)
	if hasState(err, stateUniqueViolation) {
		return nil // another replica made it in the same moment
	}
	if err != nil {
		return fmt.Errorf("create the schema: %w", err)
	}
	return nil
}

// oneLine drops the text of the migration, which the library appends.
func oneLine(err error) error {
	line, _, _ := strings.Cut(err.Error(), "\n")
	if i := strings.Index(line, " in line 0:"); i > 0 {
		line = line[:i]
	}
	return errors.New(line)
}

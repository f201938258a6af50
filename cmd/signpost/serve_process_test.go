package main

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"

	"signpost/test/testdb"
)

func launchServe(t testing.TB, database string, args ...string) *process {
	t.Helper()
	return launch(t, append(append([]string{"serve", "--postgres", database}, anyPort...), args...)...)
}

// once runs a command line that ends by itself.
func once(t testing.TB, args ...string) (status int, stdout string, errors []string) {
	t.Helper()
	p := launch(t, args...)
	status = p.status(30 * time.Second)
	return status, p.stdout.String(), p.stderr.errors()
}

func TestServeOnAnEmptyDatabaseBecomesReady(t *testing.T) {
	t.Parallel()
	p := launchServe(t, emptyDatabase(t)).ready(10 * time.Second)
	p.register("n1", "web", 8080)
	require.Equal(t, []string{"10.0.0.1"}, p.resolve("web.service.signpost", dns.TypeA))
	require.Zero(t, p.end(syscall.SIGTERM, stopsWithin))
	require.Empty(t, p.stderr.errors())
	require.Empty(t, p.stdout.String())
}

func TestReplicasMayStartAtOnceOnAnEmptyDatabase(t *testing.T) {
	t.Parallel()
	database := emptyDatabase(t)
	var all []*process
	for range 3 {
		all = append(all, launchServe(t, database))
	}
	for _, p := range all {
		p.ready(20 * time.Second)
	}
	all[0].register("n1", "web", 8080)
	for _, p := range all {
		require.Contains(t, p.ask(http.MethodGet, "/v1/health/service/web?consistent", ""), `"Port":8080`)
	}
	for _, p := range all {
		require.Zero(t, p.end(syscall.SIGTERM, stopsWithin))
		require.NotContains(t, p.stderr.String(), "level=ERROR")
	}
}

func TestServeRefusesWhatOnlyAnOperatorCanMend(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		make func(t *testing.T) string
		args []string
		want string
	}{
		"no schema, and it may not make one": {func(t *testing.T) string { return emptyDatabase(t) }, []string{"--migrate=false"},
			"signpost: the schema has version 0, this build needs "},
		"another encoding": {asciiDatabase, nil, "signpost: the database's encoding is SQL_ASCII, but it must be UTF8"},
		"no such database": {func(t *testing.T) string { return withDatabase(t, emptyDatabase(t), "nowhere") }, nil, "signpost: connect to the database: "},
		"a schema of the future": {func(t *testing.T) string {
			database := emptyDatabase(t)
			status, _, errs := once(t, "migrate", "up", "--postgres", database)
			require.Zero(t, status, errs)
			psql(t, database, `UPDATE signpost.schema_migrations SET version = version + 2`)
			return database
		}, nil, "signpost: the schema has version "},
		"a migration left half done": {func(t *testing.T) string {
			database := emptyDatabase(t)
			status, _, errs := once(t, "migrate", "up", "--postgres", database)
			require.Zero(t, status, errs)
			psql(t, database, `UPDATE signpost.schema_migrations SET dirty = true`)
			return database
		}, nil, "signpost: migration "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := launchServe(t, tc.make(t), tc.args...)
			require.Equal(t, exitRun, p.status(20*time.Second))
			lines := p.stderr.errors()
			require.Len(t, lines, 1, p.stderr)
			require.True(t, strings.HasPrefix(lines[0], tc.want), lines[0])
		})
	}
}

// One newer schema is served: so a fleet can be replaced one by one.
func TestServeRunsOnASchemaThatIsOneNewer(t *testing.T) {
	t.Parallel()
	database := emptyDatabase(t)
	status, _, errs := once(t, "migrate", "up", "--postgres", database)
	require.Zero(t, status, errs)
	psql(t, database, `UPDATE signpost.schema_migrations SET version = version + 1`)
	p := launchServe(t, database).ready(10 * time.Second)
	p.register("n1", "web", 8080)
}

func psql(t testing.TB, database string, statements ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, database)
	require.NoError(t, err)
	defer conn.Close(ctx)
	for _, statement := range statements {
		_, err := conn.Exec(ctx, statement)
		require.NoError(t, err, statement)
	}
}

func withDatabase(t testing.TB, address, name string) string {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	u.Path = "/" + name
	return u.String()
}

// asciiDatabase gives the URL of a database that does not know what letters
// its bytes are.
func asciiDatabase(t *testing.T) string {
	neighbour := emptyDatabase(t)
	name := "signpost_test_ascii_" + strings.ToLower(rand.Text())
	psql(t, neighbour, `CREATE DATABASE `+name+` ENCODING 'SQL_ASCII' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'`)
	t.Cleanup(func() { psql(t, neighbour, `DROP DATABASE IF EXISTS `+name+` WITH (FORCE)`) })
	return withDatabase(t, neighbour, name)
}

func TestAnUnknownKeyIsNamedWithItsPlace(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "gate.hcl")
	require.NoError(t, os.WriteFile(path, []byte("datacenter = \"dc1\"\n\ndns_config {\n  node_tll = \"5s\"\n}\nnonsense = true\n"), 0o600))
	for _, command := range []string{"serve", "dev"} {
		status, stdout, errs := once(t, command, "--config", path, "--postgres", "postgres://localhost/none")
		require.Equal(t, exitUsage, status)
		require.Empty(t, stdout)
		require.Equal(t, []string{
			"signpost: " + path + ":4: dns_config.node_tll: unknown key (did you mean \"node_ttl\"?)",
			"signpost: " + path + ":6: nonsense: unknown key",
		}, errs)
	}
	status, _, errs := once(t, "serve")
	require.Equal(t, exitUsage, status)
	require.Len(t, errs, 1)
	require.Contains(t, errs[0], "postgres.url")
}

func TestTheSchemaGoesUpAndDownAndUp(t *testing.T) {
	t.Parallel()
	database := emptyDatabase(t)
	version := func() string {
		status, out, errs := once(t, "migrate", "version", "--postgres", database)
		require.Zero(t, status, errs)
		return strings.TrimSpace(out)
	}
	step := func(args ...string) {
		status, out, errs := once(t, append(append([]string{"migrate"}, args...), "--postgres", database)...)
		require.Zero(t, status, errs)
		require.Empty(t, errs)
		require.Equal(t, version(), strings.TrimSpace(out))
	}
	none := version()
	require.True(t, strings.HasPrefix(none, "schema 0, this build "), none)
	newest := strings.TrimPrefix(none, "schema 0, this build ")
	whole := "schema " + newest + ", this build " + newest
	for range 2 {
		step("up")
		require.Equal(t, whole, version())
		step("up") // there already
		require.Equal(t, whole, version())
		step("down")
		require.NotEqual(t, whole, version())
		status, _, errs := once(t, "serve", "--migrate=false", "--postgres", database, "--http", "127.0.0.1:0", "--dns", "127.0.0.1:0")
		require.Equal(t, exitRun, status)
		require.Len(t, errs, 1)
		step("up")
		require.Equal(t, whole, version())
		step("down", "0")
		require.Equal(t, none, version())
		step("down") // nothing left
		require.Equal(t, none, version())
	}
	status, _, errs := once(t, "migrate", "down", "99", "--postgres", database)
	require.Zero(t, status, "there is nothing to take down: %v", errs)
	step("up")
	for _, wrong := range []string{"99", "-1", "x"} {
		status, _, errs := once(t, "migrate", "down", "--postgres", database, "--", wrong)
		require.Equal(t, exitUsage, status, errs)
	}
	require.Equal(t, whole, version())
	launchServe(t, database, "--migrate=false").ready(10 * time.Second)
}

// A gateway that is there before its database says what it waits for, and is
// ready as soon as it can be.
func TestServeWaitsForItsDatabase(t *testing.T) {
	t.Parallel()
	server := testdb.Server(t)
	database := server.New()
	server.Stop()
	p := launchServe(t, database).listening()
	within(t, 10*time.Second, "it says what is missing", func() bool {
		status, _, text, err := p.try(http.MethodGet, "/ready", "")
		return err == nil && status == http.StatusServiceUnavailable && text != "" && strings.Contains(p.stderr.String(), "waiting for the database")
	})
	require.Equal(t, "ok", p.ask(http.MethodGet, "/health", ""))
	for _, path := range []string{"/v1/catalog/nodes", "/v1/status/leader"} {
		status, _, text, err := p.try(http.MethodGet, path, "")
		require.NoError(t, err)
		require.Equal(t, http.StatusServiceUnavailable, status, text)
		require.True(t, strings.HasPrefix(text, "not ready: "), text)
	}
	question := new(dns.Msg)
	question.SetQuestion("web.service.signpost.", dns.TypeA)
	reply, err := dns.Exchange(question, p.dns)
	require.NoError(t, err)
	require.Equal(t, dns.RcodeServerFailure, reply.Rcode)

	server.Start()
	p.ready(5 * time.Second)
	p.register("n1", "web", 8080)
	require.Equal(t, []string{"10.0.0.1"}, p.resolve("web.service.signpost", dns.TypeA))
}

// Without a database to wait for, it can still be told to stop.
func TestServeThatWaitsCanBeStopped(t *testing.T) {
	t.Parallel()
	p := launchServe(t, "postgres://127.0.0.1:1/none").listening()
	within(t, 10*time.Second, "it waits", func() bool { return strings.Contains(p.stderr.String(), "waiting for the database") })
	require.Zero(t, p.end(syscall.SIGTERM, stopsWithin))
	require.Empty(t, p.stderr.errors())
}

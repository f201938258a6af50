package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"signpost/test/testdb"
)

// outage is a way in which Postgres can be gone, and come back.
type outage struct {
	begin, end func(*testdb.Private)
	// write is how long a write may take until it is given up. A server that
	// takes it and says nothing is asked what became of it, for 5 s.
	write time.Duration
	reach func(t testing.TB, database string) string // the URL to use; nil: as it is
}

func TestLookupsGoOnWithoutPostgres(t *testing.T) {
	t.Parallel()
	const soon = 2500 * time.Millisecond
	for name, o := range map[string]outage{
		"stopped":             {(*testdb.Private).Stop, (*testdb.Private).Start, soon, nil},
		"stopped, behind tcp": {(*testdb.Private).Stop, (*testdb.Private).Start, soon, overTCP},
		"killed":              {(*testdb.Private).Kill, (*testdb.Private).Start, soon, nil},
		"killed, behind tcp":  {(*testdb.Private).Kill, (*testdb.Private).Start, soon, overTCP},
		"silent":              {(*testdb.Private).Pause, (*testdb.Private).Resume, 5500 * time.Millisecond, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := testdb.Server(t)
			database := server.New()
			if o.reach != nil {
				database = o.reach(t, database)
			}
			p := launchServe(t, database).ready(10 * time.Second)
			p.register("n1", "web", 8080)
			p.ask(http.MethodPost, "/v1/query", `{"Name":"find","Service":{"Service":"web"}}`)
			before := p.ask(http.MethodGet, "/v1/health/service/web", "")

			o.begin(server)
			readsGoOn(t, p, before)
			for range 2 {
				refused(t, p, soon, o.write)
			}
			contactIsLost(t, p)
			readsGoOn(t, p, before)
			require.Equal(t, "ready", p.ask(http.MethodGet, "/ready", ""), "it can answer")

			o.end(server)
			within(t, 5*time.Second, "writes work again", func() bool {
				status, _, _, err := p.try(http.MethodPut, "/v1/catalog/register", registrationOf("n1", "web", 8082))
				return err == nil && status == http.StatusOK
			})
			require.Contains(t, p.ask(http.MethodGet, "/v1/health/service/web?consistent", ""), `"Port":8082`)
			_, header, _, err := p.try(http.MethodGet, "/v1/catalog/nodes", "")
			require.NoError(t, err)
			require.Equal(t, "true", header.Get("X-Service-KnownLeader"))
			require.Equal(t, "0", header.Get("X-Service-LastContact"))
			require.Zero(t, p.end(syscall.SIGTERM, stopsWithin))
			require.NotContains(t, p.stderr.String(), "level=ERROR")
		})
	}
}

// overTCP gives another URL for a database: what is in between has a
// connection of its own to each side.
func overTCP(t testing.TB, database string) string {
	t.Helper()
	c, err := pgx.ParseConfig(database)
	require.NoError(t, err)
	network, address := "tcp", net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port)))
	if filepath.IsAbs(c.Host) {
		network, address = "unix", filepath.Join(c.Host, ".s.PGSQL."+strconv.Itoa(int(c.Port)))
	}
	front, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = front.Close() })
	go func() {
		for {
			client, err := front.Accept()
			if err != nil {
				return
			}
			go forward(client, network, address)
		}
	}()
	u, err := url.Parse(database)
	require.NoError(t, err)
	u.Host, u.RawQuery = front.Addr().String(), "sslmode=disable"
	return u.String()
}

// forward joins a client with a server until one of them hangs up.
func forward(client net.Conn, network, address string) {
	defer client.Close()
	server, err := net.Dial(network, address)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	}()
	_, _ = io.Copy(client, server)
}

func readsGoOn(t *testing.T, p *process, before string) {
	t.Helper()
	for _, mode := range []string{"", "?stale"} {
		began := time.Now()
		require.Equal(t, before, p.ask(http.MethodGet, "/v1/health/service/web"+mode, ""))
		require.Contains(t, p.ask(http.MethodGet, "/v1/query/find/execute"+mode, ""), `"Port":8080`)
		require.Less(t, time.Since(began), time.Second)
	}
	require.Equal(t, []string{"10.0.0.1"}, p.resolve("web.service.signpost", dns.TypeA))
	require.Equal(t, []string{"1 1 8080 n1.node.dc1.signpost."}, p.resolve("find.query.signpost", dns.TypeSRV))
	began := time.Now()
	status, _, _, err := p.try(http.MethodGet, "/v1/query/nobody/execute", "")
	require.NoError(t, err)
	require.Equal(t, http.StatusNotFound, status)
	require.Less(t, time.Since(began), 2500*time.Millisecond, "what is missing is said from memory")
}

// refused makes a consistent read and writes at once, which must all be given
// up in time.
func refused(t *testing.T, p *process, read, write time.Duration) {
	t.Helper()
	var group errgroup.Group
	for _, c := range []struct {
		limit              time.Duration
		method, path, body string
	}{
		{read, http.MethodGet, "/v1/health/service/web?consistent", ""},
		{write, http.MethodPut, "/v1/catalog/register", registrationOf("n1", "web", 8081)},
		{write, http.MethodPost, "/v1/query", `{"Name":"lost","Service":{"Service":"web"}}`},
	} {
		group.Go(func() error {
			began := time.Now()
			status, _, text, err := p.try(c.method, c.path, c.body)
			took := time.Since(began)
			if err == nil && (status != http.StatusServiceUnavailable || took > c.limit || strings.Contains(text, "\n")) {
				err = fmt.Errorf("%s %s: %d after %s: %q", c.method, c.path, status, took, text)
			}
			return err
		})
	}
	require.NoError(t, group.Wait())
}

// contactIsLost waits until answers say so, and then sees their age grow.
func contactIsLost(t *testing.T, p *process) {
	t.Helper()
	age := func() (known string, ms int) {
		_, header, _, err := p.try(http.MethodGet, "/v1/catalog/nodes", "")
		require.NoError(t, err)
		ms, err = strconv.Atoi(header.Get("X-Service-LastContact"))
		require.NoError(t, err)
		return header.Get("X-Service-KnownLeader"), ms
	}
	within(t, 5*time.Second, "the leader is unknown", func() bool { known, _ := age(); return known == "false" })
	_, first := age()
	require.Positive(t, first)
	within(t, 5*time.Second, "the age grows", func() bool { known, now := age(); return known == "false" && now >= first+200 })
}

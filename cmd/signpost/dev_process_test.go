package main

import (
	"cmp"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"
)

// anyPort makes both doors listen wherever there is room.
var anyPort = []string{"--http", "127.0.0.1:0", "--dns", "127.0.0.1:0"}

func launchDev(t testing.TB, args ...string) *process {
	t.Helper()
	return launch(t, append(append([]string{"dev"}, anyPort...), args...)...)
}

const (
	startsWithin = time.Minute // with initdb, on a busy machine
	stopsWithin  = 10 * time.Second
)

// openDir makes a folder that every account can enter and the given one owns.
func openDir(t testing.TB, uid, gid int) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "signpost-process-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o755))
	require.NoError(t, os.Chown(dir, uid, gid))
	return dir
}

func TestDevAnswersAndStopsCleanly(t *testing.T) {
	t.Parallel()
	for name, signal := range map[string]syscall.Signal{"SIGTERM": syscall.SIGTERM, "SIGINT": syscall.SIGINT} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answersAndStops(t, launchDev(t), signal)
		})
	}
	t.Run("as an ordinary user", func(t *testing.T) {
		t.Parallel()
		if os.Geteuid() != 0 {
			return // the others were that already
		}
		nobody, err := user.Lookup("nobody")
		require.NoError(t, err)
		uid, err := strconv.Atoi(nobody.Uid)
		require.NoError(t, err)
		gid, err := strconv.Atoi(nobody.Gid)
		require.NoError(t, err)
		args := append([]string{"dev", "--data-dir", filepath.Join(openDir(t, uid, gid), "data")}, anyPort...)
		answersAndStops(t, launchAs(t, &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, args...), syscall.SIGTERM)
	})
}

func answersAndStops(t *testing.T, p *process, signal syscall.Signal) {
	t.Helper()
	p.ready(startsWithin)
	within(t, stopsWithin, "it says so", func() bool { return strings.Contains(p.stdout.String(), "Signpost is ready: HTTP on "+p.http) })
	p.register("n1", "web", 8080)
	require.Contains(t, p.ask(http.MethodGet, "/v1/health/service/web", ""), `"Port":8080`)
	require.Equal(t, []string{"10.0.0.1"}, p.resolve("web.service.signpost", dns.TypeA))
	require.Contains(t, p.ask(http.MethodGet, "/v1/status/leader", ""), p.http)
	children := p.postgresOf()
	require.Zero(t, p.end(signal, stopsWithin))
	gone(t, time.Second, children)
	require.Empty(t, p.stderr.errors())
	for _, level := range []string{"level=WARN", "level=ERROR"} {
		require.NotContains(t, p.stderr.String(), level)
	}
	require.Equal(t, 1, strings.Count(p.stdout.String(), "\n"), p.stdout)
}

func TestDevKeepsItsDataOverARestart(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(openDir(t, os.Geteuid(), os.Getegid()), "data")
	first := launchDev(t, "--data-dir", dir).ready(startsWithin)
	first.register("n1", "web", 8080)
	id := first.ask(http.MethodPost, "/v1/query", `{"Name":"find","Service":{"Service":"web"}}`)
	nodes := first.ask(http.MethodGet, "/v1/catalog/nodes", "")
	require.Zero(t, first.end(syscall.SIGTERM, stopsWithin))

	second := launchDev(t, "--data-dir", dir, "--log-level", "debug").ready(startsWithin)
	require.Contains(t, second.stderr.String(), "database system was shut down at", "it was ended in good order")
	require.Equal(t, nodes, second.ask(http.MethodGet, "/v1/catalog/nodes", ""))
	require.Contains(t, second.ask(http.MethodGet, "/v1/query/find/execute", ""), `"Port":8080`)
	require.Contains(t, second.ask(http.MethodGet, "/v1/query", ""), strings.Trim(id, "{}"))

	// A crash is no hindrance either: the new one waits for the old server to go.
	children := second.postgresOf()
	require.NoError(t, second.cmd.Process.Kill())
	third := launchDev(t, "--data-dir", dir, "--log-level", "debug").ready(startsWithin)
	require.NotContains(t, third.stderr.String(), "database system was shut down at")
	gone(t, time.Second, children)
	require.Equal(t, nodes, third.ask(http.MethodGet, "/v1/catalog/nodes", ""))
	require.Zero(t, third.end(syscall.SIGTERM, stopsWithin))
}

func TestAKilledDevLeavesNoPostgres(t *testing.T) {
	t.Parallel()
	p := launchDev(t).ready(startsWithin)
	children := p.postgresOf()
	require.NoError(t, p.cmd.Process.Kill())
	require.Equal(t, -1, p.status(stopsWithin))
	gone(t, 20*time.Second, children)
}

func TestAnAddressInUseIsSaidInOneLine(t *testing.T) {
	t.Parallel()
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = tcp.Close() })
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = udp.Close() })
	for name, tc := range map[string]struct{ flag, address string }{
		"HTTP":        {"--http", tcp.Addr().String()},
		"DNS by tcp":  {"--dns", tcp.Addr().String()},
		"DNS by udp":  {"--dns", udp.LocalAddr().String()},
		"no such one": {"--http", "203.0.113.1:80"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := launchDev(t, tc.flag, tc.address)
			require.Equal(t, exitRun, p.status(startsWithin))
			lines := p.stderr.errors()
			require.Len(t, lines, 1, p.stderr)
			require.True(t, strings.HasPrefix(lines[0], "signpost: listen for "), lines[0])
			require.Contains(t, lines[0], tc.address)
			require.Empty(t, p.stdout.String())
		})
	}
}

// Blocked readers are answered at the end, with what is true then.
func TestBlockedReadersAreAnsweredAtTheEnd(t *testing.T) {
	t.Parallel()
	p := launchDev(t).ready(startsWithin)
	p.register("n1", "web", 8080)
	const readers = 20
	type end struct {
		status int
		index  string
		text   string
		err    error
	}
	answers := make(chan end, readers)
	_, header, body, err := p.try(http.MethodGet, "/v1/health/service/web", "")
	require.NoError(t, err)
	index := header.Get("X-Service-Index")
	for range readers {
		go func() {
			status, header, text, err := p.try(http.MethodGet, "/v1/health/service/web?wait=5m&index="+index, "")
			answers <- end{status, header.Get("X-Service-Index"), text, err}
		}()
	}
	// They are all there when as many connections are.
	within(t, 20*time.Second, "the readers are connected", func() bool { return connections(t, p.http) >= readers })
	require.Empty(t, answers)
	began := time.Now()
	require.Zero(t, p.end(syscall.SIGTERM, stopsWithin))
	require.Less(t, time.Since(began), stopsWithin)
	for range readers {
		a := <-answers
		require.NoError(t, a.err)
		require.Equal(t, http.StatusOK, a.status, a.text)
		require.Equal(t, index, a.index)
		require.Equal(t, body, a.text)
	}
}

// connections counts the established ones to a local address, from the side
// of the server.
func connections(t testing.TB, address string) int {
	t.Helper()
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	n, err := strconv.Atoi(port)
	require.NoError(t, err)
	table, err := os.ReadFile("/proc/net/tcp")
	require.NoError(t, err)
	const established = "01"
	count := 0
	for line := range strings.Lines(string(table)) {
		fields := strings.Fields(line) // sl local remote state …
		if len(fields) > 3 && fields[3] == established {
			_, local, _ := strings.Cut(fields[1], ":")
			if at, err := strconv.ParseInt(local, 16, 32); err == nil && int(at) == n {
				count++
			}
		}
	}
	return count
}

func TestTheSampleLoadsAndItsLookupsWork(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(openDir(t, os.Geteuid(), os.Getegid()), "data")
	for range 2 { // the second time it is there already
		p := launchDev(t, "--sample", "--data-dir", dir).ready(startsWithin)
		within(t, startsWithin, "it says what to try", func() bool { return strings.Contains(p.stdout.String(), "Ctrl-C ends it.") })
		tries := regexp.MustCompile(`(?m)^  (.*)$`).FindAllStringSubmatch(p.stdout.String(), -1)
		require.Len(t, tries, 3, p.stdout)
		require.Contains(t, p.ask(http.MethodGet, "/v1/catalog/nodes", ""), "shop-13")
		var services map[string][]string
		require.NoError(t, json.Unmarshal([]byte(p.ask(http.MethodGet, "/v1/catalog/services", "")), &services))
		require.Len(t, services, 12)

		executed := typed(t, tries[0][1])
		require.Contains(t, executed, `"Service": "checkout"`)
		require.Equal(t, 2, strings.Count(executed, `"Checks":`), executed)
		require.Regexp(t, `checkout\.query\.signpost\.\s+5\s+IN\s+SRV\s`, typed(t, tries[1][1]))
		require.Equal(t, "true", typed(t, tries[2][1]))
		require.NotContains(t, p.ask(http.MethodGet, "/v1/catalog/nodes", ""), "shop-13")
		require.Zero(t, p.end(syscall.SIGTERM, stopsWithin))
	}
}

var (
	curlLine = regexp.MustCompile(`^curl (?:-X (\w+) )?'?(http://[^' ]+)'?(?: -d '([^']*)')?$`)
	digLine  = regexp.MustCompile(`^dig @(\S+) -p (\d+) (\S+) (\w+)$`)
)

// typed does what a line that is meant to be copied to a terminal does. The
// programs in it need not be there.
func typed(t testing.TB, line string) string {
	t.Helper()
	if curl := curlLine.FindStringSubmatch(line); curl != nil {
		request, err := http.NewRequest(cmp.Or(curl[1], http.MethodGet), curl[2], strings.NewReader(curl[3]))
		require.NoError(t, err)
		response, err := client.Do(request)
		require.NoError(t, err)
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, response.StatusCode, string(body))
		return string(body)
	}
	dig := digLine.FindStringSubmatch(line)
	require.NotNil(t, dig, "neither curl nor dig: %s", line)
	question := new(dns.Msg)
	question.SetQuestion(dns.Fqdn(dig[3]), dns.StringToType[dig[4]])
	reply, err := dns.Exchange(question, net.JoinHostPort(dig[1], dig[2]))
	require.NoError(t, err)
	return reply.String()
}

// Ctrl-C in the first second finds Postgres half made.
func TestDevCanBeStoppedWhileItStarts(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(openDir(t, os.Geteuid(), os.Getegid()), "data")
	p := launchDev(t, "--data-dir", dir)
	var children []someone
	within(t, startsWithin, "it makes a Postgres", func() bool {
		children = descendants(t, p.cmd.Process.Pid)
		return len(children) > 1 // the shell, and what it runs
	})
	require.Zero(t, p.end(syscall.SIGINT, stopsWithin), p.stderr)
	require.Empty(t, p.stderr.errors())
	gone(t, 20*time.Second, children)

	again := launchDev(t, "--data-dir", dir).ready(startsWithin)
	require.Zero(t, again.end(syscall.SIGTERM, stopsWithin))
}

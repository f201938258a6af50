package localpg_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"signpost/db/localpg"
)

func start(t *testing.T, cfg localpg.Config) *localpg.Server {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s, err := localpg.Start(ctx, cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Stop(context.Background()) })
	return s
}

// ask runs one statement and returns its only value as text.
func ask(t *testing.T, url, statement string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	require.NoError(t, err)
	defer conn.Close(ctx)
	var value *string
	err = conn.QueryRow(ctx, statement).Scan(&value)
	if errors.Is(err, pgx.ErrNoRows) {
		return ""
	}
	require.NoError(t, err)
	if value == nil {
		return "NULL"
	}
	return *value
}

// eventually waits for a claim about other processes, which nothing signals to us.
func eventually(t *testing.T, claim func() bool, text string) {
	t.Helper()
	require.Eventually(t, claim, 20*time.Second, 20*time.Millisecond, text)
}

// gone reports that a process has ended. What nobody has waited for yet has ended too.
func gone(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err == nil {
		_, after, _ := strings.Cut(string(stat), ") ")
		return strings.HasPrefix(after, "Z")
	}
	return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

func missing(path string) bool {
	_, err := os.Stat(path)
	return os.IsNotExist(err)
}

// socketDir reads the server's folder back from its URL.
func socketDir(t *testing.T, url string) string {
	t.Helper()
	cfg, err := pgx.ParseConfig(url)
	require.NoError(t, err)
	return cfg.Host
}

func TestATemporaryServerLeavesNothing(t *testing.T) {
	t.Parallel()
	s := start(t, localpg.Config{Settings: map[string]string{"max_connections": "33"}})
	require.Equal(t, "33", ask(t, s.URL("postgres"), `SHOW max_connections`))
	require.Equal(t, "off", ask(t, s.URL("postgres"), `SHOW fsync`))
	require.Equal(t, "UTF8", ask(t, s.URL("postgres"), `SHOW server_encoding`))
	require.Empty(t, ask(t, s.URL("postgres"), `SHOW listen_addresses`))
	dir := socketDir(t, s.URL("postgres"))
	info, err := os.Stat(dir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm(), "nobody else may reach the socket")

	require.NoError(t, s.Stop(t.Context()))
	require.True(t, gone(s.PID()))
	require.True(t, missing(dir))
	<-s.Done()
}

func TestPsqlUnderstandsTheURL(t *testing.T) {
	t.Parallel()
	s := start(t, localpg.Config{})
	binaries, err := localpg.Find()
	require.NoError(t, err)
	out, err := exec.Command(filepath.Join(binaries.Dir, "psql"), "-Atc", "select 6*7", s.URL("postgres")).CombinedOutput()
	require.NoError(t, err, string(out))
	require.Equal(t, "42\n", string(out))
}

func TestDataAndURLAreKept(t *testing.T) {
	t.Parallel()
	root := openDir(t)
	cfg := localpg.Config{DataDir: filepath.Join(root, "data"), SocketDir: filepath.Join(root, "socket"), Durable: true}
	first := start(t, cfg)
	require.NoError(t, first.EnsureDatabase(t.Context(), `od"d name`))
	require.NoError(t, first.EnsureDatabase(t.Context(), `od"d name`))
	require.Equal(t, "on", ask(t, first.URL(`od"d name`), `SHOW fsync`))
	ask(t, first.URL(`od"d name`), `CREATE TABLE kept AS SELECT 'here' AS it`)
	require.NoError(t, first.Stop(t.Context()))

	second := start(t, cfg)
	require.Equal(t, first.URL(`od"d name`), second.URL(`od"d name`))
	require.Equal(t, "here", ask(t, second.URL(`od"d name`), `SELECT it FROM kept`))
	require.NoError(t, second.Stop(t.Context()))
	require.False(t, missing(cfg.DataDir))
}

func TestServersStartSideBySide(t *testing.T) {
	t.Parallel()
	var group errgroup.Group
	urls := make([]string, 3)
	for i := range urls {
		group.Go(func() error {
			s, err := localpg.Start(t.Context(), localpg.Config{})
			if err == nil {
				urls[i] = s.URL("postgres")
				err = s.Stop(context.Background())
			}
			return err
		})
	}
	require.NoError(t, group.Wait())
	require.NotEqual(t, urls[0], urls[1])
	require.NotEqual(t, urls[1], urls[2])
}

func TestAServerThatEndsByItselfIsNoticed(t *testing.T) {
	t.Parallel()
	s := start(t, localpg.Config{})
	require.NoError(t, syscall.Kill(s.PID(), syscall.SIGKILL))
	select {
	case <-s.Done():
	case <-time.After(20 * time.Second):
		t.Fatal("the end was not noticed")
	}
	require.Error(t, s.Stop(t.Context()))
	require.True(t, missing(socketDir(t, s.URL("postgres"))))
}

func TestAStartThatIsCancelledLeavesNothing(t *testing.T) {
	t.Parallel()
	root := openDir(t)
	for _, patience := range []time.Duration{time.Millisecond, 50 * time.Millisecond, 200 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		s, err := localpg.Start(ctx, localpg.Config{DataDir: filepath.Join(root, "data"), SocketDir: filepath.Join(root, "socket")})
		cancel()
		if err == nil {
			require.NoError(t, s.Stop(t.Context()))
			continue
		}
		require.ErrorIs(t, err, context.DeadlineExceeded)
	}
	s := start(t, localpg.Config{DataDir: filepath.Join(root, "data"), SocketDir: filepath.Join(root, "socket")})
	require.NoError(t, s.Stop(t.Context()))
}

func TestMessagesOfTheServerAreLogged(t *testing.T) {
	t.Parallel()
	var out strings.Builder // written by one goroutine, read after its end
	s := start(t, localpg.Config{Logger: slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	require.NoError(t, s.Stop(t.Context()))
	require.Contains(t, out.String(), "ready to accept connections")
}

func TestABadSettingIsNamed(t *testing.T) {
	t.Parallel()
	_, err := localpg.Start(t.Context(), localpg.Config{Settings: map[string]string{"no_such_thing": "1"}})
	require.ErrorContains(t, err, "no_such_thing")
	require.NotContains(t, err.Error(), "\n")
}

package localpg_test

import (
	"context"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"signpost/db/localpg"
	"signpost/db/localpg/child"
)

func TestAKilledOwnerLeavesNothing(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(t *testing.T, pid int){
		"running": func(*testing.T, int) {},
		"stopped": func(t *testing.T, pid int) { require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			owner, _, told := startOwner(t, localpg.Config{}, os.Args[0], nil)
			require.Empty(t, told.Err)
			require.Equal(t, "1", ask(t, told.URL, `SELECT 1::text`))
			before(t, told.PID)
			require.NoError(t, owner.Process.Kill())
			require.Error(t, owner.Wait())
			eventually(t, func() bool { return gone(told.PID) }, "the server runs on")
			eventually(t, func() bool { return missing(socketDir(t, told.URL)) }, "its folder is still there")
		})
	}
}

func TestDataSurvivesAKilledOwner(t *testing.T) {
	t.Parallel()
	cfg := localpg.Config{DataDir: filepath.Join(openDir(t), "data"), Durable: true}
	owner, _, told := startOwner(t, cfg, os.Args[0], nil)
	require.Empty(t, told.Err)
	ask(t, told.URL, `CREATE TABLE kept AS SELECT 'here' AS it`)
	require.NoError(t, owner.Process.Kill())
	require.Error(t, owner.Wait())

	// At once, while the first server may still be about to end.
	s := start(t, cfg)
	require.Equal(t, "here", ask(t, s.URL("postgres"), `SELECT it FROM kept`))
}

func TestAStalePIDFileDoesNotBlock(t *testing.T) {
	t.Parallel()
	for name, pid := range map[string]string{"ended": "4194000", "another program": strconv.Itoa(os.Getppid()), "rubbish": "x"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := localpg.Config{DataDir: filepath.Join(openDir(t), "data")}
			require.NoError(t, start(t, cfg).Stop(t.Context()))
			stale := filepath.Join(cfg.DataDir, "postgres", "postmaster.pid")
			require.NoError(t, os.WriteFile(stale, []byte(pid+"\n"), 0o644))
			require.NoError(t, start(t, cfg).Stop(t.Context()))
		})
	}
}

func TestADataDirectoryInUseIsRefused(t *testing.T) {
	t.Parallel()
	cfg := localpg.Config{DataDir: filepath.Join(openDir(t), "data")}
	first := start(t, cfg)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err := localpg.Start(ctx, cfg)
	require.EqualError(t, err, "data directory "+cfg.DataDir+" is in use (process "+strconv.Itoa(os.Getpid())+")")
	require.Equal(t, "1", ask(t, first.URL("postgres"), `SELECT 1::text`))
}

func TestAServerStartedByHandIsRespected(t *testing.T) {
	t.Parallel()
	root := openDir(t)
	cfg := localpg.Config{DataDir: filepath.Join(root, "data"), SocketDir: filepath.Join(root, "socket")}
	first := start(t, cfg)
	url := first.URL("postgres")
	require.NoError(t, first.Stop(t.Context()))

	binaries, err := localpg.Find()
	require.NoError(t, err)
	data := filepath.Join(cfg.DataDir, "postgres")
	var stat syscall.Stat_t
	require.NoError(t, syscall.Stat(data, &stat))
	byHand := child.Config{
		Command:      []string{filepath.Join(binaries.Dir, "postgres"), "-D", data, "-k", cfg.SocketDir, "-c", "listen_addresses="},
		OrphanSignal: child.Quit,
	}
	if os.Geteuid() == 0 {
		byHand.Credential = &syscall.Credential{Uid: stat.Uid, Gid: stat.Gid}
	}
	process, err := child.Start(byHand)
	require.NoError(t, err)
	t.Cleanup(func() { process.Stop(context.Background(), child.Interrupt, 10*time.Second) })
	eventually(t, func() bool { return accepts(url) }, "it does not accept connections")

	_, err = localpg.Start(t.Context(), cfg)
	require.EqualError(t, err, "data directory "+cfg.DataDir+" is in use by another Postgres (process "+strconv.Itoa(process.PID())+")")
	eventually(t, func() bool { return !gone(process.PID()) }, "it was ended")
	require.Equal(t, "1", ask(t, url, `SELECT 1::text`))
}

// accepts tells whether a server lets in: its socket is there some time before.
func accepts(url string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return false
	}
	return conn.Close(ctx) == nil
}

func TestDirectoriesThatAreRefused(t *testing.T) {
	t.Parallel()
	write := func(t *testing.T, content string, path ...string) {
		name := filepath.Join(path...)
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(content), 0o644))
	}
	for name, c := range map[string]struct {
		make func(t *testing.T, dir string)
		want string
	}{
		"another version": {func(t *testing.T, dir string) {
			write(t, "", dir, "lock")
			write(t, "9\n", dir, "postgres", "PG_VERSION")
		}, "was made by Postgres 9, installed is "},
		"someone else's things": {func(t *testing.T, dir string) { write(t, "dear diary", dir, "diary") }, "is not empty and was not made by this program"},
		"a file":                {func(t *testing.T, dir string) { write(t, "", dir) }, "not a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(openDir(t), "data")
			c.make(t, dir)
			_, err := localpg.Start(t.Context(), localpg.Config{DataDir: dir})
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "\n")
		})
	}
}

// As root the server runs under another account, as anyone else under one's own. Both are seen here when the tests
// are run by root.
func TestTheServersAccount(t *testing.T) {
	t.Parallel()
	own := start(t, localpg.Config{})
	require.NotZero(t, uidOf(t, own.PID()), "the server runs as root")
	if os.Geteuid() != 0 {
		require.Equal(t, os.Geteuid(), uidOf(t, own.PID()))
		return
	}
	nobody, err := user.Lookup("nobody")
	require.NoError(t, err)
	uid, err := strconv.Atoi(nobody.Uid)
	require.NoError(t, err)
	gid, err := strconv.Atoi(nobody.Gid)
	require.NoError(t, err)
	owner, stdin, told := startOwner(t, localpg.Config{}, copyOfThisBinary(t), &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)})
	require.Empty(t, told.Err)
	require.Equal(t, uid, uidOf(t, told.PID))
	require.NoError(t, stdin.Close())
	require.NoError(t, owner.Wait())
	require.True(t, gone(told.PID))
}

func uidOf(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	require.NoError(t, err)
	_, after, found := strings.Cut(string(status), "\nUid:\t")
	require.True(t, found)
	uid, err := strconv.Atoi(strings.Fields(after)[0])
	require.NoError(t, err)
	return uid
}

func TestADirectoryOutOfReachIsNamed(t *testing.T) {
	t.Parallel()
	closed := filepath.Join(openDir(t), "closed")
	require.NoError(t, os.Mkdir(closed, 0o700))
	s, err := localpg.Start(t.Context(), localpg.Config{DataDir: filepath.Join(closed, "data")})
	if os.Geteuid() != 0 {
		require.NoError(t, err, "one's own closed folder is no hindrance")
		require.NoError(t, s.Stop(t.Context()))
		return
	}
	require.ErrorContains(t, err, closed+" is closed to it (mode 0700)")
}

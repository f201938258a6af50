package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"signpost/test/testdb"
	"signpost/test/testredis"
)

// selfEnv makes this test binary the program itself.
const selfEnv = "WITHSERVERS_TEST_SELF"

func TestMain(m *testing.M) {
	if os.Getenv(selfEnv) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// withservers runs the program on servers that are there already, which is quick.
func withservers(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), selfEnv+"=1",
		testdb.EnvURL+"="+testdb.New(t), testredis.EnvURL+"="+testredis.New(t).URL)
	return cmd
}

func TestTheCommandLearnsOfBothServers(t *testing.T) {
	t.Parallel()
	out, err := withservers(t, "sh", "-c", `echo "$SIGNPOST_TEST_POSTGRES $SIGNPOST_TEST_REDIS"`).Output()
	require.NoError(t, err)
	postgres, redis, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	require.Contains(t, postgres, "postgres://")
	require.Regexp(t, "^(redis|unix)://", redis)
}

func TestOneServerUnderAnotherName(t *testing.T) {
	t.Parallel()
	out, err := withservers(t, "-postgres", "MY_POSTGRES", "-redis", "", "sh", "-c", `echo "$MY_POSTGRES"`).Output()
	require.NoError(t, err)
	require.Contains(t, string(out), "postgres://")
}

func TestTheExitStatusIsTheCommands(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		command string
		want    int
	}{"success": {"exit 0", 0}, "failure": {"exit 7", 7}, "a signal": {"kill -KILL $$", 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := withservers(t, "sh", "-c", c.command)
			_ = cmd.Run() // the status says all
			require.Equal(t, c.want, cmd.ProcessState.ExitCode())
		})
	}
	cmd := withservers(t, filepath.Join(t.TempDir(), "missing"))
	require.Error(t, cmd.Run())
	require.Equal(t, 1, cmd.ProcessState.ExitCode())
}

func TestWithoutACommandItSaysHowToUseIt(t *testing.T) {
	t.Parallel()
	cmd := withservers(t)
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Equal(t, 2, cmd.ProcessState.ExitCode())
	require.Contains(t, string(out), "-postgres")
}

func TestARequestToEndIsHandedOn(t *testing.T) {
	t.Parallel()
	cmd := withservers(t, "sh", "-c", `trap 'echo heard; exit 5' TERM; echo ready; while :; do sleep 0.1; done`)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	line := make([]byte, len("ready\n"))
	_, err = stdout.Read(line)
	require.NoError(t, err)
	require.Equal(t, "ready\n", string(line))
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	var rest bytes.Buffer
	_, err = rest.ReadFrom(stdout)
	require.NoError(t, err)
	require.Equal(t, "heard\n", rest.String())
	_ = cmd.Wait()
	require.Equal(t, 5, cmd.ProcessState.ExitCode())
}

// Servers that this program starts are gone when it has ended, and when it was killed.
func TestStartedServersEndWithIt(t *testing.T) {
	t.Parallel()
	for name, kill := range map[string]bool{"ended": false, "killed": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			told := filepath.Join(t.TempDir(), "url")
			cmd := exec.Command(os.Args[0], "-redis", "", "sh", "-c",
				`echo "$SIGNPOST_TEST_POSTGRES" >"$0.new" && mv "$0.new" "$0"; cat`, told)
			cmd.Env = append(os.Environ(), selfEnv+"=1", testdb.EnvURL+"=")
			stdin, err := cmd.StdinPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			t.Cleanup(func() { _ = cmd.Process.Kill() })
			reachable := func() bool {
				url, err := os.ReadFile(told)
				if err != nil {
					return false
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				conn, err := pgx.Connect(ctx, strings.TrimSpace(string(url)))
				return err == nil && conn.Close(ctx) == nil
			}
			require.Eventually(t, reachable, time.Minute, 20*time.Millisecond)
			if kill {
				require.NoError(t, cmd.Process.Kill())
				require.Error(t, cmd.Wait())
			} else {
				require.NoError(t, stdin.Close())
				require.NoError(t, cmd.Wait())
			}
			require.Eventually(t, func() bool { return !reachable() }, 15*time.Second, 20*time.Millisecond)
		})
	}
}

package localpg_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"signpost/db/localpg"
)

// ownerEnv makes this test binary the owner of a server, for tests about how owners end.
const ownerEnv = "LOCALPG_TEST_OWNER"

func TestMain(m *testing.M) {
	if config := os.Getenv(ownerEnv); config != "" {
		os.Exit(beOwner(config))
	}
	if _, err := localpg.Find(); err != nil {
		os.Exit(withoutBinaries())
	}
	os.Exit(m.Run())
}

// withoutBinaries tests what can be on a machine where no Postgres is installed, such as one that has Docker instead.
func withoutBinaries() int {
	_, err := localpg.Start(context.Background(), localpg.Config{})
	if !errors.Is(err, localpg.ErrNotInstalled) || strings.Contains(err.Error(), "\n") {
		fmt.Fprintln(os.Stderr, "without Postgres, Start says:", err)
		return 1
	}
	fmt.Println("no Postgres is installed here: tested that Start says so, and nothing else")
	return 0
}

// owned is what an owner tells about its server.
type owned struct {
	URL string
	PID int
	Err string
}

// beOwner starts a server, tells about it on stdout, and holds it until stdin ends.
func beOwner(config string) int {
	var cfg localpg.Config
	if err := json.Unmarshal([]byte(config), &cfg); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	server, err := localpg.Start(context.Background(), cfg)
	if err != nil {
		_ = json.NewEncoder(os.Stdout).Encode(owned{Err: err.Error()})
		return 1
	}
	_ = json.NewEncoder(os.Stdout).Encode(owned{URL: server.URL("postgres"), PID: server.PID()})
	_, _ = io.Copy(io.Discard, os.Stdin)
	if err := server.Stop(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// startOwner runs an owner in a process of its own, and returns it with what it told.
func startOwner(t *testing.T, cfg localpg.Config, binary string, cred *syscall.Credential) (*exec.Cmd, io.Closer, owned) {
	t.Helper()
	config, err := json.Marshal(cfg)
	require.NoError(t, err)
	cmd := exec.Command(binary)
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), ownerEnv+"="+string(config))
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: cred}
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	require.NoError(t, err)
	var told owned
	require.NoError(t, json.Unmarshal(line, &told))
	return cmd, stdin, told
}

// openDir makes a folder that every account can reach; t.TempDir is closed to others.
func openDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "localpg-test-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o755))
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}

// copyOfThisBinary lies where every account can run it.
func copyOfThisBinary(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	content, err := os.ReadFile(self)
	require.NoError(t, err)
	name := filepath.Join(openDir(t), "owner")
	require.NoError(t, os.WriteFile(name, content, 0o755))
	return name
}

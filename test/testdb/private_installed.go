package testdb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"signpost/db/localpg"
)

// installed is a private server from this machine's binaries.
type installed struct {
	dir    string
	cfg    localpg.Config
	server *localpg.Server // the last one that was started; nil before the first start
}

func newInstalled(t testing.TB, cfg localpg.Config) *installed {
	t.Helper()
	// t.TempDir is closed to the account that the server runs under when the tests run as root.
	dir, err := os.MkdirTemp("", "signpost-test-")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	cfg.DataDir, cfg.SocketDir = filepath.Join(dir, "data"), filepath.Join(dir, "socket")
	return &installed{dir: dir, cfg: cfg}
}

func (s *installed) start(ctx context.Context) (err error) {
	server, err := localpg.Start(ctx, s.cfg)
	if err == nil {
		s.server = server
	}
	return err
}

func (s *installed) url() string { return s.server.URL("postgres") }

func (s *installed) stop(ctx context.Context) error { return s.server.Stop(ctx) }

func (s *installed) kill(ctx context.Context) error {
	// Stopped first, its first process cannot start others anew.
	if err := errors.Join(s.signal(syscall.SIGSTOP), s.signal(syscall.SIGKILL)); err != nil {
		return err
	}
	select {
	case <-s.server.Done():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *installed) pause(context.Context) error  { return s.signal(syscall.SIGSTOP) }
func (s *installed) resume(context.Context) error { return s.signal(syscall.SIGCONT) }

func (s *installed) remove(ctx context.Context) error {
	if s.server != nil {
		_ = s.server.Stop(ctx) // it may have been killed by the test
	}
	return os.RemoveAll(s.dir)
}

// signal sends sig to the server's first process and then to the others.
func (s *installed) signal(sig syscall.Signal) error {
	others, err := childrenOf(s.server.PID())
	if err != nil {
		return fmt.Errorf("list the processes of postgres: %w", err)
	}
	if err := syscall.Kill(s.server.PID(), sig); err != nil {
		return fmt.Errorf("send %v to postgres: %w", sig, err)
	}
	if sig == syscall.SIGSTOP {
		// One may have been started since they were listed, but none can be from here on.
		if others, err = childrenOf(s.server.PID()); err != nil {
			return fmt.Errorf("list the processes of postgres: %w", err)
		}
	}
	for _, pid := range others {
		_ = syscall.Kill(pid, sig) // one that has ended meanwhile is no fault
	}
	return nil
}

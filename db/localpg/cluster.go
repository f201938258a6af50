package localpg

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// cluster is the place of one server's data:
//
//	home/lock        locked by every process that works with the data, Postgres itself included
//	home/postgres    the data directory, once it is complete
//	home/making      the same while initdb runs; left over by a crash, and then made again
type cluster struct {
	home  string
	major int // of the data that is there; 0 = none yet
}

func (c cluster) data() string   { return filepath.Join(c.home, "postgres") }
func (c cluster) making() string { return filepath.Join(c.home, "making") }
func (c cluster) lock() string   { return filepath.Join(c.home, "lock") }

// openCluster looks at home, and makes it where it is missing. A folder with other things in it is refused: as
// root its owner would be changed.
func openCluster(home string, acct account) (cluster, error) {
	home, err := filepath.Abs(home)
	if err != nil {
		return cluster{}, err
	}
	c := cluster{home: home}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return cluster{}, fmt.Errorf("make data directory: %w", err)
	}
	entries, err := os.ReadDir(home)
	if err != nil {
		return cluster{}, fmt.Errorf("read data directory: %w", err)
	}
	if _, err := os.Stat(c.lock()); len(entries) > 0 && errors.Is(err, fs.ErrNotExist) {
		return cluster{}, fmt.Errorf("data directory %s is not empty and was not made by this program: choose another one", home)
	}
	if err := acct.enters(home); err != nil {
		return cluster{}, fmt.Errorf("data directory %w", err)
	}
	version, err := os.ReadFile(filepath.Join(c.data(), "PG_VERSION"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return c, nil
	case err != nil:
		return cluster{}, fmt.Errorf("read the version of the data directory: %w", err)
	}
	if c.major, err = strconv.Atoi(strings.TrimSpace(string(version))); err != nil {
		return cluster{}, fmt.Errorf("data directory %s: PG_VERSION says %q", home, bytes.TrimSpace(version))
	}
	return c, nil
}

// lockPatience is how long a lock that is held is waited for: after a crash the server of the crashed process
// may be about to end.
const lockPatience = 5 * time.Second

// acquire locks the cluster. The lock is gone when every process that inherited the open file has ended, so that
// who holds it knows that no server of an earlier run is left.
func (c cluster) acquire(ctx context.Context) (*os.File, error) {
	file, err := os.OpenFile(c.lock(), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock data directory: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return file, c.sign(file)
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			_ = file.Close()
			return nil, fmt.Errorf("lock data directory %s: %w", c.home, err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			owner := make([]byte, 20)
			n, _ := file.ReadAt(owner, 0)
			_ = file.Close()
			return nil, fmt.Errorf("data directory %s is in use (process %s)", c.home, bytes.TrimSpace(owner[:n]))
		}
	}
}

// sign writes who holds the lock, for the message that the next one gets.
func (c cluster) sign(file *os.File) error {
	err1 := file.Truncate(0)
	_, err2 := file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return errors.Join(err1, err2)
}

// clearStalePID removes a postmaster.pid that a crash left when its process id now belongs to another program.
// Postgres would take that program for a server and refuse to start. A server that somebody started by hand on
// this directory is recognised by its working directory, which is the data directory.
func (c cluster) clearStalePID() error {
	name := filepath.Join(c.data(), "postmaster.pid")
	content, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read postmaster.pid: %w", err)
	}
	first, _, _ := strings.Cut(string(content), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil || pid <= 0 || errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return removeStale(name)
	}
	if cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid)); err == nil && cwd != c.data() {
		return removeStale(name)
	}
	return fmt.Errorf("data directory %s is in use by another Postgres (process %d)", c.home, pid)
}

func removeStale(name string) error {
	if err := os.Remove(name); err != nil {
		return fmt.Errorf("remove stale postmaster.pid: %w", err)
	}
	return nil
}

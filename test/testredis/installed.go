package testredis

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"signpost/db/localpg/child"
)

// installed is a redis-server started from this machine's binaries. It listens on a unix socket in a folder that
// only this account may enter, and keeps everything in memory.
type installed struct {
	url     string
	process *child.Process
}

// find returns the server's program.
func find() (string, error) {
	for _, name := range []string{"redis-server", "valkey-server"} {
		for _, dir := range []string{"", "/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/"} {
			if path, err := exec.LookPath(dir + name); err == nil {
				return path, nil
			}
		}
	}
	return "", errors.New("no redis-server is installed: install it (Debian, Ubuntu: apt-get install redis-server; macOS: brew install redis)")
}

// run starts a server in dir, and returns when it answers. dir goes with this process if that is killed.
func run(ctx context.Context, dir string) (*installed, error) {
	program, err := find()
	if err != nil {
		return nil, err
	}
	socket := filepath.Join(dir, "redis.sock")
	said := &lastLine{}
	process, err := child.Start(child.Config{
		Command: []string{program, "--port", "0", "--unixsocket", socket, "--unixsocketperm", "700",
			"--save", "", "--appendonly", "no", "--dir", dir},
		Output:       said.write,
		OrphanSignal: child.Terminate,
		OrphanDir:    dir,
	})
	if err != nil {
		return nil, err
	}
	s := &installed{url: "unix://" + socket, process: process}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		err := answers(ctx, s.url)
		if err == nil {
			return s, nil
		}
		select {
		case <-tick.C:
		case <-process.Done():
			return nil, fmt.Errorf("%s ended at once: %s", program, said.read())
		case <-ctx.Done():
			s.stop()
			return nil, fmt.Errorf("%s did not answer in time: %w", program, err)
		}
	}
}

func (s *installed) stop() { s.process.Stop(context.Background(), child.Terminate, 5*time.Second) }

// lastLine keeps the last thing that a program said.
type lastLine struct {
	mu   sync.Mutex
	line string
}

func (l *lastLine) write(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.line = line
}

func (l *lastLine) read() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.line
}

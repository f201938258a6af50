package testredis

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
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

// Private is a server that belongs to one test, which may end it, stop it and start it again under the same URL. A
// new start begins empty. Its methods may not be called at the same time.
type Private struct {
	t      testing.TB
	dir    string
	server *installed
}

// Server starts a private server. It ends with the test.
func Server(t testing.TB) *Private {
	t.Helper()
	dir, err := os.MkdirTemp("", "signpost-redis-")
	if err != nil {
		t.Fatal(err)
	}
	p := &Private{t: t, dir: dir}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	p.Start()
	t.Cleanup(func() {
		p.Resume()
		p.Stop()
	})
	return p
}

// URL is the server, in the form that redis.ParseURL takes.
func (p *Private) URL() string { return p.server.url }

// Start starts the server again after Stop or Kill, and returns when it answers.
func (p *Private) Start() {
	p.t.Helper()
	server, err := run(context.Background(), p.dir)
	if err != nil {
		p.t.Fatal(err)
	}
	p.server = server
}

// Stop ends the server in good order.
func (p *Private) Stop() { p.server.stop() }

// Kill ends the server at once, and returns when it is gone.
func (p *Private) Kill() {
	p.t.Helper()
	p.signal(syscall.SIGKILL)
	<-p.server.process.Done()
}

// Pause stops the server where it stands: connections are made and stay open, and nothing answers.
func (p *Private) Pause() { p.t.Helper(); p.signal(syscall.SIGSTOP) }

// Resume ends a Pause. A server that has ended is left alone.
func (p *Private) Resume() {
	p.t.Helper()
	select {
	case <-p.server.process.Done():
	default:
		p.signal(syscall.SIGCONT)
	}
}

func (p *Private) signal(sig syscall.Signal) {
	p.t.Helper()
	if err := syscall.Kill(p.server.process.PID(), sig); err != nil {
		p.t.Fatalf("send %v to redis: %v", sig, err)
	}
}

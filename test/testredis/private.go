package testredis

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"
	"time"

	"signpost/test/container"
)

// Private is a server that belongs to one test, which may end it, stop it and start it again under the same URL. A
// new start begins empty. It runs from the installed program, or else in Docker. Its methods may not be called at the
// same time.
type Private struct {
	t      testing.TB
	server privateServer
	paused bool
}

// privateServer is one way to run such a server.
type privateServer interface {
	// start returns when the server answers.
	start(ctx context.Context) error
	// kill ends it at once and returns when it is gone; one that has ended already is no fault.
	kill(ctx context.Context) error
	// pause stops the server where it stands; resume lets it go on.
	pause(ctx context.Context) error
	resume(ctx context.Context) error
	// url is the same after each start.
	url() string
	// remove ends the server and leaves nothing.
	remove(ctx context.Context) error
}

// privatePatience bounds one step in the life of a private server.
const privatePatience = time.Minute

// Server starts a private server. It ends with the test.
func Server(t testing.TB) *Private {
	t.Helper()
	if _, err := find(); err == nil {
		return newPrivate(t, newInstalled(t))
	}
	return newPrivate(t, newDocker(t))
}

func newPrivate(t testing.TB, server privateServer) *Private {
	t.Helper()
	p := &Private{t: t, server: server}
	t.Cleanup(func() {
		if p.paused {
			p.Resume()
		}
		p.step("remove", p.server.remove)
	})
	p.Start()
	return p
}

// URL is the server, in the form that redis.ParseURL takes.
func (p *Private) URL() string { return p.server.url() }

// Start starts the server again after Kill, and returns when it answers.
func (p *Private) Start() { p.t.Helper(); p.step("start", p.server.start) }

// Kill ends the server at once, and returns when it is gone. A paused one may be killed. What it held is lost, as
// with any other end: there is no gentler one.
func (p *Private) Kill() {
	p.t.Helper()
	p.step("kill", p.server.kill)
	p.paused = false
}

// Pause stops the server where it stands: connections are made and stay open, and nothing answers.
func (p *Private) Pause() {
	p.t.Helper()
	p.step("pause", p.server.pause)
	p.paused = true
}

// Resume ends a Pause.
func (p *Private) Resume() {
	p.t.Helper()
	p.step("resume", p.server.resume)
	p.paused = false
}

func (p *Private) step(name string, do func(context.Context) error) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), privatePatience)
	defer cancel()
	if err := do(ctx); err != nil {
		p.t.Fatalf("%s private redis: %v", name, err)
	}
}

// privateInstalled is a private server from the installed program.
type privateInstalled struct {
	dir    string
	server *installed // nil before the first start
}

func newInstalled(t testing.TB) *privateInstalled {
	t.Helper()
	dir, err := os.MkdirTemp("", "signpost-redis-")
	if err != nil {
		t.Fatal(err)
	}
	return &privateInstalled{dir: dir}
}

func (s *privateInstalled) start(ctx context.Context) error {
	server, err := run(ctx, s.dir)
	if err == nil {
		s.server = server
	}
	return err
}

func (s *privateInstalled) url() string { return s.server.url }

func (s *privateInstalled) kill(ctx context.Context) error {
	if err := s.signal(syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	select {
	case <-s.server.process.Done():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *privateInstalled) pause(context.Context) error  { return s.signal(syscall.SIGSTOP) }
func (s *privateInstalled) resume(context.Context) error { return s.signal(syscall.SIGCONT) }

func (s *privateInstalled) remove(context.Context) error {
	if s.server != nil {
		s.server.stop()
	}
	return os.RemoveAll(s.dir)
}

func (s *privateInstalled) signal(sig syscall.Signal) error {
	return syscall.Kill(s.server.process.PID(), sig)
}

// privateDocker is a private server in Docker: a new container for each start, behind one address.
type privateDocker struct {
	running *container.Container // nil before the first start
	forward *container.Forwarder
}

func newDocker(t testing.TB) *privateDocker {
	t.Helper()
	forward, err := container.NewForwarder()
	if err != nil {
		t.Fatal(err)
	}
	return &privateDocker{forward: forward}
}

func (d *privateDocker) start(ctx context.Context) error {
	started, err := container.Start(ctx, redisIn(pullPatience(false)))
	if err != nil {
		return err
	}
	d.running = started
	d.forward.To(started.Addr)
	return nil
}

func (d *privateDocker) url() string { return containerURL(d.forward.Addr()) }

func (d *privateDocker) kill(ctx context.Context) error {
	d.forward.To("")
	return d.running.Kill(ctx)
}

func (d *privateDocker) pause(ctx context.Context) error  { return d.running.Pause(ctx) }
func (d *privateDocker) resume(ctx context.Context) error { return d.running.Resume(ctx) }

func (d *privateDocker) remove(ctx context.Context) error {
	err := d.forward.Close()
	if d.running == nil {
		return err
	}
	return errors.Join(err, d.running.Kill(ctx), d.running.Stop())
}

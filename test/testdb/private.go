package testdb

import (
	"context"
	"testing"
	"time"

	"signpost/db/localpg"
)

// Private is a server that belongs to one test, which may end it, stop it and start it again. Its URLs and its data
// stay the same. It runs from installed binaries, which is quick, or else in Docker. Its methods may not be called
// at the same time.
type Private struct {
	t      testing.TB
	server privateServer
	host   *host
	paused bool
}

// privateServer is one way to run such a server.
type privateServer interface {
	// start starts the server, with the data of the last time, and returns when it answers.
	start(ctx context.Context) error
	// stop ends it in good order, kill ends every process of it at once. Both return when nothing of it runs.
	stop(ctx context.Context) error
	kill(ctx context.Context) error
	// pause stops every process of the server where it stands; resume lets them go on.
	pause(ctx context.Context) error
	resume(ctx context.Context) error
	// url is that of the maintenance database; it is the same after each start.
	url() string
	// remove ends what runs still and removes the data.
	remove(ctx context.Context) error
}

// privatePatience bounds one step in the life of a private server.
const privatePatience = time.Minute

// Server starts a private server. It ends with the test. Customise may change Durable and Settings before the start.
func Server(t testing.TB, customise ...func(*localpg.Config)) *Private {
	t.Helper()
	cfg := localpg.Config{Settings: map[string]string{"max_connections": maxConnections}}
	for _, c := range customise {
		c(&cfg)
	}
	if _, err := localpg.Find(); err == nil {
		return newPrivate(t, newInstalled(t, cfg))
	}
	return newPrivate(t, newDocker(t, cfg))
}

// NeedInstalled is for tests of what only installed binaries can show, such as `signpost dev`, which starts them. Where
// the other tests take their Postgres from Docker or the environment, the test is skipped; where there is none at all,
// it fails.
func NeedInstalled(t testing.TB) {
	t.Helper()
	_, err := localpg.Find()
	if err == nil {
		return
	}
	if _, noneAtAll := shared(); noneAtAll != nil {
		t.Fatal(noneAtAll)
	}
	t.Skip("needs installed binaries; ", err)
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
	p.host = newHost(&Shared{URL: p.server.url()})
	p.host.keep = true
	return p
}

// New makes a database on this server, as the function New does on the shared one.
func (p *Private) New(opts ...Option) string {
	p.t.Helper()
	return p.host.newDatabase(p.t, opts...)
}

// Start starts the server again after Stop or Kill, and returns when it answers.
func (p *Private) Start() { p.t.Helper(); p.step("start", p.server.start) }

// Stop ends the server in good order.
func (p *Private) Stop() { p.t.Helper(); p.step("stop", p.server.stop) }

// Kill ends every process of the server at once, as a crash of the machine would. A paused one may be killed.
func (p *Private) Kill() {
	p.t.Helper()
	p.step("kill", p.server.kill)
	p.paused = false
}

// Pause stops every process of the server where it stands: connections stay open, and nothing answers.
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
		p.t.Fatalf("%s private postgres: %v", name, err)
	}
}

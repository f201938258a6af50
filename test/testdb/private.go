package testdb

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"signpost/db/localpg"
)

// Private is a server that belongs to one test, which may end it, stop it and start it again. Its URLs and its data
// stay the same. It runs from installed binaries always; its methods may not be called at the same time.
type Private struct {
	t      testing.TB
	cfg    localpg.Config
	server *localpg.Server
	host   *host
}

// Server starts a private server. It ends with the test. Customise may change its configuration before the start.
func Server(t testing.TB, customise ...func(*localpg.Config)) *Private {
	t.Helper()
	// t.TempDir is closed to the account that the server runs under when the tests run as root.
	dir, err := os.MkdirTemp("", "signpost-test-")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	p := &Private{t: t, cfg: localpg.Config{
		DataDir:   filepath.Join(dir, "data"),
		SocketDir: filepath.Join(dir, "socket"),
		Settings:  map[string]string{"max_connections": maxConnections},
	}}
	for _, c := range customise {
		c(&p.cfg)
	}
	p.Start()
	t.Cleanup(func() {
		p.Resume()
		_ = p.server.Stop(context.Background()) // it may have been killed by the test
	})
	p.host = newHost(&Shared{URL: p.server.URL("postgres")})
	p.host.keep = true
	return p
}

// New makes a database on this server, as the function New does on the shared one.
func (p *Private) New(opts ...Option) string {
	p.t.Helper()
	return p.host.newDatabase(p.t, opts...)
}

// PID is the process id of the server's first process.
func (p *Private) PID() int { return p.server.PID() }

// Start starts the server again after Stop or Kill, and returns when it answers.
func (p *Private) Start() {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	server, err := localpg.Start(ctx, p.cfg)
	if err != nil {
		p.t.Fatal(err)
	}
	p.server = server
}

// Stop ends the server in good order.
func (p *Private) Stop() {
	p.t.Helper()
	if err := p.server.Stop(context.Background()); err != nil {
		p.t.Fatalf("stop postgres: %v", err)
	}
}

// Kill ends every process of the server at once, as a crash of the machine would.
func (p *Private) Kill() {
	p.t.Helper()
	p.Pause() // else its first process would start others anew
	p.signal(syscall.SIGKILL)
	<-p.server.Done()
}

// Pause stops every process of the server where it stands: connections stay open, and nothing answers.
func (p *Private) Pause() {
	p.t.Helper()
	p.signal(syscall.SIGSTOP)
}

// Resume ends a Pause. A server that has ended is left alone.
func (p *Private) Resume() {
	p.t.Helper()
	select {
	case <-p.server.Done():
	default:
		p.signal(syscall.SIGCONT)
	}
}

// signal sends sig to the server's first process and then to the others. Sent in this order, a stopped or killed
// server starts no further ones.
func (p *Private) signal(sig syscall.Signal) {
	p.t.Helper()
	others, err := childrenOf(p.server.PID())
	if err != nil {
		p.t.Fatalf("list the processes of postgres: %v", err)
	}
	if err := syscall.Kill(p.server.PID(), sig); err != nil {
		p.t.Fatalf("send %v to postgres: %v", sig, err)
	}
	if sig == syscall.SIGSTOP {
		// One may have been started since they were listed.
		if others, err = childrenOf(p.server.PID()); err != nil {
			p.t.Fatalf("list the processes of postgres: %v", err)
		}
	}
	for _, pid := range others {
		_ = syscall.Kill(pid, sig) // one that has ended meanwhile is no fault
	}
}

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"signpost/db/localpg"
)

// postgres is the server that the faults are done to. It keeps its data and
// its URLs through all of them.
type postgres struct {
	dir      string
	binaries localpg.Binaries
	config   localpg.Config
	server   *localpg.Server
	made     int // databases
}

const postgresWait = time.Minute

func newPostgres(ctx context.Context) (*postgres, error) {
	binaries, err := localpg.Find()
	if err != nil {
		return nil, err
	}
	// The server may run under another account, which has to enter.
	dir, err := os.MkdirTemp("", "signpost-faults-")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		return nil, fmt.Errorf("make a folder for postgres: %w", err)
	}
	p := &postgres{dir: dir, binaries: binaries, config: localpg.Config{
		DataDir: filepath.Join(dir, "data"), SocketDir: filepath.Join(dir, "socket"), Durable: true,
		Settings: map[string]string{"max_connections": "200"},
	}}
	if err := p.start(ctx); err != nil {
		p.remove()
		return nil, err
	}
	return p, nil
}

func (p *postgres) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, postgresWait)
	defer cancel()
	server, err := localpg.Start(ctx, p.config)
	if err != nil {
		return err
	}
	p.server = server
	return nil
}

// stop ends the server in good order: "fast".
func (p *postgres) stop(ctx context.Context) error { return p.server.Stop(ctx) }

// end ends the server by a signal to its first process: SIGQUIT is
// "immediate", SIGKILL a crash.
func (p *postgres) end(s syscall.Signal) error {
	if err := syscall.Kill(p.server.PID(), s); err != nil {
		return fmt.Errorf("signal postgres: %w", err)
	}
	<-p.server.Done()
	return nil
}

// freeze stops every process of the server where it stands; thaw lets them go on.
func (p *postgres) freeze() error {
	if err := syscall.Kill(p.server.PID(), syscall.SIGSTOP); err != nil {
		return fmt.Errorf("stop postgres: %w", err)
	}
	return p.signalChildren(syscall.SIGSTOP)
}

func (p *postgres) thaw() error {
	if err := p.signalChildren(syscall.SIGCONT); err != nil {
		return err
	}
	if err := syscall.Kill(p.server.PID(), syscall.SIGCONT); err != nil {
		return fmt.Errorf("continue postgres: %w", err)
	}
	return nil
}

func (p *postgres) signalChildren(s syscall.Signal) error {
	out, err := exec.Command("ps", "-A", "-o", "pid=,ppid=").Output()
	if err != nil {
		return fmt.Errorf("list processes: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		var pid, parent int
		if _, err := fmt.Sscan(line, &pid, &parent); err == nil && parent == p.server.PID() {
			_ = syscall.Kill(pid, s) // it may have ended meanwhile
		}
	}
	return nil
}

func (p *postgres) remove() {
	if p.server != nil {
		ctx, cancel := context.WithTimeout(context.Background(), postgresWait)
		defer cancel()
		_ = p.server.Stop(ctx) // a fault may have ended it
	}
	_ = os.RemoveAll(p.dir)
}

// database makes an empty database and gives its URL.
func (p *postgres) database(ctx context.Context) (string, error) {
	p.made++
	name := fmt.Sprintf("faults%d", p.made)
	if err := p.server.EnsureDatabase(ctx, name); err != nil {
		return "", err
	}
	return p.server.URL(name), nil
}

// tool runs a client program of Postgres, such as psql.
func (p *postgres) tool(ctx context.Context, name string, args ...string) error {
	path := filepath.Join(p.binaries.Dir, name)
	if _, err := os.Stat(path); err != nil {
		path = name
	}
	out, err := exec.CommandContext(ctx, path, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, strings.TrimSpace(string(out)))
	}
	return nil
}

// operator is a connection as an operator with psql has it.
func operator(ctx context.Context, url string) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("connect as operator: %w", err)
	}
	return conn, nil
}

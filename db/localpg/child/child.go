// Package child runs a server process that must not outlive the process that started it.
//
// Purpose: a private Postgres (package localpg) and a private Redis (tests) end with their owner, however the
// owner ends: by SIGKILL, by a panic, by os.Exit. A parent-death signal would not do: it is tied to a thread,
// is lost at some changes of user, and exists on Linux only. So a small shell script stands between the two:
// it is the parent of the command, and reads orders from a pipe whose other end only the owner holds. The
// kernel closes that end when the owner is gone, and the script ends the command.
//
//	owner ──orders──▶ sh child.sh ──fork──▶ command
//	  ▲                                        │
//	  └────────────── its output ──────────────┘
//
// Invariants: the command runs in a session of its own, so that Ctrl-C in a terminal reaches the owner alone;
// signals are sent by the command's own parent, so that a process id used again by the system is never hit.
//
// Called by localpg and by test/testredis.
package child

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

//go:embed child.sh
var script string

// Config says what to run.
type Config struct {
	// Command is the program, as an absolute path, and its arguments.
	Command []string
	// Env is the whole environment of the command.
	Env []string
	// Credential is the account to run under; nil means the owner's.
	Credential *syscall.Credential
	// Keep are open files that the command inherits as fd 4 and up: a locked file stays locked while it lives.
	Keep []*os.File
	// Output receives what the command writes, line by line and without the line ends, from one goroutine.
	// Nil drops it.
	Output func(line string)
	// OrphanSignal ends the command when the owner is gone; after 8 s it is killed.
	OrphanSignal Signal
	// OrphanDir is removed when the owner is gone and the command has ended. Empty means none. A command that
	// ends while its owner lives leaves the directory to the owner.
	OrphanDir string
}

// Signal is the name of a signal as a POSIX shell has it.
type Signal string

// The signals that servers are ended with.
const (
	Interrupt Signal = "INT"
	Quit      Signal = "QUIT"
	Terminate Signal = "TERM"
	Kill      Signal = "KILL"
)

// Process is a running command. Its methods may be called from several goroutines.
type Process struct {
	pid  int
	cmd  *exec.Cmd
	done chan struct{}
	err  error // set before done is closed

	mu     sync.Mutex
	orders *os.File // nil once closed
}

// Start runs the command and returns when it was forked, which does not mean that it could be executed: a
// missing program shows as an early end with exit status 127.
func Start(cfg Config) (*Process, error) {
	var opened []io.Closer
	closeAll := func() {
		for _, f := range opened {
			_ = f.Close()
		}
	}
	pipe := func() (*os.File, *os.File, error) {
		r, w, err := os.Pipe()
		if err == nil {
			opened = append(opened, r, w)
		}
		return r, w, err
	}
	ordersR, ordersW, err1 := pipe()
	pidR, pidW, err2 := pipe()
	outR, outW, err3 := pipe()
	if err := errors.Join(err1, err2, err3); err != nil {
		closeAll()
		return nil, fmt.Errorf("make pipes for %s: %w", cfg.Command[0], err)
	}

	args := append([]string{"-c", script, "sh", string(cfg.OrphanSignal), cfg.OrphanDir}, cfg.Command...)
	cmd := exec.Command("/bin/sh", args...)
	cmd.Dir = "/"
	cmd.Env = cfg.Env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = ordersR, outW, outW
	cmd.ExtraFiles = append([]*os.File{pidW}, cfg.Keep...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: cfg.Credential}
	if err := cmd.Start(); err != nil {
		closeAll()
		return nil, fmt.Errorf("run %s: %w", cfg.Command[0], err)
	}
	for _, f := range []*os.File{ordersR, pidW, outW} {
		_ = f.Close()
	}

	p := &Process{cmd: cmd, orders: ordersW, done: make(chan struct{})}
	outputEnded := make(chan struct{})
	go func() {
		defer close(outputEnded)
		defer outR.Close()
		readLines(outR, cfg.Output)
	}()
	go p.wait(outputEnded)

	p.pid, err1 = readPID(pidR)
	_ = pidR.Close()
	if err1 != nil {
		p.Abandon()
		<-p.done
		return nil, fmt.Errorf("run %s: %w", cfg.Command[0], errors.Join(err1, p.err))
	}
	return p, nil
}

// PID is the process id of the command.
func (p *Process) PID() int { return p.pid }

// Done is closed when the command has ended and its output was read.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err says how the command ended: nil after exit status 0. It may be called only after Done is closed.
func (p *Process) Err() error { return p.err }

// Signal sends sig to the command. A command that has ended already gets nothing, and that is no error.
func (p *Process) Signal(sig Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.orders != nil {
		_, _ = p.orders.WriteString(string(sig) + "\n")
	}
}

// Abandon treats the command as if its owner were gone: OrphanSignal, OrphanDir.
func (p *Process) Abandon() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.orders != nil {
		_ = p.orders.Close()
		p.orders = nil
	}
}

// Stop sends sig, abandons the command when it did not end within patience or before ctx is done, and returns
// when it has ended.
func (p *Process) Stop(ctx context.Context, sig Signal, patience time.Duration) {
	p.Signal(sig)
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
	case <-ctx.Done():
	}
	p.Abandon()
	<-p.done
}

// wait closes done when the script has ended. Grandchildren may hold the output open for a moment longer, so
// it is waited for, but not for ever.
func (p *Process) wait(outputEnded <-chan struct{}) {
	p.err = p.cmd.Wait()
	p.Abandon()
	select {
	case <-outputEnded:
	case <-time.After(2 * time.Second):
	}
	close(p.done)
}

func readPID(r io.Reader) (int, error) {
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		return 0, fmt.Errorf("no process id was reported: %w", err)
	}
	return strconv.Atoi(strings.TrimSpace(line))
}

func readLines(r io.Reader, output func(string)) {
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadString('\n')
		if line = strings.TrimRight(line, "\r\n"); line != "" && output != nil {
			output(line)
		}
		if err != nil {
			return
		}
	}
}

package child_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"signpost/db/localpg/child"
)

// output gathers lines; the first one is also sent to first.
type output struct {
	mu    sync.Mutex
	lines []string
	first chan string
}

func newOutput() *output { return &output{first: make(chan string, 1)} }

func (o *output) write(line string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.lines = append(o.lines, line); len(o.lines) == 1 {
		o.first <- line
	}
}

func (o *output) all() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.Join(o.lines, "\n")
}

func start(t *testing.T, out *output, orphanDir string, shell string) *child.Process {
	t.Helper()
	p, err := child.Start(child.Config{
		Command:      []string{"/bin/sh", "-c", shell},
		Env:          []string{"PATH=/usr/bin:/bin"},
		Output:       out.write,
		OrphanSignal: child.Terminate,
		OrphanDir:    orphanDir,
	})
	require.NoError(t, err)
	t.Cleanup(func() { p.Stop(context.Background(), child.Kill, time.Second) })
	return p
}

// untilDone fails the test when the process does not end in time.
func untilDone(t *testing.T, p *child.Process) {
	t.Helper()
	select {
	case <-p.Done():
	case <-time.After(20 * time.Second):
		t.Fatal("the process did not end")
	}
}

func TestExitStatusAndOutputAreHandedOn(t *testing.T) {
	t.Parallel()
	out := newOutput()
	p := start(t, out, "", "echo one; echo two >&2; exit 7")
	untilDone(t, p)
	require.ErrorContains(t, p.Err(), "exit status 7")
	require.Equal(t, "one\ntwo", out.all())
}

func TestAMissingProgramEndsAtOnce(t *testing.T) {
	t.Parallel()
	p, err := child.Start(child.Config{Command: []string{"/nonexistent"}, OrphanSignal: child.Quit})
	require.NoError(t, err)
	untilDone(t, p)
	require.ErrorContains(t, p.Err(), "exit status 127")
}

func TestPIDIsTheCommandsOwn(t *testing.T) {
	t.Parallel()
	out := newOutput()
	p := start(t, out, "", "echo $$; exec sleep 60")
	require.Equal(t, strconv.Itoa(p.PID()), <-out.first)
	require.NoError(t, syscall.Kill(p.PID(), syscall.SIGKILL))
	untilDone(t, p)
	require.ErrorContains(t, p.Err(), "137")
}

func TestSignalsReachTheCommand(t *testing.T) {
	t.Parallel()
	out := newOutput()
	p := start(t, out, "", `trap 'echo heard; exit 3' TERM; echo ready; while :; do sleep 0.1; done`)
	require.Equal(t, "ready", <-out.first)
	p.Signal(child.Terminate)
	untilDone(t, p)
	require.Equal(t, "ready\nheard", out.all())
	require.ErrorContains(t, p.Err(), "exit status 3")
}

func TestStopEndsACommandThatDoesNotListen(t *testing.T) {
	t.Parallel()
	out := newOutput()
	p := start(t, out, "", `trap '' INT; echo ready; exec sleep 60`)
	require.Equal(t, "ready", <-out.first)
	began := time.Now()
	p.Stop(t.Context(), child.Interrupt, 10*time.Millisecond)
	require.Less(t, time.Since(began), 5*time.Second)
	require.Error(t, p.Err())
}

func TestACommandDeafToItsOrphanSignalIsKilled(t *testing.T) {
	t.Parallel()
	out := newOutput()
	p := start(t, out, "", `trap '' TERM; echo ready; exec sleep 60`)
	require.Equal(t, "ready", <-out.first)
	p.Abandon()
	untilDone(t, p)
}

func TestTheDirectoryGoesWithTheOwnerOnly(t *testing.T) {
	t.Parallel()
	for name, abandon := range map[string]bool{"owner lives": false, "owner is gone": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "rubbish")
			require.NoError(t, os.MkdirAll(filepath.Join(dir, "below"), 0o700))
			out := newOutput()
			p := start(t, out, dir, "echo ready; exec sleep 60")
			require.Equal(t, "ready", <-out.first)
			if abandon {
				p.Abandon()
			} else {
				p.Signal(child.Kill)
			}
			untilDone(t, p)
			_, err := os.Stat(dir)
			require.Equal(t, abandon, os.IsNotExist(err))
		})
	}
}

func TestAStoppedCommandIsEndedToo(t *testing.T) {
	t.Parallel()
	out := newOutput()
	p := start(t, out, "", "echo ready; exec sleep 60")
	require.Equal(t, "ready", <-out.first)
	require.NoError(t, syscall.Kill(p.PID(), syscall.SIGSTOP))
	p.Abandon()
	untilDone(t, p)
}

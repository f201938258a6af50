package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"signpost/db/localpg/child"
)

// process is a child that ends with this program, however that ends.
type process struct {
	*child.Process
	name    string
	started time.Time

	mu    sync.Mutex
	lines []string // the last ones that it wrote
	heard chan string
}

const keptLines = 200

// launch starts a process. Signal is what ends it.
func launch(name string, signal child.Signal, show bool, command ...string) (*process, error) {
	p := &process{name: name, started: time.Now(), heard: make(chan string, keptLines)}
	var err error
	p.Process, err = child.Start(child.Config{
		Command: command, Env: environment(), OrphanSignal: signal,
		Output: func(line string) {
			p.hear(line)
			if show {
				fmt.Fprintf(os.Stderr, "%s: %s\n", name, line)
			}
		},
	})
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return p, nil
}

// environment leaves out what would configure the server.
func environment() []string {
	var env []string
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "SIGNPOST_") {
			env = append(env, pair)
		}
	}
	return env
}

func (p *process) hear(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.lines) == keptLines {
		p.lines = p.lines[1:]
	}
	p.lines = append(p.lines, line)
	select {
	case p.heard <- line:
	default: // nobody waits for a line any more
	}
}

// output is what the process has written, up to the last 200 lines.
func (p *process) output() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.lines...)
}

// await returns the first line that match accepts.
func (p *process) await(ctx context.Context, patience time.Duration, match func(string) bool) (string, error) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		select {
		case line := <-p.heard:
			if match(line) {
				return line, nil
			}
		case <-p.Done():
			return "", fmt.Errorf("%s has ended: %s", p.name, strings.Join(p.output(), "; "))
		case <-timer.C:
			return "", fmt.Errorf("%s was not ready after %s: %s", p.name, patience, strings.Join(p.output(), "; "))
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// finish waits for a process that ends by itself, and ends it when ctx is done.
func (p *process) finish(ctx context.Context) error {
	select {
	case <-p.Done():
		if err := p.Err(); err != nil {
			return fmt.Errorf("%s: %w: %s", p.name, err, strings.Join(p.output(), "; "))
		}
		return nil
	case <-ctx.Done():
		p.stop()
		return fmt.Errorf("%s: %w", p.name, ctx.Err())
	}
}

// stop ends the process and returns when it has ended.
func (p *process) stop() {
	const patience = 15 * time.Second // a server may drain for ten
	p.Stop(context.Background(), child.Terminate, patience)
}

// memory is a size that the system keeps of the process, in bytes: VmRSS is
// what is resident, VmHWM the most that was.
func (p *process) memory(key string) (float64, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID()))
	if err != nil {
		return 0, fmt.Errorf("read the memory of %s: %w", p.name, err)
	}
	for line := range strings.Lines(string(content)) {
		value, ok := strings.CutPrefix(line, key+":")
		if !ok {
			continue
		}
		kb, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 64)
		if err != nil {
			return 0, fmt.Errorf("read the memory of %s: %w", p.name, err)
		}
		return kb * 1024, nil
	}
	return 0, fmt.Errorf("read the memory of %s: no %s", p.name, key)
}

// cpu is the CPU time of the process so far.
func (p *process) cpu() (time.Duration, error) {
	u, err := usageOf(p.PID())
	return u.cpu, err
}

// cpuBelow is the CPU time of a process and of its children that run.
func cpuBelow(parent int) (time.Duration, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0, fmt.Errorf("list processes: %w", err)
	}
	var sum time.Duration
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if u, err := usageOf(pid); err == nil && (pid == parent || u.parent == parent) { // else it has just ended
			sum += u.cpu
		}
	}
	return sum, nil
}

// usage is what the system knows of a process.
type usage struct {
	parent int
	cpu    time.Duration // in user and in kernel mode, of all threads
}

// clockTick is the unit of /proc/PID/stat: USER_HZ, which is 100 on every
// architecture of Linux that Go runs on.
const clockTick = 10 * time.Millisecond

// usageOf reads /proc/PID/stat. Source: proc(5), fields 4, 14 and 15.
func usageOf(pid int) (usage, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return usage{}, fmt.Errorf("read the CPU time of a process: %w", err)
	}
	// The second field, the program's name, may have blanks in it.
	text := string(content)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	const first = 3 // the number of fields[0]
	var numbers [3]int64
	for i, field := range [...]int{4, 14, 15} {
		if field-first >= len(fields) {
			return usage{}, fmt.Errorf("read the CPU time of process %d: %q", pid, text)
		}
		if numbers[i], err = strconv.ParseInt(fields[field-first], 10, 64); err != nil {
			return usage{}, fmt.Errorf("read the CPU time of process %d: %w", pid, err)
		}
	}
	return usage{parent: int(numbers[0]), cpu: time.Duration(numbers[1]+numbers[2]) * clockTick}, nil
}

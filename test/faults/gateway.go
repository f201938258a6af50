package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"signpost/db/localpg/child"
)

// gateway is a `signpost serve` and what is known of it. It may die and be
// started again, at other addresses.
type gateway struct {
	number   int
	binary   string
	database string
	client   *http.Client
	outages  atomic.Int64 // odd while the harness keeps it from answering

	mu      sync.Mutex
	process *child.Process
	http    string
	dns     string
	log     []string // of the process, without what is said all the time
}

const (
	readWait  = 4 * time.Second // then a lookup has failed
	writeWait = 15 * time.Second
	startWait = 30 * time.Second
	keptLines = 400
)

func newGateway(number int, binary, database string) *gateway {
	return &gateway{
		number: number, binary: binary, database: database,
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}},
	}
}

// launch starts the process and returns when it has bound its addresses.
func (g *gateway) launch() error {
	bound := make(chan string, 1)
	p, err := child.Start(child.Config{
		Command: []string{g.binary, "serve", "--postgres", g.database, "--http", "127.0.0.1:0", "--dns", "127.0.0.1:0"},
		Env:     environment(), OrphanSignal: child.Kill,
		Output: func(line string) {
			g.hear(line)
			if strings.Contains(line, " msg=starting ") {
				bound <- line
			}
		},
	})
	if err != nil {
		return fmt.Errorf("start gateway %d: %w", g.number, err)
	}
	g.mu.Lock()
	g.process = p
	g.mu.Unlock()
	select {
	case line := <-bound:
		g.mu.Lock()
		defer g.mu.Unlock()
		g.http, g.dns = field(line, "http"), field(line, "dns")
		return nil
	case <-p.Done():
		return fmt.Errorf("gateway %d has ended: %s", g.number, strings.Join(g.lines(), "; "))
	case <-time.After(startWait):
		return fmt.Errorf("gateway %d did not bind its addresses", g.number)
	}
}

// environment leaves out what would configure the gateway.
func environment() []string {
	var env []string
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "SIGNPOST_") {
			env = append(env, pair)
		}
	}
	return env
}

// field is the value of a key in a line of the log.
func field(line, key string) string {
	_, rest, _ := strings.Cut(line, " "+key+"=")
	value, _, _ := strings.Cut(rest, " ")
	return value
}

func (g *gateway) hear(line string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.log) < keptLines {
		g.log = append(g.log, line)
	}
}

// lines are what the process has logged so far, up to 400 lines.
func (g *gateway) lines() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]string(nil), g.log...)
}

// ready waits until the gateway answers lookups.
func (g *gateway) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	for {
		a, err := g.ask(ctx, http.MethodGet, "/ready", "", readWait)
		if err == nil && a.status == http.StatusOK {
			return nil
		}
		if err := rest(ctx, 20*time.Millisecond); err != nil {
			return fmt.Errorf("gateway %d is not ready: %s: %s", g.number, a.body, strings.Join(g.lines(), "; "))
		}
	}
}

func (g *gateway) running() *child.Process {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.process
}

// signal sends a signal to the process.
func (g *gateway) signal(s syscall.Signal) error {
	if err := syscall.Kill(g.running().PID(), s); err != nil {
		return fmt.Errorf("signal gateway %d: %w", g.number, err)
	}
	return nil
}

// kill ends the process at once.
func (g *gateway) kill() error {
	p := g.running()
	if err := g.signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-p.Done()
	return nil
}

// stop ends the process in good order.
func (g *gateway) stop() {
	g.client.CloseIdleConnections()
	if p := g.running(); p != nil {
		p.Stop(context.Background(), child.Terminate, 12*time.Second)
	}
}

// answer is what came back over HTTP.
type answer struct {
	status int
	index  uint64
	body   string
}

func (g *gateway) ask(ctx context.Context, method, path, body string, patience time.Duration) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	g.mu.Lock()
	base := "http://" + g.http
	g.mu.Unlock()
	request, err := http.NewRequestWithContext(ctx, method, base+path, strings.NewReader(body))
	if err != nil {
		return answer{}, fmt.Errorf("ask gateway %d: %w", g.number, err)
	}
	response, err := g.client.Do(request)
	if err != nil {
		return answer{}, fmt.Errorf("ask gateway %d: %w", g.number, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{}, fmt.Errorf("ask gateway %d: %w", g.number, err)
	}
	a := answer{status: response.StatusCode, body: string(text)}
	_, _ = fmt.Sscan(response.Header.Get("X-Service-Index"), &a.index) // writes have none
	return a, nil
}

// rest waits, or says that ctx is done.
func rest(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

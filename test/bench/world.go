package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"signpost/db/localpg"
	"signpost/db/localpg/child"
)

// world is what the figures share: a Postgres, the gateways over it and the
// yardsticks. Each is started when it is first needed.
type world struct {
	options options
	dir     string // temporary
	binary  string
	pg      *localpg.Server
	running []*process
	warm    map[*process]bool // was under load
	client  *http.Client

	turns  int           // of each comparison
	each   time.Duration // one side of a turn
	warmUp time.Duration

	small, large, writes *gateway
	echo                 *yardstick

	databases, gateways, writeRuns int // so far
}

// gateway is a `signpost serve` that runs, and its database.
type gateway struct {
	*process
	http, dns string
	database  string
	ready     time.Duration // from its start until /ready said so
}

func newWorld(ctx context.Context, o options) (w *world, err error) {
	for _, tool := range []string{"dnsperf", "wrk"} {
		if _, err := exec.LookPath(tool); err != nil {
			return nil, fmt.Errorf("%s is needed (Debian: apt-get install dnsperf wrk): %w", tool, err)
		}
	}
	w = &world{options: o, turns: 7, each: 3 * time.Second, warmUp: 2 * time.Second, binary: o.binary, warm: map[*process]bool{}}
	if o.short {
		w.turns, w.each, w.warmUp = 3, time.Second, time.Second
	}
	w.client = &http.Client{Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: writeClients}}
	if w.dir, err = os.MkdirTemp("", "signpost-bench-"); err != nil {
		return nil, fmt.Errorf("make a temporary directory: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	if w.binary == "" {
		w.binary = filepath.Join(w.dir, "signpost")
		build := exec.CommandContext(ctx, "go", "build", "-o", w.binary, "signpost/cmd/signpost")
		if out, err := build.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("build signpost: %w: %s", err, out)
		}
	} else if w.binary, err = filepath.Abs(w.binary); err != nil {
		return nil, fmt.Errorf("find signpost: %w", err)
	}
	starting, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if w.pg, err = localpg.Start(starting, localpg.Config{Durable: true}); err != nil {
		return nil, fmt.Errorf("start a private Postgres: %w", err)
	}
	return w, nil
}

// close ends every process that was started, the newest first.
func (w *world) close() error {
	for _, p := range slices.Backward(w.running) {
		p.stop()
	}
	var err error
	if w.pg != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		err = w.pg.Stop(ctx)
	}
	return errors.Join(err, os.RemoveAll(w.dir))
}

// log is for what of the house runs inside this program.
func (w *world) log() *slog.Logger {
	if w.options.keep {
		return slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	return slog.New(slog.DiscardHandler)
}

// progress says on stderr what takes its time.
func (w *world) progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "… "+format+"\n", args...)
}

// newDatabase makes an empty one and gives its name.
func (w *world) newDatabase(ctx context.Context) (string, error) {
	w.databases++
	name := fmt.Sprintf("bench%d", w.databases)
	return name, w.pg.EnsureDatabase(ctx, name)
}

// serve starts a gateway on a database and waits until it is ready.
func (w *world) serve(ctx context.Context, database string) (*gateway, error) {
	w.gateways++
	p, err := launch(fmt.Sprintf("signpost %d", w.gateways), child.Terminate, w.options.keep, w.binary, "serve", "--postgres", w.pg.URL(database),
		"--http", "127.0.0.1:0", "--dns", "127.0.0.1:0", "--log-level", "info")
	if err != nil {
		return nil, err
	}
	w.running = append(w.running, p)
	line, err := p.await(ctx, time.Minute, func(line string) bool { return strings.Contains(line, " msg=ready ") })
	if err != nil {
		return nil, err
	}
	g := &gateway{process: p, database: database, http: field(line, "http"), dns: field(line, "dns")}
	for {
		status, _, err := w.get(ctx, "http://"+g.http+"/ready")
		if err != nil {
			return nil, err
		}
		if status == http.StatusOK {
			g.ready = time.Since(p.started)
			return g, nil
		}
	}
}

// end stops a gateway that is not needed any more.
func (w *world) end(p *process) {
	p.stop()
	w.running = slices.DeleteFunc(w.running, func(other *process) bool { return other == p })
}

// field is the value of a key in a line of the log.
func field(line, key string) string {
	_, rest, _ := strings.Cut(line, " "+key+"=")
	value, _, _ := strings.Cut(rest, " ")
	return value
}

// smallGateway has one service of ten instances and a query for it.
func (w *world) smallGateway(ctx context.Context) (*gateway, error) {
	if w.small != nil {
		return w.small, nil
	}
	database, err := w.newDatabase(ctx)
	if err != nil {
		return nil, err
	}
	g, err := w.serve(ctx, database)
	if err != nil {
		return nil, err
	}
	w.small = g
	return g, w.load(ctx, g, 1)
}

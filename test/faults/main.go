package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
)

func main() {
	short := flag.Bool("short", false, "fewer rounds and shorter stops")
	only := flag.String("run", "", "only the faults whose name matches this `regexp`")
	binary := flag.String("binary", "", "a signpost that is built already")
	logs := flag.Bool("logs", false, "print what the gateways of a failed run have logged")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := all(ctx, *short, *only, *binary, *logs)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		os.Exit(1)
	}
}

var errBad = errors.New("not all is well")

// all runs the faults, one after the other, and prints the table.
func all(ctx context.Context, short bool, only, binary string, logs bool) error {
	names, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	if err := raiseFiles(); err != nil {
		return err
	}
	w, err := newWorld(ctx, binary)
	if err != nil {
		return err
	}
	defer w.close()
	results, bad := []*result{}, false
	for _, f := range faults() {
		if !names.MatchString(f.name) || ctx.Err() != nil {
			continue
		}
		fmt.Fprintf(os.Stderr, "… %s\n", f.name)
		out := w.run(ctx, f, short)
		results = append(results, out)
		bad = bad || !out.good()
		report(os.Stderr, out, logs)
		if err := w.heal(ctx); err != nil {
			return errors.Join(err, errBad)
		}
	}
	table(os.Stdout, results)
	if bad || ctx.Err() != nil {
		return errBad
	}
	return nil
}

// raiseFiles lifts the limit of open files to what three gateways and their
// clients may need.
func raiseFiles() error {
	const files = 20000
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("limit of open files: %w", err)
	}
	limit.Cur = min(files, limit.Max)
	return syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
}

// world is what all runs share.
type world struct {
	pg     *postgres
	binary string
	dir    string
}

func newWorld(ctx context.Context, binary string) (*world, error) {
	dir, err := os.MkdirTemp("", "signpost-faults-")
	if err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	w := &world{binary: binary, dir: dir}
	if binary == "" {
		w.binary = filepath.Join(dir, "signpost")
		build := exec.CommandContext(ctx, "go", "build", "-o", w.binary, "signpost/cmd/signpost")
		build.Env = append(os.Environ(), "GOFLAGS=-buildvcs=false")
		if out, err := build.CombinedOutput(); err != nil {
			w.close()
			return nil, fmt.Errorf("build signpost: %w: %s", err, out)
		}
	}
	if w.binary, err = filepath.Abs(w.binary); err == nil {
		w.pg, err = newPostgres(ctx)
	}
	if err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

func (w *world) close() {
	if w.pg != nil {
		w.pg.remove()
	}
	_ = os.RemoveAll(w.dir)
}

func (w *world) run(ctx context.Context, f *fault, short bool) *result {
	return (&run{fault: f, pg: w.pg, binary: w.binary, short: short}).do(ctx)
}

// heal starts Postgres where a run that failed has left it ended.
func (w *world) heal(ctx context.Context) error {
	select {
	case <-w.pg.server.Done():
		return w.pg.start(ctx)
	default:
		return nil
	}
}

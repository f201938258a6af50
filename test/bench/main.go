// Command bench measures what the project promises, and prints one table:
// figure, this, limit, ratio.
//
// Everything is measured in one run on one machine. A figure that is promised
// as a ratio is measured in turns with its yardstick, the other one first
// (A B A B …), so that what else the machine does touches both alike; the
// ratio is the median of the ratios of the turns. Numbers are shown, not
// asserted: the exit status is 0 unless the run itself failed.
//
//	bench ──▶ Postgres (private, durable)
//	  ├─────▶ signpost serve   what is measured
//	  ├─────▶ bench yardstick  what it is compared with, this program again
//	  └─────▶ dnsperf, wrk     the load
//
// All of them are processes of their own, so that the CPU time and the memory
// of each can be read, and none outlives this one (package child). They listen
// on the loopback, on ports that the system chooses.
//
// Run by `make bench`; docs/benchmarks.md says what each line means.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"syscall"
)

// options are the command line.
type options struct {
	short  bool
	only   *regexp.Regexp
	json   string
	binary string // a signpost that is built already
	keep   bool   // server logs on stderr
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == yardstickCommand {
		if err := runYardstick(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "yardstick:", err)
			os.Exit(1)
		}
		return
	}
	o, err := parse(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		os.Exit(2) // the flag package has said why
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err = run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.BoolVar(&o.short, "short", false, "a few seconds for each figure, two minutes in all")
	flags.StringVar(&o.json, "json", "", "also write the table, with every turn, to `FILE`")
	flags.StringVar(&o.binary, "signpost", "", "measure this `BINARY` instead of building one")
	flags.BoolVar(&o.keep, "logs", false, "show what the servers log")
	flags.Func("only", "measure only the figures whose name matches `REGEXP`", func(text string) error {
		var err error
		o.only, err = regexp.Compile(text)
		return err
	})
	return o, flags.Parse(args)
}

// run measures and prints. What was measured before an error or a signal is
// printed as well.
func run(ctx context.Context, o options) (err error) {
	t := newTable(os.Stdout, o)
	w, err := newWorld(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close(), t.finish()) }() // in this order: what has ended can be counted
	for _, f := range figures() {
		if !f.wanted(o.only) {
			continue
		}
		rows, err := f.measure(ctx, w)
		if err != nil {
			return fmt.Errorf("%s: %w", f.names[0], err)
		}
		t.add(rows, o.only)
	}
	return nil
}

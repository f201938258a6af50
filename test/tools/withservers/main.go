// Command withservers runs a command beside a Postgres and a Redis for tests:
//
//	withservers [-postgres VARIABLE] [-redis VARIABLE] COMMAND ARGUMENT...
//
// Purpose: all packages of one `make test` share one Postgres and one Redis. They are found or started as
// packages testdb and testredis say, and named to the command by environment variables; an empty variable name
// means that the server is not wanted. The servers end when the command has ended, and with this program if it
// is killed. The exit status is the command's; 1 if a server could not be had.
//
// Called by the Makefile.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"signpost/test/testdb"
	"signpost/test/testredis"
)

// startPatience bounds finding and starting the servers, with the pulling of images in it.
const startPatience = 5 * time.Minute

func main() {
	postgres := flag.String("postgres", testdb.EnvURL, "name Postgres to the command by `VARIABLE`; empty for none")
	redis := flag.String("redis", testredis.EnvURL, "name Redis to the command by `VARIABLE`; empty for none")
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	status, err := run(*postgres, *redis, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "withservers:", err)
	}
	os.Exit(status)
}

// run returns the exit status. Servers are stopped however the command ends.
func run(postgres, redis string, command []string) (status int, err error) {
	started, err := start(postgres, redis)
	defer func() { err = errors.Join(err, started.stop()) }()
	if err != nil {
		return 1, err
	}
	return execute(command, append(os.Environ(), started.env...))
}

// servers are those that were started, and how the command learns of them.
type servers struct {
	env   []string
	stops []func() error
}

func (s servers) stop() error {
	var errs []error
	for _, stop := range s.stops {
		errs = append(errs, stop())
	}
	return errors.Join(errs...)
}

// start brings both servers up at the same time. What was started is returned even if the other one failed.
func start(postgres, redis string) (servers, error) {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	ctx, cancelPatience := context.WithTimeout(ctx, startPatience)
	defer cancelPatience()
	var db *testdb.Shared
	var store *testredis.Shared
	var group errgroup.Group
	if postgres != "" {
		group.Go(func() (err error) { db, err = testdb.Serve(ctx); return err })
	}
	if redis != "" {
		group.Go(func() (err error) { store, err = testredis.Serve(ctx); return err })
	}
	err := group.Wait()
	var all servers
	if db != nil {
		fmt.Fprintln(os.Stderr, "Postgres:", db.Where)
		all.env = append(all.env, postgres+"="+db.URL)
		all.stops = append(all.stops, db.Stop)
	}
	if store != nil {
		fmt.Fprintln(os.Stderr, "Redis:", store.Where)
		all.env = append(all.env, redis+"="+store.URL)
		all.stops = append(all.stops, store.Stop)
	}
	return all, err
}

// execute runs the command in the foreground. Ctrl-C reaches it from the terminal by itself; other requests to end
// are handed on, and this program stays until the command has ended.
func execute(command, env []string) (int, error) {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return 1, err
	}
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		for {
			select {
			case sig := <-signals:
				if sig != os.Interrupt {
					_ = cmd.Process.Signal(sig) // it may have ended
				}
			case <-ended:
				return
			}
		}
	}()
	err := cmd.Wait()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0, nil
	case errors.As(err, &exit) && exit.Exited():
		return exit.ExitCode(), nil
	default:
		return 1, fmt.Errorf("%s: %w", command[0], err)
	}
}

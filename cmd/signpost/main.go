// Command signpost is the gateway and its small clients in one binary.
//
// main turns signals into a cancelled context and the command's result into an
// exit status: 0 for success, 1 for what went wrong while running, 2 for a
// command line or configuration that cannot be run. Each command lives in the
// file of its name; only here and there are the packages of the house joined.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

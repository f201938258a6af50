package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"signpost/cmd/signpost/config"
)

// The exit statuses that scripts see.
const (
	exitOK    = 0
	exitRun   = 1 // the command ran and failed
	exitUsage = 2 // the command line or the configuration is wrong
)

// usageError is a fault of the command line that a command finds by itself.
type usageError struct{ error }

// run executes one command line and returns its exit status. Errors go to
// stderr, one line each.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRootCommand()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	started := false
	onStart(root, func() { started = true })

	command, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if line = strings.TrimSpace(line); line != "" { // cobra's suggestions have empty ones
			fmt.Fprintf(stderr, "signpost: %s\n", line)
		}
	}
	var usage usageError
	var fault *config.Fault
	switch {
	case errors.As(err, &fault):
		return exitUsage
	case !started || errors.As(err, &usage):
		fmt.Fprintf(stderr, "signpost: see %s --help\n", command.CommandPath())
		return exitUsage
	default:
		return exitRun
	}
}

// newRootCommand gathers the commands.
func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:               "signpost",
		Short:             "Answers service lookups over DNS and HTTP from a catalog in Postgres",
		Version:           version(),
		SilenceErrors:     true, // run prints them
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
	}
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.AddCommand(
		newServeCommand(),
		newDevCommand(),
		newMigrateCommand(),
		newHealthCommand(),
		newLookupCommand(),
	)
	return root
}

// onStart calls begin when a command's own work begins, that is after cobra has
// accepted the command line: what fails before is a mistake in the usage.
func onStart(command *cobra.Command, begin func()) {
	if work := command.RunE; work != nil {
		command.RunE = func(c *cobra.Command, args []string) error {
			begin()
			return work(c, args)
		}
	}
	for _, child := range command.Commands() {
		onStart(child, begin)
	}
}

// version is what the Go tool stamped into the binary: the tag or the commit
// that it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(unknown)"
	}
	return info.Main.Version
}

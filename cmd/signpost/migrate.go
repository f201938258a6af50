package main

import (
	"context"
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"signpost/cmd/signpost/config"
	"signpost/db"
	"signpost/migrations"
)

// newMigrateCommand makes the commands that move the schema by hand.
func newMigrateCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "migrate",
		Short: "Look after the schema in Postgres",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return usageError{fmt.Errorf("say up, down or version")}
		},
	}
	command.AddCommand(
		newMigrateStep("up", "Bring the schema up to this build's version", cobra.NoArgs, migrateUp),
		newMigrateStep("down [VERSION]", "Take the schema back to a version, by default the one before", cobra.MaximumNArgs(1), migrateDown),
		newMigrateStep("version", "Tell the schema's version and this build's", cobra.NoArgs, migrateVersion),
	)
	return command
}

type migrateStep func(ctx context.Context, c *cobra.Command, url string, args []string) error

func newMigrateStep(use, short string, args cobra.PositionalArgs, do migrateStep) *cobra.Command {
	command := &cobra.Command{Use: use, Short: short, Args: args}
	flags := config.AddFlags(command.Flags(), "config", "postgres")
	flags.Required = []string{"postgres.url"}
	command.RunE = func(c *cobra.Command, args []string) error {
		cfg, err := config.Load(*flags, os.LookupEnv)
		if err != nil {
			return err
		}
		return do(c.Context(), c, string(cfg.Postgres.Direct()), args)
	}
	return command
}

func migrateUp(ctx context.Context, c *cobra.Command, url string, _ []string) error {
	if err := db.CheckServer(ctx, url); err != nil {
		return err
	}
	if err := db.Migrate(ctx, url); err != nil {
		return err
	}
	return migrateVersion(ctx, c, url, nil)
}

func migrateDown(ctx context.Context, c *cobra.Command, url string, args []string) error {
	at, err := db.Version(ctx, url)
	if err != nil {
		return err
	}
	if at == 0 {
		return migrateVersion(ctx, c, url, nil)
	}
	to := at - 1
	if len(args) == 1 {
		n, err := strconv.ParseUint(args[0], 10, 32)
		if err != nil || uint(n) > at {
			return usageError{fmt.Errorf("%q is not a version from 0 to %d", args[0], at)}
		}
		to = uint(n)
	}
	if err := db.MigrateTo(ctx, url, to); err != nil {
		return err
	}
	return migrateVersion(ctx, c, url, nil)
}

func migrateVersion(ctx context.Context, c *cobra.Command, url string, _ []string) error {
	at, err := db.Version(ctx, url)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.OutOrStdout(), "schema %d, this build %d\n", at, migrations.Newest)
	return nil
}

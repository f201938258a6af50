package main

import (
	"context"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"signpost/cmd/signpost/config"
	"signpost/cmd/signpost/server"
)

// newServeCommand makes the command that runs a gateway on a given Postgres.
func newServeCommand() *cobra.Command {
	var migrate bool
	command := &cobra.Command{
		Use:   "serve",
		Short: "Answer lookups from the catalog in a Postgres",
		Args:  cobra.NoArgs,
	}
	flags := config.AddFlags(command.Flags())
	flags.Required = []string{"postgres.url"}
	command.Flags().BoolVar(&migrate, "migrate", true, "bring the schema up to date at start")
	command.RunE = func(c *cobra.Command, _ []string) error {
		cfg, err := config.Load(*flags, os.LookupEnv)
		if err != nil {
			return err
		}
		log, _ := newLogger(c.ErrOrStderr(), cfg.LogLevel)
		return serve(c.Context(), cfg, server.Options{NoMigrate: !migrate}, log, nil)
	}
	return command
}

// serve runs a gateway until ctx is done. started, unless nil, is called when
// its addresses are bound, in a goroutine of its own.
func serve(ctx context.Context, cfg config.Config, o server.Options, log *slog.Logger, started func(*server.Server)) error {
	s, err := server.New(cfg, o, log)
	if err != nil {
		return err
	}
	if err := s.Listen(); err != nil {
		return err
	}
	log.Info("starting", "version", version(), "http", s.HTTP().String(), "dns", s.DNS().String(), "config", cfg)
	if started != nil {
		go started(s)
	}
	return s.Run(ctx)
}

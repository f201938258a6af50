package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"signpost/cmd/signpost/config"
	"signpost/cmd/signpost/server"
	"signpost/db/localpg"
)

const (
	devStart = time.Minute // for the private Postgres to come up
	devStop  = 20 * time.Second
)

// newDevCommand makes the command that runs everything in one process.
func newDevCommand() *cobra.Command {
	var sample bool
	command := &cobra.Command{
		Use:   "dev",
		Short: "Run a gateway with a private Postgres, for trying things out",
		Args:  cobra.NoArgs,
	}
	flags := config.AddFlags(command.Flags())
	command.Flags().BoolVar(&sample, "sample", false, "load a sample catalog and say what to ask of it")
	command.RunE = func(c *cobra.Command, _ []string) error {
		cfg, err := config.Load(*flags, os.LookupEnv)
		if err != nil {
			return err
		}
		log, _ := newLogger(c.ErrOrStderr(), cfg.LogLevel)
		return dev(c.Context(), cfg, sample, log, c.OutOrStdout())
	}
	return command
}

// dev runs a gateway on the Postgres that the configuration names, or else on
// one of its own, which ends with it.
func dev(ctx context.Context, cfg config.Config, sample bool, log *slog.Logger, out io.Writer) (err error) {
	if cfg.Postgres.URL == "" {
		// A taken address is said before anything is made.
		if err := server.CheckAddresses(cfg); err != nil {
			return err
		}
		pg, failed := startPrivate(ctx, cfg, log)
		if failed != nil && ctx.Err() != nil {
			log.Info("stopped before it had started")
			return nil
		}
		if failed != nil {
			return failed
		}
		defer func() {
			stop, cancel := context.WithTimeout(context.Background(), devStop)
			defer cancel()
			err = errors.Join(err, pg.Stop(stop))
		}()
		cfg.Postgres.URL = config.SecretURL(pg.URL("signpost"))
	}
	// Whatever goes wrong after the start ends the whole process.
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	err = serve(ctx, cfg, server.Options{}, log, func(s *server.Server) {
		if err := welcome(ctx, s, cfg, sample, out); err != nil {
			stop(err)
		}
	})
	if cause := context.Cause(ctx); err == nil && cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return err
}

func startPrivate(ctx context.Context, cfg config.Config, log *slog.Logger) (*localpg.Server, error) {
	if cfg.DataDir == "" {
		log.Info("starting a private Postgres; its data goes when this process ends (--data-dir keeps it)")
	} else {
		log.Info("starting a private Postgres", "data_dir", cfg.DataDir)
	}
	ctx, cancel := context.WithTimeout(ctx, devStart)
	defer cancel()
	pg, err := localpg.Start(ctx, localpg.Config{DataDir: cfg.DataDir, Durable: true, Logger: log})
	if err != nil {
		return nil, err
	}
	if err := pg.EnsureDatabase(ctx, "signpost"); err != nil {
		return nil, errors.Join(err, pg.Stop(ctx))
	}
	return pg, nil
}

// welcome waits until the gateway is ready, loads the sample if it is wanted,
// and says what to try.
func welcome(ctx context.Context, s *server.Server, cfg config.Config, sample bool, out io.Writer) error {
	for len(s.NotReady()) > 0 {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return nil
		}
	}
	if !sample {
		_, err := fmt.Fprintf(out, "Signpost is ready: HTTP on %s, DNS on %s, domain %q. Ctrl-C ends it.\n", s.HTTP(), s.DNS(), cfg.Domain)
		return err
	}
	return loadSample(ctx, s, cfg, out)
}

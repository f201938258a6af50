package localpg

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"signpost/db/localpg/child"
)

// Superuser is the one role of a new server. Whoever reaches the socket is let in without a password.
const Superuser = "postgres"

// port is part of the socket's file name; nothing listens on it.
const port = "5432"

// Server is a running Postgres.
type Server struct {
	acct      account
	binaries  Binaries
	durable   bool
	settings  map[string]string
	logs      *logs
	home      string // where the data is
	socketDir string
	temporary string // removed at the end; empty = nothing is temporary
	process   *child.Process
}

// URL is how to reach a database of the server, for pgx as for psql. The database need not exist.
func (s *Server) URL(database string) string {
	u := url.URL{
		Scheme:   "postgres",
		User:     url.User(Superuser),
		Path:     "/" + database,
		RawQuery: url.Values{"host": {s.socketDir}, "port": {port}, "sslmode": {"disable"}}.Encode(),
	}
	return u.String()
}

// PID is the process id of the server's first process, the postmaster.
func (s *Server) PID() int { return s.process.PID() }

// Major is the server's major version.
func (s *Server) Major() int { return s.binaries.Major }

// Done is closed when the server has ended, by Stop or by itself.
func (s *Server) Done() <-chan struct{} { return s.process.Done() }

const createDatabase = `CREATE DATABASE %s`

// EnsureDatabase makes a database unless it is there.
func (s *Server) EnsureDatabase(ctx context.Context, name string) error {
	conn, err := pgx.Connect(ctx, s.URL("postgres"))
	if err != nil {
		return fmt.Errorf("connect to private postgres: %w", err)
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, fmt.Sprintf(createDatabase, pgx.Identifier{name}.Sanitize()))
	var pgErr *pgconn.PgError
	const duplicateDatabase = "42P04"
	if errors.As(err, &pgErr) && pgErr.Code == duplicateDatabase {
		return nil
	}
	if err != nil {
		return fmt.Errorf("create database %s: %w", name, err)
	}
	return nil
}

// Stop ends the server: open transactions are rolled back, connections closed, all is written. After ten seconds,
// or when ctx is done, it is ended at once, which costs the next start a recovery and no data. Temporary folders
// are removed. Stopping a server that has ended only removes them.
func (s *Server) Stop(ctx context.Context) error {
	s.process.Stop(ctx, child.Interrupt, stopPatience)
	err := s.process.Err()
	return errors.Join(err, s.cleanUp())
}

// cleanUp removes what is temporary; a process that runs still is ended.
func (s *Server) cleanUp() error {
	if s.process != nil {
		s.process.Abandon()
		<-s.process.Done()
	}
	if s.temporary == "" {
		return nil
	}
	return os.RemoveAll(s.temporary)
}

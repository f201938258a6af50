package localpg

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"signpost/db/localpg/child"
)

// Config says how to run a server. The zero value is a temporary server with fsync off.
type Config struct {
	// DataDir keeps the data in a folder "postgres" below it. It must be missing, empty, or from an earlier
	// run. Empty means a temporary folder that Stop removes.
	DataDir string
	// SocketDir is where the server listens, made with mode 0700 where it is missing. Empty means a temporary
	// folder. Who stops a server and starts it again under the same URL sets it. At most 90 bytes.
	SocketDir string
	// Durable leaves fsync on: what was committed survives a crash of the machine.
	Durable bool
	// Settings are further server settings by name, such as "max_connections": "300".
	Settings map[string]string
	// Logger gets the server's messages; nil drops them.
	Logger *slog.Logger
}

// stopPatience is how long a fast stop may take before it becomes an immediate one.
const stopPatience = 10 * time.Second

// Start makes the data directory where there is none yet, starts the server and returns when it answers. ctx
// bounds the start alone. Errors are one line: ErrNotInstalled, a data directory of another version, in use or
// out of reach, or the server's own last word.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	acct, err := unprivileged()
	if err != nil {
		return nil, err
	}
	s := &Server{acct: acct, logs: &logs{to: cfg.Logger}, durable: cfg.Durable, settings: cfg.Settings}
	if err := s.start(ctx, cfg); err != nil {
		return nil, errors.Join(err, s.cleanUp())
	}
	return s, nil
}

func (s *Server) start(ctx context.Context, cfg Config) error {
	if err := s.makeFolders(cfg); err != nil {
		return err
	}
	cluster, err := openCluster(s.home, s.acct)
	if err != nil {
		return err
	}
	if s.binaries, err = choose(cluster); err != nil {
		return err
	}
	lock, err := cluster.acquire(ctx)
	if err != nil {
		return err
	}
	// The child processes have it from here on; this process need not hold it.
	defer lock.Close()
	if err := s.acct.own(cluster.home); err != nil {
		return fmt.Errorf("give data directory to account %s: %w", s.acct.name, err)
	}
	if err := s.initialise(ctx, cluster, lock); err != nil {
		return err
	}
	if err := cluster.clearStalePID(); err != nil {
		return err
	}
	if s.process, err = s.run(s.serverCommand(cluster), lock); err != nil {
		return err
	}
	return s.await(ctx)
}

// makeFolders makes what is temporary: the socket's folder, and the data's unless it is to be kept.
func (s *Server) makeFolders(cfg Config) error {
	s.home, s.socketDir = cfg.DataDir, cfg.SocketDir
	if s.home == "" || s.socketDir == "" {
		var err error
		if s.temporary, err = s.makeTemporary(); err != nil {
			return err
		}
	}
	if s.home == "" {
		s.home = filepath.Join(s.temporary, "data")
	}
	if s.socketDir == "" {
		s.socketDir = s.temporary
	}
	if len(s.socketDir) > maxSocketDir {
		return fmt.Errorf("the name of the socket directory %s is longer than %d bytes", s.socketDir, maxSocketDir)
	}
	if err := os.MkdirAll(s.socketDir, 0o700); err != nil {
		return fmt.Errorf("make socket directory: %w", err)
	}
	if entries, err := os.ReadDir(s.socketDir); err != nil || len(entries) > 0 && !s.acct.owns(s.socketDir) {
		return errors.Join(err, fmt.Errorf("socket directory %s holds other things: choose another one", s.socketDir))
	}
	if err := s.acct.own(s.socketDir); err != nil {
		return fmt.Errorf("give socket directory to account %s: %w", s.acct.name, err)
	}
	return nil
}

// maxSocketDir leaves room for "/.s.PGSQL.5432.lock" in the 103 bytes that the smallest system (macOS) allows.
const maxSocketDir = 90

// makeTemporary prefers the system's folder for temporary files, but not where the account cannot enter it or its
// name is too long for a socket.
func (s *Server) makeTemporary() (string, error) {
	var firstErr error
	for _, parent := range []string{os.TempDir(), "/tmp"} {
		dir, err := os.MkdirTemp(parent, "signpost-pg-")
		if err == nil {
			if err = s.acct.enters(dir); err == nil && len(dir) > maxSocketDir {
				err = fmt.Errorf("temporary directory %s: name too long for a socket", dir)
			}
			if err == nil {
				return dir, nil
			}
			_ = os.Remove(dir)
		}
		if firstErr == nil {
			firstErr = err
		}
	}
	return "", firstErr
}

// initialise runs initdb where there is no data yet. The data directory appears under its name only when it is
// complete, so that a crash never leaves half of one.
func (s *Server) initialise(ctx context.Context, c cluster, lock *os.File) error {
	if c.major != 0 {
		return nil
	}
	var err error
	// The C library of some systems has no C.UTF-8; plain C sorts and folds the same ASCII.
	for _, locale := range []string{"C.UTF-8", "C"} {
		if err = os.RemoveAll(c.making()); err != nil {
			return fmt.Errorf("remove an unfinished data directory: %w", err)
		}
		if err = s.initdb(ctx, c, locale, lock); err == nil || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		return err
	}
	if err := os.Rename(c.making(), c.data()); err != nil {
		return fmt.Errorf("complete data directory: %w", err)
	}
	s.logs.forget()
	return nil
}

func (s *Server) initdb(ctx context.Context, c cluster, locale string, lock *os.File) error {
	command := []string{
		filepath.Join(s.binaries.Dir, "initdb"), "-D", c.making(), "-U", Superuser, "-A", "trust", "-E", "UTF8",
		"--locale=" + locale,
	}
	if !s.durable {
		command = append(command, "--no-sync")
	}
	process, err := s.run(command, lock)
	if err != nil {
		return err
	}
	select {
	case <-process.Done():
	case <-ctx.Done():
		process.Abandon()
		<-process.Done()
		return fmt.Errorf("initdb: %w", ctx.Err())
	}
	if process.Err() != nil {
		return fmt.Errorf("initdb failed: %s", s.logs.reason())
	}
	return nil
}

func (s *Server) serverCommand(c cluster) []string {
	settings := map[string]string{
		"listen_addresses":        "",
		"unix_socket_directories": `"` + strings.ReplaceAll(s.socketDir, `"`, `""`) + `"`,
		"unix_socket_permissions": "0700",
		"port":                    port,
		"timezone":                "UTC",
		"log_timezone":            "UTC",
		"logging_collector":       "off",
		"log_destination":         "stderr",
	}
	if !s.durable {
		settings["fsync"] = "off"
		settings["full_page_writes"] = "off"
	}
	for name, value := range s.settings {
		settings[name] = value
	}
	command := []string{filepath.Join(s.binaries.Dir, "postgres"), "-D", c.data()}
	names := make([]string, 0, len(settings))
	for name := range settings {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		command = append(command, "-c", name+"="+settings[name])
	}
	return command
}

func (s *Server) run(command []string, lock *os.File) (*child.Process, error) {
	return child.Start(child.Config{
		Command:      command,
		Env:          environment(os.Environ()),
		Credential:   s.acct.credential(),
		Keep:         []*os.File{lock},
		Output:       s.logs.write,
		OrphanSignal: child.Quit,
		OrphanDir:    s.temporary,
	})
}

// environment drops what would reach into the server: PGDATA, PGPORT, PGOPTIONS and the like, and the language of
// its messages.
func environment(own []string) []string {
	var env []string
	for _, pair := range own {
		if !strings.HasPrefix(pair, "PG") && !strings.HasPrefix(pair, "LC_") && !strings.HasPrefix(pair, "LANG") {
			env = append(env, pair)
		}
	}
	return append(env, "LC_ALL=C")
}

// await asks until the server answers, has ended, or ctx is done. A server that recovers from a crash may take a
// while: how long is for the caller to say.
func (s *Server) await(ctx context.Context) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := pgx.Connect(ctx, s.URL("postgres"))
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-tick.C:
		case <-s.process.Done():
			return fmt.Errorf("postgres ended at once: %s", s.logs.reason())
		case <-ctx.Done():
			return fmt.Errorf("postgres did not answer in time: %w", errors.Join(ctx.Err(), err))
		}
	}
}

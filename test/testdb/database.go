package testdb

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// host makes databases on one server.
type host struct {
	server *Shared
	// keep leaves databases to the end of the server.
	keep bool

	mu        sync.Mutex
	templates map[string]func() error // by name; makes the template at the first call
}

func newHost(server *Shared) *host {
	return &host{server: server, templates: map[string]func() error{}}
}

// databasePatience bounds making and dropping one database.
const databasePatience = time.Minute

const (
	createEmpty = `CREATE DATABASE %s TEMPLATE template0 ENCODING 'UTF8'`
	createClone = `CREATE DATABASE %s TEMPLATE %s`
	// Connections that a test left open are closed by the server.
	dropDatabase = `DROP DATABASE IF EXISTS %s WITH (FORCE)`
)

func (h *host) newDatabase(t testing.TB, opts ...Option) string {
	t.Helper()
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	name := databaseName(t)
	statement := fmt.Sprintf(createEmpty, quoted(name))
	if o.migrate != nil {
		template, err := h.template(o)
		if err != nil {
			t.Fatalf("make template database: %v", err)
		}
		statement = fmt.Sprintf(createClone, quoted(name), quoted(template))
	}
	if err := h.admin(func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, statement)
		return err
	}); err != nil {
		t.Fatalf("make database for test: %v", err)
	}
	if h.keep {
		return h.url(name)
	}
	t.Cleanup(func() {
		err := h.admin(func(ctx context.Context, conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, fmt.Sprintf(dropDatabase, quoted(name)))
			return err
		})
		if err != nil {
			t.Logf("drop database of test: %v", err)
		}
	})
	return h.url(name)
}

// template returns the name of a migrated database, made once per server and set of migrations.
func (h *host) template(o options) (string, error) {
	sum, err := digest(o.files)
	if err != nil {
		return "", fmt.Errorf("read migrations: %w", err)
	}
	name := "signpost_template_" + sum
	h.mu.Lock()
	ready, known := h.templates[name]
	if !known {
		ready = sync.OnceValue(func() error { return h.makeTemplate(name, o) })
		h.templates[name] = ready
	}
	h.mu.Unlock()
	return name, ready()
}

const (
	// Test binaries that share a server agree on who makes the template. The lock ends with the connection.
	lockTemplates = `SELECT pg_advisory_lock(hashtext('signpost test templates'))`
	hasDatabase   = `SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)`
	closeToOthers = `ALTER DATABASE %s WITH ALLOW_CONNECTIONS false`
	// The last statement, so that the name stands for a complete template.
	nameTemplate = `ALTER DATABASE %s RENAME TO %s`
	// The migration's own connections may be about to close.
	endOthers = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1`
)

func (h *host) makeTemplate(name string, o options) error {
	return h.admin(func(ctx context.Context, conn *pgx.Conn) error {
		if _, err := conn.Exec(ctx, lockTemplates); err != nil {
			return err
		}
		var exists bool
		if err := conn.QueryRow(ctx, hasDatabase, name).Scan(&exists); err != nil || exists {
			return err
		}
		draft := "signpost_draft_" + strings.ToLower(rand.Text())
		if _, err := conn.Exec(ctx, fmt.Sprintf(createEmpty, quoted(draft))); err != nil {
			return err
		}
		if err := o.migrate(ctx, h.url(draft)); err != nil {
			_, dropErr := conn.Exec(ctx, fmt.Sprintf(dropDatabase, quoted(draft)))
			return errors.Join(fmt.Errorf("migrate: %w", err), dropErr)
		}
		if _, err := conn.Exec(ctx, endOthers, draft); err != nil {
			return err
		}
		if _, err := conn.Exec(ctx, fmt.Sprintf(closeToOthers, quoted(draft))); err != nil {
			return err
		}
		_, err := conn.Exec(ctx, fmt.Sprintf(nameTemplate, quoted(draft), quoted(name)))
		return err
	})
}

// admin runs f with a connection to the maintenance database.
func (h *host) admin(f func(ctx context.Context, conn *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), databasePatience)
	defer cancel()
	conn, err := pgx.Connect(ctx, h.server.URL)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	return f(ctx, conn)
}

// url is the server's URL with another database in it.
func (h *host) url(database string) string {
	u, err := url.Parse(h.server.URL)
	if err != nil {
		panic(err) // Serve has parsed it
	}
	u.Path = "/" + database
	return u.String()
}

// databaseName tells people which test a database belongs to.
func databaseName(t testing.TB) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '_'
	}, t.Name())
	const longest = 63 - len("_") - 26
	return name[:min(len(name), longest)] + "_" + strings.ToLower(rand.Text())
}

func quoted(name string) string { return pgx.Identifier{name}.Sanitize() }

// digest is the same for the same files with the same content.
func digest(files fs.FS) (string, error) {
	hash := sha256.New()
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(files, name)
		fmt.Fprintf(hash, "%q %d\n%s", name, len(content), content)
		return err
	})
	return hex.EncodeToString(hash.Sum(nil))[:16], err
}

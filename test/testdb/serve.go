package testdb

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"signpost/db/localpg"
	"signpost/test/container"
)

// EnvURL names a server to use instead of one started here.
const EnvURL = "SIGNPOST_TEST_POSTGRES"

// maxConnections of a server started here. Tests run in parallel, each with several replicas.
const maxConnections = "300"

// Shared is a server that many tests use.
type Shared struct {
	// URL is the maintenance database, by a role that may create others.
	URL string
	// Where says in a few words what was found, for people.
	Where string

	stop func() error
}

// Stop ends the server, unless it was running before.
func (s *Shared) Stop() error { return s.stop() }

// Serve finds a Postgres or starts one. Its error is one line that says what to do.
func Serve(ctx context.Context) (*Shared, error) {
	if named := os.Getenv(EnvURL); named != "" {
		if err := usable(ctx, named); err != nil {
			return nil, fmt.Errorf("%s: %s", EnvURL, oneLine(err))
		}
		return &Shared{URL: named, Where: "the server of " + EnvURL, stop: func() error { return nil }}, nil
	}
	_, notInstalled := localpg.Find()
	server, dockerErr := serveContainer(ctx, pullPatience(notInstalled == nil))
	if dockerErr == nil {
		return server, nil
	}
	server, installedErr := serveInstalled(ctx)
	if installedErr == nil {
		return server, nil
	}
	return nil, fmt.Errorf("tests need Postgres: install it, start Docker, or set %s to a server's URL (%s; %s)",
		EnvURL, oneLine(dockerErr), oneLine(installedErr))
}

// oneLine joins the lines of an error's text.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// pullPatience is how long pulling an image may take: short where there is another way.
func pullPatience(anotherWay bool) time.Duration {
	if anotherWay {
		return 20 * time.Second
	}
	return 3 * time.Minute
}

func serveContainer(ctx context.Context, patience time.Duration) (*Shared, error) {
	password := rand.Text()
	started, err := container.Start(ctx, postgresIn(patience, map[string]string{
		"fsync": "off", "full_page_writes": "off", "max_connections": maxConnections,
	}, password))
	if err != nil {
		return nil, err
	}
	return &Shared{URL: postgresURL(started.Addr, password), Where: "Docker", stop: started.Stop}, nil
}

var postgresImage = container.Image{
	EnvKey: "SIGNPOST_TEST_POSTGRES_IMAGE", Local: "signpost-test/postgres", Default: "postgres:17-alpine",
}

// postgresIn is a server in Docker, by any image that takes the environment of the official one.
func postgresIn(patience time.Duration, settings map[string]string, password string) container.Spec {
	args := []string{"postgres"}
	for name, value := range settings {
		args = append(args, "-c", name+"="+value)
	}
	return container.Spec{
		Image:        postgresImage,
		Env:          map[string]string{"POSTGRES_PASSWORD": password},
		Args:         args,
		Port:         "5432/tcp",
		PullPatience: patience,
		Ready:        func(ctx context.Context, addr string) error { return usable(ctx, postgresURL(addr, password)) },
	}
}

func serveInstalled(ctx context.Context) (*Shared, error) {
	server, err := localpg.Start(ctx, localpg.Config{Settings: map[string]string{"max_connections": maxConnections}})
	if err != nil {
		return nil, err
	}
	return &Shared{
		URL:   server.URL("postgres"),
		Where: fmt.Sprintf("installed Postgres %d", server.Major()),
		stop:  func() error { return server.Stop(context.Background()) },
	}, nil
}

const mayCreateDatabases = `SELECT rolcreatedb OR rolsuper FROM pg_roles WHERE rolname = current_user`

// usable checks that a server answers and that its role may create databases.
func usable(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if u, err := url.Parse(address); err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return errors.New("not a URL of the form postgres://user:password@host:port/database")
	}
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	var may bool
	if err := conn.QueryRow(ctx, mayCreateDatabases).Scan(&may); err != nil {
		return err
	}
	if !may {
		return errors.New("its role may not create databases")
	}
	return nil
}

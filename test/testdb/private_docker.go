package testdb

import (
	"context"
	"crypto/rand"
	"errors"
	"net/url"
	"strings"
	"testing"

	"signpost/db/localpg"
	"signpost/test/container"
)

// docker is a private server in Docker. Each start makes a new container on the same volume; the engine gives it
// another port each time, which a forwarder hides.
type docker struct {
	spec    container.Spec
	running *container.Container // nil before the first start
	forward *container.Forwarder
}

func newDocker(t testing.TB, cfg localpg.Config) *docker {
	t.Helper()
	forward, err := container.NewForwarder()
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Settings == nil {
		cfg.Settings = map[string]string{}
	}
	if !cfg.Durable {
		cfg.Settings["fsync"], cfg.Settings["full_page_writes"] = "off", "off"
	}
	spec := postgresIn(pullPatience(false), cfg.Settings, rand.Text())
	spec.Volume, spec.VolumePath = "signpost-test-"+strings.ToLower(rand.Text()), "/var/lib/postgresql"
	spec.Env["PGDATA"] = spec.VolumePath + "/signpost"
	return &docker{spec: spec, forward: forward}
}

func (d *docker) start(ctx context.Context) error {
	started, err := container.Start(ctx, d.spec)
	if err != nil {
		return err
	}
	d.running = started
	d.forward.To(started.Addr)
	return nil
}

func (d *docker) url() string { return postgresURL(d.forward.Addr(), d.spec.Env["POSTGRES_PASSWORD"]) }

func (d *docker) stop(ctx context.Context) error {
	d.forward.To("")
	return d.running.Shutdown(ctx)
}

func (d *docker) kill(ctx context.Context) error {
	d.forward.To("")
	return d.running.Kill(ctx)
}

func (d *docker) pause(ctx context.Context) error  { return d.running.Pause(ctx) }
func (d *docker) resume(ctx context.Context) error { return d.running.Resume(ctx) }

func (d *docker) remove(ctx context.Context) error {
	err := d.forward.Close()
	if d.running == nil {
		return err
	}
	return errors.Join(err, d.running.Kill(ctx), d.running.Stop(), container.RemoveVolume(ctx, d.spec.Volume))
}

// postgresURL is the maintenance database of a server in Docker.
func postgresURL(addr, password string) string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword("postgres", password), Host: addr, Path: "/postgres", RawQuery: "sslmode=disable"}
	return u.String()
}

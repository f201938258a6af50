// Package testredis gives each test a key prefix of its own on a real Redis.
//
// Purpose: what is tested with Redis is tested on a real one. It is sought in this order:
//
//  1. the server that SIGNPOST_TEST_REDIS names (a URL); `make test` starts one for all packages and sets it;
//  2. Docker: the image that SIGNPOST_TEST_REDIS_IMAGE names, else a local signpost-test/redis, else
//     redis:7-alpine;
//  3. redis-server (or valkey-server) installed on this machine.
//
// None of them is a failure with a one-line hint, never a skip.
//
// Invariants: a test binary starts at most one shared server, which ends with it, however it ends. Keys below a
// test's prefix are removed at its end.
//
// Called by tests, and by test/tools/withservers.
package testredis

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"signpost/test/container"
)

// EnvURL names a server to use instead of one started here.
const EnvURL = "SIGNPOST_TEST_REDIS"

// shared is the one server of this test binary, started by the first test that needs it.
var shared = sync.OnceValues(func() (*Shared, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	return Serve(ctx)
})

// Redis is what a test gets.
type Redis struct {
	// URL is the server, in the form that redis.ParseURL takes: redis://host:port or unix:///path.
	URL string
	// Prefix starts every key of the test. It holds no character that a pattern would take for its own.
	Prefix string
}

// New returns the shared server and a prefix. Keys below it are removed at the end of the test.
func New(t testing.TB) Redis {
	t.Helper()
	server, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	r := Redis{URL: server.URL, Prefix: "test:" + strings.ToLower(rand.Text()) + ":"}
	t.Cleanup(func() {
		if err := r.clear(); err != nil {
			t.Logf("remove the test's keys: %v", err)
		}
	})
	return r
}

func (r Redis) clear() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	client, err := open(r.URL)
	if err != nil {
		return err
	}
	defer client.Close()
	keys := client.Scan(ctx, 0, r.Prefix+"*", 1000).Iterator()
	for keys.Next(ctx) {
		if err := client.Del(ctx, keys.Val()).Err(); err != nil {
			return err
		}
	}
	return keys.Err()
}

// Shared is a server that many tests use.
type Shared struct {
	URL string
	// Where says in a few words what was found, for people.
	Where string

	stop func() error
}

// Stop ends the server, unless it was running before.
func (s *Shared) Stop() error { return s.stop() }

// Serve finds a Redis or starts one. Its error is one line that says what to do.
func Serve(ctx context.Context) (*Shared, error) {
	if named := os.Getenv(EnvURL); named != "" {
		if err := answers(ctx, named); err != nil {
			return nil, fmt.Errorf("%s: %s", EnvURL, oneLine(err))
		}
		return &Shared{URL: named, Where: "the server of " + EnvURL, stop: func() error { return nil }}, nil
	}
	_, notInstalled := find()
	server, dockerErr := serveContainer(ctx, pullPatience(notInstalled == nil))
	if dockerErr == nil {
		return server, nil
	}
	server, installedErr := serveInstalled(ctx)
	if installedErr == nil {
		return server, nil
	}
	return nil, fmt.Errorf("tests need Redis: install it, start Docker, or set %s to a server's URL (%s; %s)",
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
	started, err := container.Start(ctx, redisIn(patience))
	if err != nil {
		return nil, err
	}
	return &Shared{URL: containerURL(started.Addr), Where: "Docker", stop: started.Stop}, nil
}

var redisImage = container.Image{
	EnvKey: "SIGNPOST_TEST_REDIS_IMAGE", Local: "signpost-test/redis", Default: "redis:7-alpine",
}

// redisIn is a server in Docker that keeps everything in memory.
func redisIn(patience time.Duration) container.Spec {
	return container.Spec{
		Image:        redisImage,
		Args:         []string{"redis-server", "--bind", "0.0.0.0", "--protected-mode", "no", "--save", ""},
		Port:         "6379/tcp",
		PullPatience: patience,
		Ready:        func(ctx context.Context, addr string) error { return answers(ctx, containerURL(addr)) },
	}
}

func containerURL(addr string) string { return "redis://" + addr }

func serveInstalled(ctx context.Context) (*Shared, error) {
	dir, err := os.MkdirTemp("", "signpost-redis-")
	if err != nil {
		return nil, err
	}
	server, err := run(ctx, dir)
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	return &Shared{URL: server.url, Where: "installed Redis", stop: func() error {
		server.stop()
		return os.RemoveAll(dir)
	}}, nil
}

func open(url string) (*redis.Client, error) {
	options, err := redis.ParseURL(url)
	if err != nil {
		return nil, err
	}
	options.MaxRetries, options.DialerRetries = -1, 1 // whoever asks asks again
	return redis.NewClient(options), nil
}

// answers asks a server once. It dials by itself first, since the client writes to stderr when it cannot.
func answers(ctx context.Context, url string) error {
	client, err := open(url)
	if err != nil {
		return err
	}
	defer client.Close()
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, client.Options().Network, client.Options().Addr)
	if err != nil {
		return err
	}
	_ = conn.Close()
	return client.Ping(ctx).Err()
}

// Package testdb gives each test a Postgres database of its own.
//
// Purpose: tests run on a real Postgres. It is sought in this order:
//
//  1. the server that SIGNPOST_TEST_POSTGRES names (a URL whose role may create databases); `make test` starts one
//     for all packages and sets it;
//  2. Docker: the image that SIGNPOST_TEST_POSTGRES_IMAGE names, else a local signpost-test/postgres, else
//     postgres:17-alpine;
//  3. the binaries installed on this machine (package localpg).
//
// None of them is a failure with a one-line hint, never a skip.
//
// Invariants:
//   - A test binary starts at most one shared server. It ends with the binary, however that ends; Main ends it
//     in good order.
//   - Each test has its own database, cloned from a migrated template and dropped at its end. NOTIFY and advisory
//     locks are per database, so that tests cannot hear each other.
//   - A template is named after the migrations it was made from, and gets its name only when it is complete:
//     several test binaries share one server, and one template.
//
// Called by tests, and by test/tools/withservers.
package testdb

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"testing"
	"time"
)

// shared is the one server of this test binary, started by the first test that needs it.
var shared = sync.OnceValues(func() (*host, error) {
	sharedStarted = true
	ctx, cancel := context.WithTimeout(context.Background(), startPatience)
	defer cancel()
	server, err := Serve(ctx)
	if err != nil {
		return nil, err
	}
	return newHost(server), nil
})

// sharedStarted is written inside shared's once, and read by Main when all tests have ended.
var sharedStarted bool

// startPatience bounds the search for a server, with the pulling of an image in it.
const startPatience = 5 * time.Minute

// Main runs the tests of a package and then stops the shared server. Use it as
//
//	func TestMain(m *testing.M) { testdb.Main(m) }
//
// A package without it works as well: the server then ends a moment after the test binary.
func Main(m *testing.M) {
	code := m.Run()
	if sharedStarted {
		if h, err := shared(); err == nil {
			if err := h.server.Stop(); err != nil {
				fmt.Fprintln(os.Stderr, "stop postgres for tests:", err)
			}
		}
	}
	os.Exit(code)
}

// Option says how a database is made.
type Option func(*options)

type options struct {
	migrate func(ctx context.Context, url string) error
	files   fs.FS
}

// Migrated makes databases with a schema: migrate is run once on a template, which is then cloned. files are the
// migrations that migrate applies; a template is made anew when one of them changes.
func Migrated(migrate func(ctx context.Context, url string) error, files fs.FS) Option {
	return func(o *options) { o.migrate, o.files = migrate, files }
}

// New makes a database on the shared server and returns its URL. Without Migrated it is empty. The database is
// dropped at the end of the test, open connections or not.
func New(t testing.TB, opts ...Option) string {
	t.Helper()
	h, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return h.newDatabase(t, opts...)
}

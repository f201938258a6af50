package e2e_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"signpost/test/testdb"
)

// TestMain starts the shared Postgres before it looks which goroutines there
// are, so that all that are left at the end are leaks of gateways and tests.
func TestMain(m *testing.M) {
	shared, err := serve()
	if err == nil {
		err = os.Setenv(testdb.EnvURL, shared.URL)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.IgnoreCurrent(), goleak.Cleanup(func(code int) {
		if err := shared.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stop postgres for tests:", err)
		}
		os.Exit(code)
	}))
}

func serve() (*testdb.Shared, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	return testdb.Serve(ctx)
}

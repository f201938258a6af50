package testdb

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"signpost/db/localpg"
	"signpost/test/container"
)

// onBoth runs a test on a private server of each kind that this machine has.
func onBoth(t *testing.T, test func(t *testing.T, s *Private)) {
	_, notInstalled := localpg.Find()
	noDocker := container.Usable(t.Context(), postgresImage, pullPatience(notInstalled == nil))
	if notInstalled != nil && noDocker != nil {
		t.Fatalf("%v; %v", notInstalled, noDocker)
	}
	if notInstalled == nil {
		t.Run("installed", func(t *testing.T) { t.Parallel(); test(t, newPrivate(t, newInstalled(t, localpg.Config{}))) })
	}
	if noDocker == nil {
		t.Run("Docker", func(t *testing.T) { t.Parallel(); test(t, newPrivate(t, newDocker(t, localpg.Config{}))) })
	}
}

func dial(t *testing.T, url string) (*pgx.Conn, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err == nil {
		t.Cleanup(func() { _ = conn.Close(context.Background()) })
	}
	return conn, err
}

func TestAPrivateServerCanBeStoppedAndKilled(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, s *Private) {
		url := s.New()
		conn, err := dial(t, url)
		require.NoError(t, err)
		_, err = conn.Exec(t.Context(), `CREATE TABLE things AS SELECT 'kept' AS it`)
		require.NoError(t, err)
		for _, end := range []func(){s.Stop, s.Kill, func() { s.Pause(); s.Kill() }} {
			open, err := dial(t, url)
			require.NoError(t, err)
			end()
			require.Error(t, open.Ping(t.Context()))
			_, err = dial(t, url)
			require.Error(t, err)
			s.Start()
			conn, err := dial(t, url)
			require.NoError(t, err)
			var it string
			require.NoError(t, conn.QueryRow(t.Context(), `SELECT it FROM things`).Scan(&it))
			require.Equal(t, "kept", it)
		}
	})
}

func TestAPausedServerAnswersNothingUntilItIsResumed(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, s *Private) {
		conn, err := dial(t, s.New())
		require.NoError(t, err)
		s.Pause()
		answered := make(chan error, 1)
		go func() {
			_, err := conn.Exec(context.Background(), `SELECT 1`)
			answered <- err
		}()
		select {
		case err := <-answered:
			t.Fatalf("a stopped session answered: %v", err)
		case <-time.After(100 * time.Millisecond):
		}
		s.Resume()
		require.NoError(t, <-answered)
	})
}

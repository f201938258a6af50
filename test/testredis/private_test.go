package testredis

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"signpost/test/container"
)

// onBoth runs a test on a private server of each kind that this machine has.
func onBoth(t *testing.T, test func(t *testing.T, s *Private)) {
	_, notInstalled := find()
	noDocker := container.Usable(t.Context(), redisImage, pullPatience(notInstalled == nil))
	if notInstalled != nil && noDocker != nil {
		t.Fatalf("%v; %v", notInstalled, noDocker)
	}
	if notInstalled == nil {
		t.Run("installed", func(t *testing.T) { t.Parallel(); test(t, newPrivate(t, newInstalled(t))) })
	}
	if noDocker == nil {
		t.Run("Docker", func(t *testing.T) { t.Parallel(); test(t, newPrivate(t, newDocker(t))) })
	}
}

func ask(t *testing.T, url string, patience time.Duration) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return answers(ctx, url)
}

func TestAPrivateServerCanBeKilled(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, s *Private) {
		url := s.URL()
		for _, end := range []func(){s.Kill, func() { s.Pause(); s.Kill() }} {
			require.NoError(t, ask(t, url, 10*time.Second))
			end()
			require.Error(t, ask(t, url, 10*time.Second))
			s.Start()
			require.Equal(t, url, s.URL())
		}
		require.NoError(t, ask(t, url, 10*time.Second))
	})
}

func TestAPausedServerAnswersNothingUntilItIsResumed(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, s *Private) {
		options, err := redis.ParseURL(s.URL())
		require.NoError(t, err)
		options.ContextTimeoutEnabled, options.MaxRetries = true, -1
		client := redis.NewClient(options)
		defer client.Close()
		require.NoError(t, client.Ping(t.Context()).Err())
		s.Pause()
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		require.ErrorIs(t, client.Ping(ctx).Err(), os.ErrDeadlineExceeded)
		s.Resume()
		require.NoError(t, client.Ping(t.Context()).Err())
	})
}

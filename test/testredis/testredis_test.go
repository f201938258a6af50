package testredis_test

import (
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"signpost/test/testredis"
)

func connect(t testing.TB, url string) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL(url)
	require.NoError(t, err)
	options.MaxRetries, options.DialerRetries = -1, 1
	options.ContextTimeoutEnabled = true
	client := redis.NewClient(options)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func TestEachTestHasItsOwnKeysUntilItsEnd(t *testing.T) {
	t.Parallel()
	other := testredis.New(t)
	client := connect(t, other.URL)
	require.NoError(t, client.Set(t.Context(), other.Prefix+"a", "kept", 0).Err())
	var gone testredis.Redis
	t.Run("its test", func(t *testing.T) {
		gone = testredis.New(t)
		require.NotEqual(t, other.Prefix, gone.Prefix)
		require.NoError(t, client.Set(t.Context(), gone.Prefix+"a", "removed", 0).Err())
		require.NoError(t, client.Set(t.Context(), gone.Prefix+"b", "removed", 0).Err())
	})
	left, err := client.Keys(t.Context(), gone.Prefix+"*").Result()
	require.NoError(t, err)
	require.Empty(t, left)
	require.Equal(t, "kept", client.Get(t.Context(), other.Prefix+"a").Val())
}

func TestServersAreSoughtInOrder(t *testing.T) {
	private := testredis.Server(t)
	t.Setenv(testredis.EnvURL, private.URL())
	found, err := testredis.Serve(t.Context())
	require.NoError(t, err)
	require.Equal(t, private.URL(), found.URL)
	require.NoError(t, found.Stop())
	require.NoError(t, connect(t, private.URL()).Ping(t.Context()).Err(), "a server that was not started here is not stopped here")

	t.Setenv(testredis.EnvURL, "redis://127.0.0.1:1")
	_, err = testredis.Serve(t.Context())
	require.ErrorContains(t, err, testredis.EnvURL+": dial tcp")

	t.Setenv(testredis.EnvURL, "")
	t.Setenv("SIGNPOST_TEST_REDIS_IMAGE", "localhost:1/no/such:image")
	found, err = testredis.Serve(t.Context())
	if err != nil {
		require.ErrorContains(t, err, "tests need Redis: install it, start Docker, or set "+testredis.EnvURL)
		require.NotContains(t, err.Error(), "\n")
		return
	}
	require.Equal(t, "installed Redis", found.Where)
	require.NoError(t, found.Stop())
}

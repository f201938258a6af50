package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHealthTellsWhetherAGatewayIsReady(t *testing.T) {
	for _, tc := range []struct {
		name           string
		status         int
		body           string
		exit           int
		stdout, stderr string
	}{
		{"ready", 200, "ready\n", exitOK, "ready\n", ""},
		{"ready without words", 200, "", exitOK, "", ""},
		{"not ready", 503, "catalog: not loaded\ndns: not bound\n", exitRun, "catalog: not loaded\ndns: not bound\n", "503 Service Unavailable"},
		{"another server", 404, "404 page not found", exitRun, "404 page not found\n", "404 Not Found"},
		{"a redirect", 302, "", exitRun, "", "302 Found"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodGet || r.URL.Path != "/ready" {
					t.Errorf("asked %s %s", r.Method, r.URL)
				}
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(tc.status)
				_, _ = w.Write([]byte(tc.body))
			}))
			defer server.Close()
			address := strings.TrimPrefix(server.URL, "http://")
			exit, stdout, stderr := signpost(t, "health", "--http", address)
			require.Equal(t, tc.exit, exit, stderr)
			require.Equal(t, tc.stdout, stdout)
			if tc.stderr != "" {
				require.Equal(t, "signpost: not ready: http://"+address+"/ready answered "+tc.stderr+"\n", stderr)
			}
		})
	}
}

func TestHealthFindsTheGatewayOfTheEnvironment(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("here")) }))
	defer server.Close()
	_, port, _ := strings.Cut(strings.TrimPrefix(server.URL, "http://"), ":")
	t.Setenv("SIGNPOST_HTTP", "0.0.0.0:"+port)
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	exit, stdout, stderr := signpost(t, "health")
	require.Equal(t, exitOK, exit, stderr)
	require.Equal(t, "here\n", stdout)
}

func TestHealthGivesUpOnAGatewayThatIsSilent(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer server.Close()
	defer close(release)
	exit, _, stderr := signpost(t, "health", "--http", strings.TrimPrefix(server.URL, "http://"), "--timeout", "50ms")
	require.Equal(t, exitRun, exit)
	require.Contains(t, stderr, "deadline exceeded")
}

func TestAListeningAddressBecomesOneToDial(t *testing.T) {
	for listen, dial := range map[string]string{
		":8500": "127.0.0.1:8500", "0.0.0.0:1": "127.0.0.1:1", "[::]:1": "[::1]:1",
		"10.0.0.1:1": "10.0.0.1:1", "localhost:1": "localhost:1",
	} {
		require.Equal(t, dial, reachable(listen))
	}
}

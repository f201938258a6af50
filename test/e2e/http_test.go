package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// answer is what a gateway said over HTTP.
type answer struct {
	status int
	header http.Header
	body   string
}

// index is the answer's X-Service-Index; 0 if there is none.
func (a answer) index() uint64 {
	n, err := strconv.ParseUint(a.header.Get("X-Service-Index"), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func (a answer) into(t testing.TB, v any) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(a.body), v), a.body)
}

// try makes one request. It may be called from any goroutine.
func (g *gate) try(ctx context.Context, method, path, body string) (answer, error) {
	request, err := http.NewRequestWithContext(ctx, method, g.base+path, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	response, err := g.client.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	return answer{response.StatusCode, response.Header, string(content)}, err
}

// ask makes one request.
func (g *gate) ask(t testing.TB, method, path, body string) answer {
	t.Helper()
	a, err := g.try(t.Context(), method, path, body)
	require.NoError(t, err)
	return a
}

// get reads what must be there.
func (g *gate) get(t testing.TB, path string) answer {
	t.Helper()
	a := g.ask(t, http.MethodGet, path, "")
	require.Equal(t, http.StatusOK, a.status, "GET %s: %s", path, a.body)
	return a
}

// write makes a change that must succeed.
func (g *gate) write(t testing.TB, method, path, body string) answer {
	t.Helper()
	a := g.ask(t, method, path, body)
	require.Equal(t, http.StatusOK, a.status, "%s %s %s: %s", method, path, body, a.body)
	return a
}

func (g *gate) register(t testing.TB, body string) {
	t.Helper()
	g.write(t, http.MethodPut, registerPath, body)
}

func (g *gate) deregister(t testing.TB, body string) {
	t.Helper()
	g.write(t, http.MethodPut, deregisterPath, body)
}

// createQuery gives the ID of a new query.
func (g *gate) createQuery(t testing.TB, body string) string {
	t.Helper()
	var made struct{ ID string }
	g.write(t, http.MethodPost, "/v1/query", body).into(t, &made)
	require.NotEmpty(t, made.ID)
	return made.ID
}

const (
	registerPath   = "/v1/catalog/register"
	deregisterPath = "/v1/catalog/deregister"
)

// instance is a registration of a service with a check of its own.
func instance(node, service string, port int, status string) string {
	return fmt.Sprintf(`{"Node":%q,"Address":"10.0.0.1","Service":{"Service":%q,"Port":%d},
		"Check":{"CheckID":"service:%s","Name":"alive","ServiceID":%q,"Status":%q}}`, node, service, port, service, service, status)
}

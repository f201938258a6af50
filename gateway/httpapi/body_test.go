package httpapi

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"signpost/resolver/catalog"
)

// listen starts the real server for the rig and gives its address.
func (r *rig) listen() string {
	r.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(r, err)
	server := Server(r.handler, slog.New(slog.DiscardHandler))
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	r.Cleanup(func() {
		require.NoError(r, server.Close())
		require.ErrorIs(r, <-done, http.ErrServerClosed)
	})
	return l.Addr().String()
}

// talk sends bytes to the server and reads one response.
func (r *rig) talk(address, text string) *http.Response {
	r.Helper()
	conn, err := net.Dial("tcp", address)
	require.NoError(r, err)
	r.Cleanup(func() { _ = conn.Close() })
	require.NoError(r, conn.SetDeadline(time.Now().Add(10*time.Second)))
	_, err = io.WriteString(conn, text)
	require.NoError(r, err)
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(r, err)
	return response
}

func TestBodiesAreReadNoFurtherThanTheLimit(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	address := r.listen()

	announced := r.talk(address, "POST /v1/query HTTP/1.1\r\nHost: a\r\nContent-Length: 9999999999\r\n\r\n{")
	require.Equal(t, http.StatusRequestEntityTooLarge, announced.StatusCode, "refused without reading")

	body, sent := io.Pipe()
	go func() {
		_, err := io.Copy(sent, io.LimitReader(forever{}, 64<<20))
		_ = sent.CloseWithError(err)
	}()
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://"+address+"/v1/query", body)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request) // in chunks, of unknown length
	if err == nil {                                 // the server may close while much is still being sent
		require.Equal(t, http.StatusRequestEntityTooLarge, response.StatusCode)
		require.NoError(t, response.Body.Close())
	}
	require.Empty(t, r.state.writes)
}

type forever struct{}

func (forever) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = ' '
	}
	return len(b), nil
}

func TestABodyInChunksIsABody(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	response := r.talk(r.listen(), "PUT /v1/catalog/register HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"+
		"13\r\n{\"Node\": \"n1\", \"Add\r\ne\r\nress\": \"10.1\"}\r\n0\r\n\r\n")
	require.Equal(t, 200, response.StatusCode)
	require.Len(t, r.state.writes, 1)
}

func TestATruncatedBodyIsNotExecuted(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	address := r.listen()
	conn, err := net.Dial("tcp", address)
	require.NoError(t, err)
	const whole = `{"Node": "n1", "Address": "10.0.0.1"}`
	_, err = fmt.Fprintf(conn, "PUT /v1/catalog/register HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%s", len(whole)+10, whole)
	require.NoError(t, err)
	require.NoError(t, conn.(*net.TCPConn).CloseWrite())
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err == nil {
		require.Equal(t, http.StatusBadRequest, response.StatusCode)
	}
	require.NoError(t, conn.Close())
	require.Equal(t, 200, r.talk(address, "GET /health HTTP/1.1\r\nHost: a\r\n\r\n").StatusCode)
	require.Empty(t, r.state.writes)
}

func TestLargeHeadersAreRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	conn, err := net.Dial("tcp", r.listen())
	require.NoError(t, err)
	defer conn.Close()
	_, _ = io.WriteString(conn, "GET /v1/query HTTP/1.1\r\nHost: a\r\nX: "+strings.Repeat("x", 2<<20))
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err == nil { // else the connection was closed while writing
		require.Equal(t, http.StatusRequestHeaderFieldsTooLarge, response.StatusCode)
	}
}

func TestAServerHasLimitsOfTime(t *testing.T) {
	t.Parallel()
	s := Server(http.NotFoundHandler(), slog.New(slog.DiscardHandler))
	require.Equal(t, 10*time.Second, s.ReadHeaderTimeout)
	require.Positive(t, s.IdleTimeout)
	require.Zero(t, s.ReadTimeout, "it would end blocking reads")
	require.Greater(t, s.WriteTimeout, maxWait+maxWait/16)
	require.Equal(t, 1<<20, s.MaxHeaderBytes)
}

func TestARegistrationIsTakenAsItWasSent(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	r.register(`{
		"Datacenter": "dc1", "ID": "2D906E16-71DF-1875-6449-7F5FBB6D8067", "node": "N1", "ADDRESS": "10.0.0.1", "SkipNodeUpdate": true,
		"TaggedAddresses": {}, "NodeMeta": {"a\\u0000": "b"}, "Locality": {"Region": "r", "Zone": "z"},
		"Service": {"Service": "web", "Tags": [], "Weights": {"Passing": 0, "Warning": 0}, "CreateIndex": 9, "PeerName": "",
			"Proxy": {"Mode": "direct", "Upstreams": [{"DestinationName": "db"}]}, "Connect": {"Native": true}},
		"Check": {"Name": "own", "ServiceID": "web", "ServiceName": "ignored", "ServiceTags": ["ignored"], "Definition": {"Interval": "1m", "Unknown": {"a": [1]}}},
		"Checks": [{"CheckID": "node", "Status": "passing"}]
	} trailing`)
	require.Equal(t, []catalog.Write{catalog.Registration{
		Node: catalog.Node{
			ID: "2d906e16-71df-1875-6449-7f5fbb6d8067", Name: "N1", Address: "10.0.0.1", TaggedAddresses: map[string]string{},
			Meta: map[string]string{`a\u0000`: "b"}, Locality: &catalog.Locality{Region: "r", Zone: "z"},
		},
		SkipNodeUpdate: true,
		Service: &catalog.Service{
			Node: "N1", ID: "web", Name: "web", Tags: []string{}, Weights: catalog.Weights{}, Connect: catalog.Connect{Native: true},
			Proxy: &catalog.Proxy{Mode: "direct", Upstreams: []catalog.Upstream{{DestinationName: "db"}}},
		},
		Checks: []catalog.Check{
			{Node: "N1", ID: "node", Status: "passing"},
			{Node: "N1", ID: "own", Name: "own", Status: "critical", ServiceID: "web", Definition: &catalog.CheckDefinition{Interval: catalog.Duration(time.Minute)}},
		},
	}}, r.state.writes)
}

func TestADeregistrationIsTakenAsItWasSent(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	got := r.send(http.MethodPut, deregisterPath+"?dc=elsewhere-is-ignored", `{"Node": "n", "ServiceID": "s", "CheckID": "c"}`)
	require.Equal(t, 200, got.status, got.body)
	require.Equal(t, []catalog.Write{catalog.Deregistration{Node: "n", ServiceID: "s", CheckID: "c"}}, r.state.writes)
}

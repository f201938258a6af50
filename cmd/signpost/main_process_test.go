package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"

	"signpost/test/testdb"
)

// The tests in the files *_process_test.go run the built binary, as a shell
// would. Nothing of it may be left when it has ended.

func TestMain(m *testing.M) {
	code := m.Run()
	if dir := filepath.Dir(built.path); built.path != "" {
		_ = os.RemoveAll(dir)
	}
	if shared != nil {
		if err := shared.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stop postgres for tests:", err)
		}
	}
	os.Exit(code)
}

// built is the binary, made by the first test that runs it.
var built struct {
	once sync.Once
	path string
	err  error
}

func binary(t testing.TB) string {
	t.Helper()
	built.once.Do(func() {
		dir, err := os.MkdirTemp("", "signpost-binary-")
		if err != nil {
			built.err = err
			return
		}
		built.path = filepath.Join(dir, "signpost")
		out, err := exec.Command("go", "build", "-o", built.path, ".").CombinedOutput()
		if err == nil {
			err = os.Chmod(dir, 0o755) // every account may run it
		}
		if err != nil {
			built.err = fmt.Errorf("build the binary: %w: %s", err, out)
		}
	})
	require.NoError(t, built.err)
	return built.path
}

// shared is the Postgres of the tests that need no private one.
var (
	shared     *testdb.Shared
	sharedErr  error
	sharedOnce sync.Once
)

// emptyDatabase gives the URL of a database without a schema.
func emptyDatabase(t testing.TB) string {
	t.Helper()
	sharedOnce.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
		defer cancel()
		if shared, sharedErr = testdb.Serve(ctx); sharedErr == nil {
			sharedErr = os.Setenv(testdb.EnvURL, shared.URL)
		}
	})
	require.NoError(t, sharedErr)
	return testdb.New(t)
}

// process is one run of the binary.
type process struct {
	t      testing.TB
	cmd    *exec.Cmd
	stdout *transcript
	stderr *transcript
	ended  chan struct{}

	http, dns string // once it listens
}

// transcript is what a process has written so far.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *transcript) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(b)
}

func (w *transcript) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// errors are the lines that are meant for people: not those of the log.
func (w *transcript) errors() []string {
	var lines []string
	for line := range strings.Lines(w.String()) {
		if !strings.HasPrefix(line, "time=") {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	return lines
}

// launch starts the binary, with nothing in its environment that the tests
// did not put there. It is ended with the test, if it is still there.
func launch(t testing.TB, args ...string) *process {
	t.Helper()
	return launchAs(t, nil, args...)
}

func launchAs(t testing.TB, account *syscall.Credential, args ...string) *process {
	t.Helper()
	p := &process{t: t, stdout: &transcript{}, stderr: &transcript{}, ended: make(chan struct{})}
	p.cmd = exec.Command(binary(t), args...)
	p.cmd.Dir = "/"
	p.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/"}
	p.cmd.Stdout, p.cmd.Stderr = p.stdout, p.stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: account}
	p.cmd.WaitDelay = 5 * time.Second
	require.NoError(t, p.cmd.Start())
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait() // its state tells how it ended
	}()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("signpost %s\nstdout:\n%s\nstderr:\n%s", strings.Join(args, " "), p.stdout, p.stderr)
		}
		if p.running() {
			_ = p.cmd.Process.Signal(syscall.SIGTERM)
			select {
			case <-p.ended:
			case <-time.After(20 * time.Second):
				_ = p.cmd.Process.Kill()
				<-p.ended
			}
		}
	})
	return p
}

func (p *process) running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// within waits, with a deadline, for something that another process does.
func within(t testing.TB, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(limit)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", limit, what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

var listens = regexp.MustCompile(`msg=starting .*http=(\S+) dns=(\S+)`)

// listening waits until the addresses are bound.
func (p *process) listening() *process {
	p.t.Helper()
	within(p.t, time.Minute, "it listens", func() bool {
		found := listens.FindStringSubmatch(p.stderr.String())
		if found == nil && !p.running() {
			p.t.Fatalf("it ended: %s", p.stderr)
		}
		if found != nil {
			p.http, p.dns = found[1], found[2]
		}
		return found != nil
	})
	return p
}

// ready waits until /ready says so.
func (p *process) ready(limit time.Duration) *process {
	p.t.Helper()
	p.listening()
	within(p.t, limit, "it is ready", func() bool {
		if !p.running() {
			p.t.Fatalf("it ended: %s", p.stderr)
		}
		status, _, _, err := p.try(http.MethodGet, "/ready", "")
		return err == nil && status == http.StatusOK
	})
	return p
}

// end sends a signal and returns the exit status, which must come in time.
func (p *process) end(signal syscall.Signal, limit time.Duration) int {
	p.t.Helper()
	require.NoError(p.t, p.cmd.Process.Signal(signal))
	return p.status(limit)
}

func (p *process) status(limit time.Duration) int {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(limit):
		p.t.Fatalf("it did not end within %s", limit)
	}
	return p.cmd.ProcessState.ExitCode()
}

// client opens a connection for each request, so that none is left.
var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}

// try makes one request. It may be called from any goroutine.
func (p *process) try(method, path, body string) (status int, header http.Header, text string, err error) {
	request, err := http.NewRequest(method, "http://"+p.http+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, "", err
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, nil, "", err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	return response.StatusCode, response.Header, string(content), err
}

// ask makes a request that must succeed, and returns the body.
func (p *process) ask(method, path, body string) string {
	p.t.Helper()
	status, _, text, err := p.try(method, path, body)
	require.NoError(p.t, err)
	require.Equal(p.t, http.StatusOK, status, "%s %s: %s", method, path, text)
	return text
}

func (p *process) register(node, service string, port int) {
	p.t.Helper()
	p.ask(http.MethodPut, "/v1/catalog/register", registrationOf(node, service, port))
}

func registrationOf(node, service string, port int) string {
	return fmt.Sprintf(`{"Node":%q,"Address":"10.0.0.1","Service":{"Service":%q,"Port":%d}}`, node, service, port)
}

// resolve asks a DNS question by udp and gives the answers without their
// names, times and classes.
func (p *process) resolve(name string, qtype uint16) []string {
	p.t.Helper()
	question := new(dns.Msg)
	question.SetQuestion(dns.Fqdn(name), qtype)
	reply, _, err := (&dns.Client{Timeout: 5 * time.Second}).Exchange(question, p.dns)
	require.NoError(p.t, err)
	answers := []string{}
	for _, record := range reply.Answer {
		answers = append(answers, strings.TrimPrefix(record.String(), record.Header().String()))
	}
	return answers
}

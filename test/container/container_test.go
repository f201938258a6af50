package container_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"signpost/test/container"
)

// ownerEnv makes this test binary the owner of a container, for tests about how owners end. Its value is the image.
const ownerEnv = "CONTAINER_TEST_OWNER"

func TestMain(m *testing.M) {
	if image := os.Getenv(ownerEnv); image != "" {
		c, err := container.Start(context.Background(), redisFrom(image))
		if err != nil {
			fmt.Println("error:", strings.ReplaceAll(err.Error(), "\n", " "))
			return
		}
		fmt.Println(c.Addr)
		_, _ = io.Copy(io.Discard, os.Stdin)
		return // the container is left to itself
	}
	os.Exit(m.Run())
}

func redisFrom(image string) container.Spec {
	return container.Spec{
		Image:        container.Image{EnvKey: "CONTAINER_TEST_NO_SUCH_VARIABLE", Local: image, Default: image},
		Port:         "6379/tcp",
		PullPatience: 10 * time.Second,
		Ready:        ping,
	}
}

// ping speaks just enough of Redis's protocol to know that the server, and not Docker's proxy, answers.
func ping(ctx context.Context, addr string) error {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(deadline); err != nil {
			return err
		}
	}
	if _, err := io.WriteString(conn, "PING\r\n"); err != nil {
		return err
	}
	answer, err := bufio.NewReader(conn).ReadString('\n')
	if err == nil && answer != "+PONG\r\n" {
		err = fmt.Errorf("answered %q", answer)
	}
	return err
}

// runOwner starts a container from another process and returns what that told: an address, or "error: …".
func runOwner(t *testing.T, image string, env ...string) (*exec.Cmd, io.Closer, string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), ownerEnv+"="+image), env...)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	told, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	return cmd, stdin, strings.TrimSpace(told)
}

func answers(addr string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return ping(ctx, addr) == nil
}

// The same holds with Docker and without: a server that answers, or an error soon enough to go another way.
func TestAContainerEndsWithItsOwner(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(t *testing.T, owner *exec.Cmd, stdin io.Closer){
		"killed": func(t *testing.T, owner *exec.Cmd, _ io.Closer) { require.NoError(t, owner.Process.Kill()) },
		"exited": func(t *testing.T, _ *exec.Cmd, stdin io.Closer) { require.NoError(t, stdin.Close()) },
		"interrupted": func(t *testing.T, owner *exec.Cmd, _ io.Closer) {
			require.NoError(t, owner.Process.Signal(os.Interrupt))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			owner, stdin, told := runOwner(t, "signpost-test/redis")
			if strings.HasPrefix(told, "error: ") {
				require.Less(t, time.Since(began), 20*time.Second, "the next way must be taken soon")
				return
			}
			require.True(t, answers(told))
			end(t, owner, stdin)
			_ = owner.Wait() // ended by a signal in two cases of three
			require.Eventually(t, func() bool { return !answers(told) }, 15*time.Second, 50*time.Millisecond)
		})
	}
}

func TestAContainerIsStopped(t *testing.T) {
	t.Parallel()
	c, err := container.Start(t.Context(), redisFrom("signpost-test/redis"))
	if err != nil {
		require.Regexp(t, "no Docker engine|cannot pull", err.Error())
		return
	}
	require.True(t, answers(c.Addr))
	require.NoError(t, c.Stop())
	require.NoError(t, c.Stop())
	require.False(t, answers(c.Addr))
}

func TestNoEngineAndNoImageAreKnownSoon(t *testing.T) {
	t.Parallel()
	silent := silentEngine(t)
	for name, c := range map[string]struct{ image, host, want string }{
		"an engine that hangs": {"signpost-test/redis", "tcp://" + silent, "no Docker engine"},
		"no such image":        {"localhost:1/no/such:image", os.Getenv("DOCKER_HOST"), "no Docker engine|has no image localhost:1/no/such:image and cannot pull it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			env := []string{"TESTCONTAINERS_HOST_OVERRIDE="}
			if c.host != "" {
				env = append(env, "DOCKER_HOST="+c.host)
			}
			_, _, told := runOwner(t, c.image, env...)
			require.Regexp(t, "^error: .*("+c.want+")", told)
			require.Less(t, time.Since(began), 20*time.Second)
		})
	}
}

// silentEngine accepts connections and never answers.
func silentEngine(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
		}
	}()
	return listener.Addr().String()
}

// Package container runs a server for tests in Docker, through testcontainers-go.
//
// Purpose: the Docker way of test/testdb and test/testredis.
//
// Invariants:
//   - Whether Docker can help is decided quickly: no engine, or one that neither has the image nor can pull it in
//     the time given, is an error that the caller takes as "try the next way".
//   - A container ends with its owner, however that one ends. Its first process watches its standard input,
//     which only the owner's open connection to the engine keeps open. No second container (testcontainers' own
//     reaper) is needed for that, whose image would have to be pulled too.
//
// Called by test/testdb and test/testredis.
package container

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"
)

// Spec says what to run.
type Spec struct {
	Image Image
	// Env is the environment of the server.
	Env map[string]string
	// Args replace the image's own command.
	Args []string
	// Port is the server's port, such as "5432/tcp".
	Port string
	// Volume names a Docker volume that is mounted at VolumePath, so that a server started anew finds its data. Empty
	// means none. RemoveVolume removes it.
	Volume, VolumePath string
	// PullPatience is how long pulling the image may take.
	PullPatience time.Duration
	// Ready is asked again and again with the server's address (host:port) until it returns nil.
	Ready func(ctx context.Context, addr string) error
}

// Container is a server that runs in Docker and is ready.
type Container struct {
	// Addr is host:port of the server as seen from here.
	Addr string

	docker *testcontainers.DockerContainer
	// lifeline is the connection that holds the container's standard input open.
	lifeline *client.HijackedResponse
	stop     sync.Once
	stopErr  error
}

// enginePatience is how long a Docker engine may take to answer its first question.
const enginePatience = 5 * time.Second

// watched runs the server beside a process that waits for the end of standard input. When either ends, so does
// the container, since the shell is its first process. A request to end is handed on as SIGINT, at which Postgres
// and Redis end in good order.
const watched = `exec 3<&0 </dev/null
"$@" 3<&- &
pid=$!
(cat <&3 >/dev/null; kill -s KILL "$pid") &
trap 'kill -s INT "$pid"' INT TERM
wait "$pid"
while kill -0 "$pid" 2>/dev/null; do wait "$pid"; done`

// Start runs the server and waits until it is ready. Every error means that Docker cannot help here.
func Start(ctx context.Context, spec Spec) (*Container, error) {
	engine, err := connect(ctx)
	if err != nil {
		return nil, err
	}
	defer engine.Close()
	image, command, err := spec.Image.find(ctx, engine, spec.PullPatience)
	if err != nil {
		return nil, err
	}
	if len(spec.Args) > 0 {
		command.cmd = spec.Args
	}

	c := &Container{}
	c.docker, err = testcontainers.Run(ctx, image,
		testcontainers.WithEnv(spec.Env),
		testcontainers.WithExposedPorts(spec.Port),
		testcontainers.WithEntrypoint(append([]string{"/bin/sh", "-c", watched, "sh"}, command.entrypoint...)...),
		testcontainers.WithCmd(command.cmd...),
		testcontainers.WithConfigModifier(func(cfg *container.Config) {
			cfg.OpenStdin, cfg.StdinOnce, cfg.AttachStdin = true, true, true
		}),
		testcontainers.WithHostConfigModifier(func(cfg *container.HostConfig) {
			cfg.AutoRemove = true
			cfg.ShmSize = 256 << 20
			if spec.Volume != "" {
				cfg.Binds = append(cfg.Binds, spec.Volume+":"+spec.VolumePath)
			}
		}),
		testcontainers.WithAdditionalLifecycleHooks(testcontainers.ContainerLifecycleHooks{
			PostCreates: []testcontainers.ContainerHook{c.attach(engine)},
		}),
	)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("run %s in Docker: %w", image, err), c.Stop())
	}
	if err := c.await(ctx, engine, spec); err != nil {
		return nil, errors.Join(fmt.Errorf("%s in Docker: %w", image, err), c.Stop())
	}
	return c, nil
}

// Usable returns nil if there is an engine that has the image or could pull it.
func Usable(ctx context.Context, image Image, patience time.Duration) error {
	engine, err := connect(ctx)
	if err != nil {
		return err
	}
	defer engine.Close()
	_, _, err = image.find(ctx, engine, patience)
	return err
}

// prepare sets testcontainers up, once for the process: it writes no log, and starts no reaper, since containers watch
// their owner by themselves (see the package comment).
var prepare = sync.OnceValue(func() error {
	log.SetDefault(log.NewNoopLogger())
	return os.Setenv("TESTCONTAINERS_RYUK_DISABLED", "true")
})

// connect finds the engine that the environment, the Docker context or the usual sockets name.
func connect(ctx context.Context) (*testcontainers.DockerClient, error) {
	if err := prepare(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, enginePatience)
	defer cancel()
	engine, err := testcontainers.NewDockerClientWithOpts(ctx)
	if err != nil {
		return nil, fmt.Errorf("no Docker engine: %w", err)
	}
	if _, err := engine.Ping(ctx, client.PingOptions{}); err != nil {
		return nil, fmt.Errorf("no Docker engine: %w", err)
	}
	return engine, nil
}

// attach takes hold of the container's standard input before it starts.
func (c *Container) attach(engine *testcontainers.DockerClient) testcontainers.ContainerHook {
	return func(ctx context.Context, created testcontainers.Container) error {
		// The connection must live longer than the context of the start.
		attached, err := engine.ContainerAttach(context.WithoutCancel(ctx), created.GetContainerID(),
			client.ContainerAttachOptions{Stream: true, Stdin: true})
		if err != nil {
			return fmt.Errorf("attach to container: %w", err)
		}
		c.lifeline = &attached.HijackedResponse
		return nil
	}
}

// Stop ends and removes the container. It may be called more than once.
func (c *Container) Stop() error {
	c.stop.Do(func() {
		if c.lifeline != nil {
			c.lifeline.Close()
		}
		if c.docker != nil {
			c.stopErr = testcontainers.TerminateContainer(c.docker, testcontainers.StopTimeout(0))
		}
	})
	return c.stopErr
}

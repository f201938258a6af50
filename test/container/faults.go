package container

import (
	"context"
	"fmt"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
)

// shutdownPatience is how long a server may take to end in good order.
const shutdownPatience = 10 * time.Second

// Kill ends every process of the server at once, and returns when the container is gone.
func (c *Container) Kill(ctx context.Context) error {
	return c.with(ctx, func(engine *testcontainers.DockerClient, id string) error {
		if _, err := engine.ContainerKill(ctx, id, client.ContainerKillOptions{Signal: "KILL"}); err != nil && !errdefs.IsNotFound(err) {
			return fmt.Errorf("kill container: %w", err)
		}
		return gone(ctx, engine, id)
	})
}

// Shutdown asks the server to end in good order, and returns when the container is gone.
func (c *Container) Shutdown(ctx context.Context) error {
	return c.with(ctx, func(engine *testcontainers.DockerClient, id string) error {
		seconds := int(shutdownPatience.Seconds())
		if _, err := engine.ContainerStop(ctx, id, client.ContainerStopOptions{Signal: "TERM", Timeout: &seconds}); err != nil && !errdefs.IsNotFound(err) {
			return fmt.Errorf("stop container: %w", err)
		}
		return gone(ctx, engine, id)
	})
}

// Pause stops every process of the server where it stands.
func (c *Container) Pause(ctx context.Context) error {
	return c.with(ctx, func(engine *testcontainers.DockerClient, id string) error {
		_, err := engine.ContainerPause(ctx, id, client.ContainerPauseOptions{})
		return err
	})
}

// Resume ends a Pause.
func (c *Container) Resume(ctx context.Context) error {
	return c.with(ctx, func(engine *testcontainers.DockerClient, id string) error {
		_, err := engine.ContainerUnpause(ctx, id, client.ContainerUnpauseOptions{})
		return err
	})
}

// RemoveVolume removes the volume of a Spec whose containers are gone.
func RemoveVolume(ctx context.Context, name string) error {
	engine, err := connect(ctx)
	if err != nil {
		return err
	}
	defer engine.Close()
	_, err = engine.VolumeRemove(ctx, name, client.VolumeRemoveOptions{Force: true})
	return err
}

func (c *Container) with(ctx context.Context, f func(engine *testcontainers.DockerClient, id string) error) error {
	engine, err := connect(ctx)
	if err != nil {
		return err
	}
	defer engine.Close()
	return f(engine, c.docker.GetContainerID())
}

// gone waits until the engine has removed a container that has ended.
func gone(ctx context.Context, engine *testcontainers.DockerClient, id string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*shutdownPatience)
	defer cancel()
	wait := engine.ContainerWait(ctx, id, client.ContainerWaitOptions{Condition: container.WaitConditionRemoved})
	select {
	case <-wait.Result:
		return nil
	case err := <-wait.Error:
		if errdefs.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("wait for the end of the container: %w", err)
	}
}

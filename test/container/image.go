package container

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
)

// Image says where an image may come from.
type Image struct {
	// EnvKey is the environment variable that names the image to use, and no other then.
	EnvKey string
	// Local is the name of an image that is used where somebody has built it here.
	Local string
	// Default is the image to pull otherwise.
	Default string
}

// command is what an image runs by itself.
type command struct{ entrypoint, cmd []string }

// find returns the name of an image that is here, pulling it first where it must be.
func (i Image) find(ctx context.Context, engine *testcontainers.DockerClient, patience time.Duration) (string, command, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	names := []string{i.Local, i.Default}
	if named := os.Getenv(i.EnvKey); named != "" {
		names = []string{named}
	}
	for _, name := range names {
		if cmd, err := inspect(ctx, engine, name); err == nil {
			return name, cmd, nil
		}
	}
	last := names[len(names)-1]
	if err := pull(ctx, engine, last); err != nil {
		return "", command{}, fmt.Errorf("the Docker engine has no image %s and cannot pull it within %v: %w", last, patience, err)
	}
	cmd, err := inspect(ctx, engine, last)
	return last, cmd, err
}

func inspect(ctx context.Context, engine *testcontainers.DockerClient, name string) (command, error) {
	found, err := engine.ImageInspect(ctx, name)
	if err != nil {
		return command{}, err
	}
	if found.Config == nil {
		return command{}, fmt.Errorf("image %s says nothing about what it runs", name)
	}
	return command{entrypoint: found.Config.Entrypoint, cmd: found.Config.Cmd}, nil
}

// pull asks once. Testcontainers' own pull repeats what cannot succeed until the time is up.
func pull(ctx context.Context, engine *testcontainers.DockerClient, name string) error {
	answer, err := engine.ImagePull(ctx, name, client.ImagePullOptions{})
	if err != nil {
		return err
	}
	return answer.Wait(ctx)
}

package container

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/moby/moby/api/types/network"
	"github.com/testcontainers/testcontainers-go"
)

// readyPatience is how long a server may take from its start to its first answer.
const readyPatience = 60 * time.Second

// await asks Ready at every address until the server answers at one, or the patience is used up.
func (c *Container) await(ctx context.Context, engine *testcontainers.DockerClient, spec Spec) error {
	ctx, cancel := context.WithTimeout(ctx, readyPatience)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		published, own, err := c.addresses(ctx, engine, spec.Port)
		if err == nil {
			c.Addr, err = firstReady(ctx, spec, published)
		}
		if err != nil && len(own) > 0 {
			c.Addr, err = firstReady(ctx, spec, own)
		}
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("not ready: %w", err)
		}
		if state, inspectErr := c.docker.State(ctx); ctx.Err() == nil && (inspectErr != nil || !state.Running) {
			return fmt.Errorf("ended at once: %w", errors.Join(err, inspectErr))
		}
	}
}

// firstReady asks at all addresses at the same time, since one that is not the server's may swallow the question.
func firstReady(ctx context.Context, spec Spec, addrs []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	type answer struct {
		addr string
		err  error
	}
	answers := make(chan answer, len(addrs))
	for _, addr := range addrs {
		go func() { answers <- answer{addr, spec.Ready(ctx, addr)} }()
	}
	err := errors.New("the engine tells no address")
	for range addrs {
		a := <-answers
		if a.err == nil {
			return a.addr, nil
		}
		err = a.err
	}
	return "", err
}

// addresses lists where the server might be reached. Which one it is depends on where this program runs: on the
// engine's machine, the published port is on loopback; in a container beside the server's, it is on the network's
// gateway; and far from the engine, it is on the engine's host. The container's own address is the last resort: the
// engine gives it to the next container.
func (c *Container) addresses(ctx context.Context, engine *testcontainers.DockerClient, port string) (published, own []string, err error) {
	inspected, err := c.docker.Inspect(ctx)
	if err != nil {
		return nil, nil, err
	}
	wanted, err := network.ParsePort(port)
	if err != nil {
		return nil, nil, err
	}
	var hosts []string
	if strings.HasPrefix(engine.DaemonHost(), "unix:") {
		hosts = append(hosts, "127.0.0.1")
	}
	if host, err := c.docker.Host(ctx); err == nil && host != "localhost" && !slices.Contains(hosts, host) {
		hosts = append(hosts, host)
	}
	for _, joined := range inspected.NetworkSettings.Networks {
		if joined.IPAddress.IsValid() {
			own = append(own, net.JoinHostPort(joined.IPAddress.String(), wanted.Port()))
		}
		if joined.Gateway.IsValid() && !slices.Contains(hosts, joined.Gateway.String()) {
			hosts = append(hosts, joined.Gateway.String())
		}
	}
	for _, binding := range inspected.NetworkSettings.Ports[wanted] {
		// The port of IPv6 may be another one, and belong to another container on IPv4.
		if binding.HostIP.Is6() {
			continue
		}
		for _, host := range hosts {
			published = append(published, net.JoinHostPort(host, binding.HostPort))
		}
	}
	return published, own, nil
}

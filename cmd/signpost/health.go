package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"signpost/cmd/signpost/config"
)

const (
	clientTimeout = 5 * time.Second // of the client commands, unless --timeout says otherwise
	maxReasons    = 64 << 10        // bytes of a readiness answer that are shown
)

// newHealthCommand asks a gateway whether it is ready: the check of a container
// or a script.
func newHealthCommand() *cobra.Command {
	var timeout time.Duration
	command := &cobra.Command{
		Use:   "health",
		Short: "Ask a running gateway whether it is ready",
		Long: "Asks /ready of the gateway at --http and prints its answer. The exit status\n" +
			"is 0 if it is ready, and 1 if it is not or cannot be reached.",
		Args: cobra.NoArgs,
	}
	flags := config.AddFlags(command.Flags(), "http")
	command.Flags().Lookup("http").Usage = "ask the gateway at `ADDR`"
	command.Flags().DurationVar(&timeout, "timeout", clientTimeout, "give up after `TIME`")
	command.RunE = func(command *cobra.Command, _ []string) error {
		c, err := config.Load(*flags, os.LookupEnv)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(command.Context(), timeout)
		defer cancel()
		return askReady(ctx, command.OutOrStdout(), reachable(c.Addresses.HTTP))
	}
	return command
}

// askReady prints the body of GET /ready, which names the reasons of a gateway
// that is not ready; then it is also an error.
func askReady(ctx context.Context, out io.Writer, address string) error {
	url := "http://" + address + "/ready"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return fmt.Errorf("ask %s: %w", url, err)
	}
	// A transport of its own uses no proxy; a redirect is an answer like any
	// other that is not 200.
	client := &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("ask for readiness: %w", err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxReasons))
	if err != nil {
		return fmt.Errorf("read the answer of %s: %w", url, err)
	}
	if text := strings.TrimSpace(string(body)); text != "" {
		fmt.Fprintln(out, text)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("not ready: %s answered %s", url, response.Status)
	}
	return nil
}

// reachable turns a listening address into one that can be dialled: all of the
// machine's addresses are reached by its loopback.
func reachable(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	ip, err := netip.ParseAddr(host)
	switch {
	case host == "", err == nil && ip.IsUnspecified() && ip.Is4():
		host = "127.0.0.1"
	case err == nil && ip.IsUnspecified():
		host = "::1"
	}
	return net.JoinHostPort(host, port)
}

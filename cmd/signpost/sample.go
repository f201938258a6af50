package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"signpost/cmd/signpost/config"
	"signpost/cmd/signpost/server"
	"signpost/examples/shop"
)

// loadSample puts the sample shop into the catalog, unless it is there from
// an earlier run, and prints lookups to try.
func loadSample(ctx context.Context, s *server.Server, cfg config.Config, out io.Writer) error {
	sample, err := shop.Load()
	if err != nil {
		return err
	}
	base := "http://" + s.HTTP().String()
	for _, body := range sample.Registrations {
		if err := send(ctx, http.MethodPut, base+"/v1/catalog/register", body); err != nil {
			return fmt.Errorf("load the sample: %w", err)
		}
	}
	for _, body := range sample.Queries {
		err := send(ctx, http.MethodPost, base+"/v1/query", body)
		if err != nil && !strings.Contains(err.Error(), "aliases an existing query name") {
			return fmt.Errorf("load the sample: %w", err)
		}
	}
	host, port, err := net.SplitHostPort(s.DNS().String())
	if err != nil {
		return fmt.Errorf("read the DNS address: %w", err)
	}
	_, err = fmt.Fprintf(out, `Signpost is ready, with a sample shop in its catalog. Try:

  curl '%s/v1/query/checkout/execute?limit=2&pretty'
  dig @%s -p %s checkout.query.%s SRV
  curl -X PUT %s/v1/catalog/deregister -d '{"Node": "shop-13"}'

Ctrl-C ends it.
`, base, host, port, cfg.Domain, base)
	return err
}

// send makes one request; any answer but 200 is an error with its text.
func send(ctx context.Context, method, url string, body json.RawMessage) error {
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("make the request: %w", err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("send the request: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusOK {
		return nil
	}
	text, _ := io.ReadAll(io.LimitReader(response.Body, 1<<10))
	return fmt.Errorf("%s: %s", response.Status, text)
}

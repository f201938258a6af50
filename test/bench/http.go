package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

const lookupConnections = 64

func httpFigures() []figure {
	return []figure{
		{[]string{"HTTP execute"}, httpFigure("HTTP execute", executePath(0))},
		{[]string{"HTTP health service"}, httpFigure("HTTP health service", healthPath(0))},
		{[]string{"HTTP query get"}, httpFigure("HTTP query get", "")},
	}
}

// httpFigure compares an endpoint with a handler of the same bytes. An empty
// path stands for reading the prepared query, whose ID is not known before.
func httpFigure(name, path string) func(context.Context, *world) ([]row, error) {
	return func(ctx context.Context, w *world) ([]row, error) {
		g, err := w.smallGateway(ctx)
		if err != nil {
			return nil, err
		}
		if path == "" {
			if path, err = w.queryPath(ctx, g); err != nil {
				return nil, err
			}
		}
		status, answer, err := w.fetch(ctx, "http://"+g.http+path)
		if err != nil {
			return nil, err
		}
		if status != http.StatusOK {
			return nil, fmt.Errorf("ask for %s: status %d", path, status)
		}
		y, err := w.startYardstick(ctx, "static", []httpAnswer{answer})
		if err != nil {
			return nil, err
		}
		defer w.end(y.process)
		s, err := w.compare(ctx, w.lookups(g.process, g.http, path), w.lookups(y.process, y.address, path))
		if err != nil {
			return nil, err
		}
		if q := s.this[0].size / s.yardstick[0].size; q > 1.01 || q < 0.99 { // wrk also counts the beginnings of answers
			return nil, fmt.Errorf("answers have %.1f bytes, the yardstick's %.1f", s.this[0].size, s.yardstick[0].size)
		}
		r := relative(name, perSecond, s.by(rateOf), atLeast(0.85))
		r.Note = s.note()
		return []row{r}, nil
	}
}

// lookups asks for one path again and again.
func (w *world) lookups(p *process, address, path string) side {
	return side{p, func(ctx context.Context, d time.Duration) (load, error) {
		return w.wrk(ctx, wrkRun{url: "http://" + address + path, connections: lookupConnections}, d)
	}}
}

// queryPath is where the query for the first service is read.
func (w *world) queryPath(ctx context.Context, g *gateway) (string, error) {
	status, body, err := w.get(ctx, "http://"+g.http+"/v1/query")
	if err != nil {
		return "", err
	}
	var list []struct{ ID, Name string }
	if err := json.Unmarshal(body, &list); err != nil {
		return "", fmt.Errorf("list queries: status %d: %w", status, err)
	}
	for _, q := range list {
		if q.Name == serviceName(0) {
			return "/v1/query/" + q.ID, nil
		}
	}
	return "", fmt.Errorf("list queries: %s is not among %d", serviceName(0), len(list))
}

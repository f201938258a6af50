package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"signpost/db"
	"signpost/resolver/catalog"
)

// The catalog of the lookups: services of ten instances each, spread over up
// to a thousand nodes. Every instance has one check, two tags and two pairs
// of metadata, and every service a prepared query of its own name.
const (
	instancesPerService = 10
	mostNodes           = 1000
)

// serviceName is both a service and the query for it. All are equally long.
func serviceName(service int) string { return fmt.Sprintf("service-%05d", service) }

func registration(service, instance int) catalog.Registration {
	at := (service*instancesPerService + instance) % mostNodes
	node := fmt.Sprintf("node-%04d", at)
	name := serviceName(service)
	id := fmt.Sprintf("%s-%d", name, instance)
	return catalog.Registration{
		Node: catalog.Node{
			Name: node, Address: fmt.Sprintf("10.1.%d.%d", at/250, at%250+1),
			Meta: map[string]string{"rack": fmt.Sprintf("r%02d", at%40)},
		},
		Service: &catalog.Service{
			Node: node, ID: id, Name: name, Port: 8000 + instance, Weights: catalog.DefaultWeights,
			Tags: []string{"primary", "v2"}, Meta: map[string]string{"version": "2.14.0", "team": "payments"},
		},
		Checks: []catalog.Check{{
			Node: node, ID: "check:" + id, Name: "HTTP on its port", Status: catalog.Passing,
			Output: "HTTP GET /health: 200 OK", ServiceID: id,
		}},
	}
}

func query(service int) catalog.CreateQuery {
	name := serviceName(service)
	return catalog.CreateQuery{Query: catalog.Query{
		ID: uuid.NewString(), Name: name, Service: catalog.QueryService{Service: name, OnlyPassing: true},
	}}
}

// load fills a gateway's catalog with services, and waits until the gateway
// shows the last one.
func (w *world) load(ctx context.Context, g *gateway, services int) error {
	const writers = 512 // a whole group at a time
	loading, cancel := context.WithCancel(ctx)
	defer cancel()
	store := db.NewStore(db.Config{URL: w.pg.URL(g.database)}, func(catalog.Index) {}, w.log())
	running := make(chan error, 1)
	go func() { running <- store.Run(loading) }()

	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for service := range services {
		for instance := range instancesPerService {
			group.Go(func() error {
				_, err := store.Apply(ctx, registration(service, instance))
				return err
			})
		}
		group.Go(func() error {
			_, err := store.Apply(ctx, query(service))
			return err
		})
	}
	err := group.Wait()
	cancel()
	if stopped := <-running; err == nil {
		err = stopped
	}
	if err != nil {
		return fmt.Errorf("load %d services: %w", services, err)
	}
	return w.awaitQueries(loading, g, services)
}

// awaitQueries waits until a gateway executes the first and the last query.
func (w *world) awaitQueries(_ context.Context, g *gateway, services int) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for _, service := range []int{0, services - 1} {
		for {
			status, body, err := w.get(ctx, "http://"+g.http+executePath(service))
			if err != nil {
				return err
			}
			if status == http.StatusOK && strings.Count(string(body), `"CheckID"`) >= instancesPerService {
				break
			}
		}
	}
	return nil
}

func executePath(service int) string { return "/v1/query/" + serviceName(service) + "/execute" }
func healthPath(service int) string  { return "/v1/health/service/" + serviceName(service) }

// get makes one request and gives status and body.
func (w *world) get(ctx context.Context, url string) (int, []byte, error) {
	status, a, err := w.fetch(ctx, url)
	return status, a.Body, err
}

// fetch makes one request and gives the answer as a yardstick wants it:
// without the date, which every server adds by itself.
func (w *world) fetch(ctx context.Context, url string) (int, httpAnswer, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, httpAnswer{}, fmt.Errorf("ask %s: %w", url, err)
	}
	response, err := w.client.Do(request)
	if err != nil {
		return 0, httpAnswer{}, fmt.Errorf("ask %s: %w", url, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, httpAnswer{}, fmt.Errorf("read the answer of %s: %w", url, err)
	}
	response.Header.Del("Date")
	return response.StatusCode, httpAnswer{Path: request.URL.Path, Header: response.Header, Body: body}, nil
}

package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// writers registers services at a steady rate until it is stopped. It keeps
// the rate by the clock: what is late is made up for.
type writers struct {
	url    string
	client *http.Client
	cancel context.CancelFunc
	group  sync.WaitGroup
	began  time.Time
	done   atomic.Int64
	failed atomic.Pointer[error]
}

// startWriters has enough clients for answers that take 32 ms at 2,000/s.
func (w *world) startWriters(ctx context.Context, g *gateway, rate int) *writers {
	ctx, cancel := context.WithCancel(ctx)
	ws := &writers{url: "http://" + g.http + "/v1/catalog/register", client: w.client, cancel: cancel, began: time.Now()}
	due := make(chan int)
	ws.group.Go(func() {
		defer close(due)
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for sent := 0; ; {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
			for ; sent < int(time.Since(ws.began).Seconds()*float64(rate)); sent++ {
				select {
				case due <- sent:
				case <-ctx.Done():
					return
				}
			}
		}
	})
	for range writeClients {
		ws.group.Go(func() {
			for n := range due {
				if err := ws.register(ctx, n); err != nil && ctx.Err() == nil {
					ws.failed.CompareAndSwap(nil, &err)
				}
			}
		})
	}
	return ws
}

// register changes one service and one check out of a thousand that nobody
// looks up.
func (ws *writers) register(ctx context.Context, n int) error {
	const others = 1000
	i := n % others
	body := fmt.Sprintf(`{"Node":"other-%03d","Address":"10.3.%d.%d","Service":{"ID":"batch-%03d","Service":"batch-%03d","Port":%d},`+
		`"Check":{"CheckID":"check:batch-%03d","Name":"last run","Status":"passing","Output":"run %d","ServiceID":"batch-%03d"}}`,
		i, i/250, i%250+1, i, i, n%60000+1, i, n, i)
	if err := ws.put(ctx, body); err != nil {
		return err
	}
	ws.done.Add(1)
	return nil
}

// put makes one registration.
func (ws *writers) put(ctx context.Context, body string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPut, ws.url, strings.NewReader(body))
	if err != nil {
		return fmt.Errorf("register: %w", err)
	}
	response, err := ws.client.Do(request)
	if err != nil {
		return fmt.Errorf("register: %w", err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("register: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("register: %s: %s", response.Status, text)
	}
	return nil
}

// stop gives the rate that was kept.
func (ws *writers) stop() (float64, error) {
	rate := float64(ws.done.Load()) / time.Since(ws.began).Seconds()
	ws.cancel()
	ws.group.Wait()
	if err := ws.failed.Load(); err != nil {
		return 0, *err
	}
	return rate, nil
}

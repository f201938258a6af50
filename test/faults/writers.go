package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// outcome is what a writer was told.
type outcome int

const (
	acked outcome = iota
	unknown
	failed
	refusedWrongly
)

// outcomeOf reads the answer to a write that is right.
func outcomeOf(a answer, err error) outcome {
	switch {
	case err != nil:
		return unknown
	case a.status == http.StatusOK:
		return acked
	case a.status == http.StatusServiceUnavailable && strings.Contains(a.body, "unknown"):
		return unknown
	case a.status == http.StatusServiceUnavailable:
		return failed
	}
	return refusedWrongly
}

// registration has the value in three places, so that half of one shows.
func registration(s *service, value int) string {
	return fmt.Sprintf(`{"Node":%q,"Address":"10.1.1.1",
		"Service":{"ID":%q,"Service":%q,"Address":%q,"Port":%d},
		"Check":{"CheckID":"alive:%s","Name":"alive","Status":"passing","ServiceID":%q,"Output":"%d"}}`,
		s.node, s.name, s.name, address(value), value, s.name, s.name, value)
}

func address(value int) string { return fmt.Sprintf("10.9.%d.%d", value>>8&255, value&255) }

// write writes the services of one writer, by turns, through one gateway.
func (r *run) write(ctx context.Context, g *gateway, writer int) {
	for turn := 0; rest(ctx, writePace) == nil; turn++ {
		s := r.book.services[writer+writersInAll*(turn%(servicesInAll/writersInAll))]
		value, epoch := r.book.send(s)
		sent := time.Now()
		// What was sent is waited for, so that its outcome is known.
		a, err := g.ask(context.WithoutCancel(ctx), http.MethodPut, "/v1/catalog/register", registration(s, value), writeWait)
		switch outcomeOf(a, err) {
		case acked:
			r.book.ack(s, g.number, value, epoch, time.Since(sent))
		case failed:
			r.book.fail(s, value)
		case unknown:
			r.book.unknown()
		default:
			r.book.unknown()
			r.book.blame(lied, "%s = %d through gateway %d: %d %q", s.name, value, g.number, a.status, a.body)
		}
	}
}

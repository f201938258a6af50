package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/miekg/dns"
)

// errRefused: a consistent read was refused, as it must be while Postgres is
// away.
var errRefused = errors.New("refused")

// found is one value that a lookup showed. index is 0 where none is given.
type found struct {
	value int
	index uint64
	body  string
}

// instance is the part of an answer that the value is in.
type instance struct {
	Service struct {
		Address string
		Port    int
	}
	Checks []struct{ CheckID, Output string }
}

// valueOf is the value of the one instance of s in a list; 0 if there is none.
func valueOf(s *service, list []instance) (int, error) {
	if len(list) == 0 {
		return 0, nil
	}
	i := list[0]
	value := i.Service.Port
	if len(list) != 1 || i.Service.Address != address(value) || len(i.Checks) != 1 ||
		i.Checks[0].CheckID != "alive:"+s.name || i.Checks[0].Output != strconv.Itoa(value) {
		return value, fmt.Errorf("not what was written together: %+v", list)
	}
	return value, nil
}

// lookUp asks one gateway, one thing after the other, in every way there is.
func (r *run) lookUp(ctx context.Context, g *gateway, seed int) {
	indexes := make([]uint64, len(r.book.services))
	values := make([]struct{ epoch, value int }, len(r.book.services))
	for n := seed; rest(ctx, lookupPace) == nil; n++ {
		at := n % len(r.book.services)
		s, way := r.book.services[at], n/len(r.book.services)%len(ways)
		expected := r.book.expect(s, g.number, ways[way].consistent)
		outages := g.outages.Load()
		f, err := ways[way].ask(ctx, g, s)
		if ctx.Err() != nil {
			return
		}
		who := fmt.Sprintf("gateway %d, %s", g.number, ways[way].name)
		if err != nil {
			if outages == g.outages.Load() && outages%2 == 0 {
				r.readFailed(who, s, err)
			}
			continue
		}
		r.book.mu.Lock()
		r.book.reads++
		r.book.mu.Unlock()
		r.book.judge(s, expected, f.value, who)
		if f.index > 0 {
			if f.index < indexes[at] {
				r.book.blame(wentBack, "%s: index of %s from %d to %d", who, s.name, indexes[at], f.index)
			}
			indexes[at] = f.index
		}
		if last := values[at]; last.epoch == expected.epoch && expected.epoch%2 == 0 && f.value < last.value && r.sameEpoch(expected) {
			r.book.blame(wentBack, "%s: %s from %d to %d", who, s.name, last.value, f.value)
		}
		values[at] = struct{ epoch, value int }{expected.epoch, f.value}
	}
}

func (r *run) sameEpoch(e expectation) bool {
	r.book.mu.Lock()
	defer r.book.mu.Unlock()
	return e.epoch == r.book.epoch
}

func (r *run) readFailed(who string, s *service, err error) {
	var torn tornError
	switch {
	case errors.Is(err, errRefused):
		r.book.mu.Lock()
		r.book.refused++
		r.book.mu.Unlock()
	case errors.As(err, &torn):
		r.book.blame(wrong, "%s: %s: %v", who, s.name, err)
	default:
		r.book.blame(failedReads, "%s: %s: %v", who, s.name, err)
	}
}

// tornError: an answer came, and is not one that was ever true.
type tornError struct{ error }

// way is one way to look a service up.
type way struct {
	name       string
	consistent bool
	ask        func(context.Context, *gateway, *service) (found, error)
}

var ways = []way{
	{"default", false, overHTTP("")},
	{"dns srv", false, overDNS(dns.TypeSRV)},
	{"stale", false, overHTTP("?stale")},
	{"dns a", false, overDNS(dns.TypeA)},
	{"consistent", true, overHTTP("?consistent")},
}

func overHTTP(mode string) func(context.Context, *gateway, *service) (found, error) {
	return func(ctx context.Context, g *gateway, s *service) (found, error) {
		a, err := g.ask(ctx, http.MethodGet, "/v1/health/service/"+s.name+mode, "", readWait)
		if err != nil {
			return found{}, err
		}
		if mode == "?consistent" && a.status == http.StatusServiceUnavailable {
			return found{}, errRefused
		}
		return foundIn(s, a)
	}
}

func foundIn(s *service, a answer) (found, error) {
	if a.status != http.StatusOK {
		return found{}, fmt.Errorf("%d %q", a.status, a.body)
	}
	var list []instance
	if err := json.Unmarshal([]byte(a.body), &list); err != nil {
		return found{}, tornError{fmt.Errorf("%q: %w", a.body, err)}
	}
	value, err := valueOf(s, list)
	if err != nil {
		return found{}, tornError{err}
	}
	return found{value, a.index, a.body}, nil
}

func overDNS(kind uint16) func(context.Context, *gateway, *service) (found, error) {
	return func(ctx context.Context, g *gateway, s *service) (found, error) {
		ctx, cancel := context.WithTimeout(ctx, readWait)
		defer cancel()
		g.mu.Lock()
		server := g.dns
		g.mu.Unlock()
		question := new(dns.Msg).SetQuestion(s.name+".service.signpost.", kind)
		client := dns.Client{Timeout: readWait}
		reply, _, err := client.ExchangeContext(ctx, question, server)
		if err != nil {
			return found{}, fmt.Errorf("dns: %w", err)
		}
		if reply.Rcode == dns.RcodeNameError {
			return found{}, nil
		}
		if reply.Rcode != dns.RcodeSuccess || len(reply.Answer) != 1 {
			return found{}, fmt.Errorf("dns: %s, %d records", dns.RcodeToString[reply.Rcode], len(reply.Answer))
		}
		switch record := reply.Answer[0].(type) {
		case *dns.SRV:
			return found{value: int(record.Port)}, nil
		case *dns.A:
			ip := record.A.To4()
			return found{value: int(ip[2])<<8 | int(ip[3])}, nil
		}
		return found{}, tornError{fmt.Errorf("dns: %s", reply.Answer[0])}
	}
}

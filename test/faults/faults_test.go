package main

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// selected are the faults that have found something, or are most like those
// that operators meet; the rest is for `make faults`.
var selected = []string{
	"commits cut off", "postgres killed", "truncate", "older dump restored",
	"log trimmed past a sleeper", "gateways born together",
}

// TestPromisesHoldUnderFaults runs a short selection, each fault in turn.
func TestPromisesHoldUnderFaults(t *testing.T) {
	w, err := newWorld(context.Background(), "")
	require.NoError(t, err)
	t.Cleanup(w.close)
	for _, name := range selected {
		t.Run(name, func(t *testing.T) {
			at := slices.IndexFunc(faults(), func(f *fault) bool { return f.name == name })
			require.GreaterOrEqual(t, at, 0, "no such fault")
			out := w.run(context.Background(), faults()[at], true)
			var said bytes.Buffer
			report(&said, out, true)
			require.NoError(t, w.heal(context.Background()))
			require.True(t, out.good(), said.String())
		})
	}
}

// judged makes a book of one service, has 1 to 3 acknowledged, 4 refused and
// 5 sent, and gives what a lookup through gateway 0 that shows value counts.
func judged(value int, consistent bool) *book {
	b := newBook(2, 1)
	s := b.services[0]
	for want := 1; want <= 5; want++ {
		n, epoch := b.send(s)
		switch {
		case n <= 3:
			b.ack(s, n%2, n, epoch, time.Millisecond) // 3 through gateway 1
		case n == 4:
			b.fail(s, n)
		}
	}
	b.judge(s, b.expect(s, 0, consistent), value, "a test")
	return b
}

func TestTheCheckerKnowsAWrongAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		value      int
		consistent bool
		wrong      column
		isWrong    bool
	}{
		"what this gateway acknowledged":           {2, false, 0, false},
		"what another one acknowledged":            {3, false, 0, false},
		"what may have been committed":             {5, false, 0, false},
		"older than this gateway acknowledged":     {1, false, wrong, true},
		"consistent, older than any acknowledged":  {2, true, wrong, true},
		"consistent, as new as any acknowledged":   {3, true, 0, false},
		"refused with nothing changed":             {4, false, lied, true},
		"never written":                            {6, false, wrong, true},
		"nothing, after something was there":       {0, false, wrong, true},
		"consistent, nothing after something was ": {0, true, wrong, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var want [columns]int
			if c.isWrong {
				want[c.wrong] = 1
			}
			b := judged(c.value, c.consistent)
			require.Equal(t, want, b.counts, b.examples)
		})
	}
}

func TestTheCheckerComparesTheEnd(t *testing.T) {
	t.Parallel()
	for value, want := range map[int]column{0: lost, 2: lost, 4: lied, 6: wrong} {
		r := run{fault: &fault{}, book: judged(3, false)}
		r.compareServices(map[string]int{"svc-0": value})
		require.Equal(t, 1, r.book.counts[want], "%d: %v", value, r.book.examples)
	}
	for _, value := range []int{3, 5} {
		r := run{fault: &fault{}, book: judged(3, false)}
		r.compareServices(map[string]int{"svc-0": value})
		require.Zero(t, r.book.counts, "%d: %v", value, r.book.examples)
	}
}

// TestTheCheckerForgivesWhatAnOperatorTook: after an epoch only what was sent
// in the new one counts.
func TestTheCheckerForgivesWhatAnOperatorTook(t *testing.T) {
	t.Parallel()
	b := judged(3, false)
	s := b.services[0]
	b.disturb()
	meanwhile, epoch := b.send(s)
	b.settle()
	b.ack(s, 0, meanwhile, epoch, time.Millisecond)
	b.judge(s, b.expect(s, 0, true), 0, "a test")
	require.Zero(t, b.counts, b.examples)
	after, epoch := b.send(s)
	b.ack(s, 0, after, epoch, time.Millisecond)
	b.judge(s, b.expect(s, 0, true), 0, "a test")
	require.Equal(t, 1, b.counts[wrong])
}

func TestTheCheckerKnowsABadWakeUp(t *testing.T) {
	t.Parallel()
	first := found{value: 1, index: 10, body: "one"}
	for name, c := range map[string]struct {
		second found
		want   column
	}{
		"an index that falls":   {found{value: 2, index: 9, body: "two"}, wentBack},
		"a value that falls":    {found{value: 0, index: 11, body: "none"}, wentBack},
		"another's write":       {found{value: 1, index: 11, body: "one"}, wrong},
		"for nothing, too soon": {found{value: 1, index: 10, body: "one"}, wrong},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBook(1, 1)
			b.services[0].tried = 2
			r := run{fault: &fault{}, book: b, watched: &watched{last: map[watchKey]int{}}}
			w := watcher{run: &r, gateway: &gateway{}, service: b.services[0]}
			w.woke(first, 0, time.Millisecond, true)
			require.Zero(t, b.counts, b.examples)
			w.woke(c.second, 0, time.Millisecond, true)
			require.Equal(t, 1, b.counts[c.want], b.examples)
		})
	}
}

func TestOutcomesAreReadAsTheyAreMeant(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a    answer
		err  error
		want outcome
	}{
		{answer{status: http.StatusOK}, nil, acked},
		{answer{}, errors.New("connection reset"), unknown},
		{answer{status: http.StatusServiceUnavailable, body: "the outcome is unknown"}, nil, unknown},
		{answer{status: http.StatusServiceUnavailable, body: "nothing was changed"}, nil, failed},
		{answer{status: http.StatusNotFound}, nil, refusedWrongly},
		{answer{status: http.StatusInternalServerError}, nil, refusedWrongly},
	} {
		require.Equal(t, c.want, outcomeOf(c.a, c.err), c.a)
	}
}

package main

import (
	"fmt"
	"sync"
	"time"
)

// column is a sort of fault of the gateways. All must be zero.
type column int

const (
	lost column = iota
	lied
	wentBack
	missed
	wrong
	failedReads
	columns
)

var columnNames = [columns]string{"lost", "lied", "went back", "missed", "wrong", "failed reads"}

// service is what is known of the values of one service. Its one writer sends
// 1, 2, 3, …, each at most once.
type service struct {
	name, node string
	tried      int          // the last one sent
	refused    map[int]bool // "nothing was changed"
	acked      int          // in this epoch, as are the next three
	via        []int        // acknowledged by gateway, in time to be visible there
	seen       int          // by anybody
}

// tally counts writes by what their writers were told.
type tally struct{ acked, unknown, failed int }

// book keeps what clients did and were told. An operator who takes data away
// begins and ends an epoch: an odd one is a time in which nothing is certain,
// and what was acknowledged in an earlier one does not count any more.
type book struct {
	mu       sync.Mutex
	epoch    int
	services []*service
	writes   tally
	reads    int
	refused  int // consistent reads while Postgres was away
	wakes    int
	counts   [columns]int
	examples []string

	ackedBy []int // writes, by gateway
	lastAck time.Time
	longest time.Duration // between two acknowledgements
	backAt  time.Time     // when what was broken was whole again
	backBy  []time.Time   // by gateway: the first acknowledgement after that
}

func newBook(gateways, services int) *book {
	b := &book{ackedBy: make([]int, gateways), backBy: make([]time.Time, gateways)}
	for i := range services {
		b.services = append(b.services, &service{
			name: fmt.Sprintf("svc-%d", i), node: fmt.Sprintf("n-%d", i%4),
			refused: map[int]bool{}, via: make([]int, gateways),
		})
	}
	return b
}

const keptExamples = 12

// blame counts a fault of the gateways.
func (b *book) blame(c column, format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.blameLocked(c, format, args...)
}

func (b *book) blameLocked(c column, format string, args ...any) {
	b.counts[c]++
	if len(b.examples) < keptExamples {
		b.examples = append(b.examples, time.Now().Format("15:04:05.000 ")+columnNames[c]+": "+fmt.Sprintf(format, args...))
	}
}

// disturb begins an epoch in which an operator takes data away.
func (b *book) disturb() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.epoch++
}

// settle ends it. Every gateway must have applied what the operator did.
func (b *book) settle() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.epoch++
	for _, s := range b.services {
		s.acked, s.seen = 0, 0
		clear(s.via)
	}
}

// back notes that what was broken is whole again.
func (b *book) back() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.backAt = time.Now()
	clear(b.backBy)
}

// send gives the next value to write, and the epoch that it is sent in.
func (b *book) send(s *service) (value, epoch int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s.tried++
	return s.tried, b.epoch
}

// visibleWithin is how long a gateway waits for its own write to be visible
// before it acknowledges it anyway (gateway.Do).
const visibleWithin = 2 * time.Second

// ack notes an acknowledged write.
func (b *book) ack(s *service, gateway, value, epoch int, took time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ackedLocked(gateway)
	if epoch != b.epoch || epoch%2 == 1 {
		return
	}
	s.acked = value
	if took < visibleWithin {
		s.via[gateway] = value
	}
}

// ackedLocked counts an acknowledgement, of whatever.
func (b *book) ackedLocked(gateway int) {
	now := time.Now()
	b.writes.acked++
	b.ackedBy[gateway]++
	if !b.lastAck.IsZero() {
		b.longest = max(b.longest, now.Sub(b.lastAck))
	}
	b.lastAck = now
	if !b.backAt.IsZero() && b.backBy[gateway].IsZero() {
		b.backBy[gateway] = now
	}
}

// fail notes a write that was refused, with nothing changed.
func (b *book) fail(s *service, value int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.writes.failed++
	s.refused[value] = true
	if s.seen >= value {
		b.blameLocked(lied, "%s = %d was seen and then refused", s.name, value)
	}
}

func (b *book) unknown() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.writes.unknown++
}

// recovery is the longest time that a gateway took until it acknowledged a
// write after all was whole again; -1 if one has not.
func (b *book) recovery() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	var longest time.Duration
	for _, at := range b.backBy {
		if b.backAt.IsZero() {
			return 0
		}
		if at.IsZero() {
			return -1
		}
		longest = max(longest, at.Sub(b.backAt))
	}
	return longest
}

// expectation is what an answer must not fall short of.
type expectation struct{ epoch, least int }

// expect tells what a lookup that is sent now must show.
func (b *book) expect(s *service, gateway int, consistent bool) expectation {
	b.mu.Lock()
	defer b.mu.Unlock()
	if consistent {
		return expectation{b.epoch, s.acked}
	}
	return expectation{b.epoch, s.via[gateway]}
}

// judge looks at a value that a lookup showed. who is for the message.
func (b *book) judge(s *service, e expectation, value int, who string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case value > s.tried:
		b.blameLocked(wrong, "%s: %s = %d was never written (at most %d)", who, s.name, value, s.tried)
	case s.refused[value]:
		b.blameLocked(lied, "%s: %s = %d was refused with nothing changed", who, s.name, value)
	}
	if e.epoch != b.epoch || e.epoch%2 == 1 {
		return
	}
	if value < e.least {
		b.blameLocked(wrong, "%s: %s = %d after %d was acknowledged", who, s.name, value, e.least)
	}
	s.seen = max(s.seen, value)
}

package main

import (
	"context"
	"fmt"
	"syscall"
	"time"
)

const (
	mostReaders = 10_000
	otherWrites = 100
	blockedPath = "/v1/health/service/blocked"
)

func readerFigures() []figure {
	const last, memory, woken = "blocked readers, last one answered", "memory per blocked reader", "blocked readers woken by other writes"
	return []figure{{[]string{last, memory, woken}, func(ctx context.Context, w *world) ([]row, error) {
		m, err := w.measureReaders(ctx)
		if err != nil {
			return nil, err
		}
		latency := relative(last, seconds, m.turns, atMost(1.25))
		latency.Note = fmt.Sprintf("%d readers", m.readers)
		size := absolute(memory, bytes, m.memory, atMost(20<<10))
		size.Note = fmt.Sprintf("resident; the handler that only waits: %s", bytes.format(median(m.yardstickMemory)))
		wakes := absolute(woken, count, []float64{float64(m.woken)}, atMost(0))
		wakes.Note = fmt.Sprintf("%d writes to other services", otherWrites)
		return []row{latency, size, wakes}, nil
	}}}
}

type readersMeasured struct {
	readers                 int
	turns                   []turn
	memory, yardstickMemory []float64
	woken                   int
}

// measureReaders takes turns between a service that 10,000 wait for and a
// handler that only waits on a channel and then gives the same bytes.
func (w *world) measureReaders(ctx context.Context) (readersMeasured, error) {
	m := readersMeasured{readers: mostReaders}
	var limit syscall.Rlimit
	const otherFiles = 500 // that a server or this program has open besides
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err == nil && limit.Cur < mostReaders+otherFiles {
		m.readers = int(limit.Cur) - otherFiles
	}
	database, err := w.newDatabase(ctx)
	if err != nil {
		return m, err
	}
	for n := range max(w.turns-2, 2) {
		if err := w.readersTurn(ctx, &m, database, n); err != nil {
			return m, err
		}
	}
	return m, nil
}

// readersTurn starts both anew, since the memory that earlier readers have
// left behind would hide that of later ones.
func (w *world) readersTurn(ctx context.Context, m *readersMeasured, database string, n int) error {
	g, err := w.serve(ctx, database)
	if err != nil {
		return err
	}
	defer w.end(g.process)
	writer := &writers{url: "http://" + g.http + "/v1/catalog/register", client: w.client}
	if err := writer.put(ctx, blockedRegistration(2*n)); err != nil {
		return err
	}
	_, answer, err := w.fetch(ctx, "http://"+g.http+blockedPath)
	if err != nil {
		return err
	}
	y, err := w.startYardstick(ctx, "wait", []httpAnswer{answer})
	if err != nil {
		return err
	}
	defer w.end(y.process)

	waiting := blocked{process: y.process, address: y.address, path: "/wait", readers: m.readers, wake: func(ctx context.Context) error {
		_, _, err := w.get(ctx, "http://"+y.address+"/wake")
		return err
	}}
	theirs, err := waiting.round(ctx)
	if err != nil {
		return err
	}
	reading := blocked{
		process: g.process, address: g.http, readers: m.readers,
		path: blockedPath + "?wait=60s&index=" + answer.Header.Get("X-Service-Index"),
		wake: func(ctx context.Context) error { return writer.put(ctx, blockedRegistration(2*n+1)) },
		meanwhile: func(ctx context.Context) error {
			for i := range otherWrites {
				if err := writer.register(ctx, n*otherWrites+i); err != nil {
					return err
				}
			}
			return nil
		},
	}
	mine, err := reading.round(ctx)
	if err != nil {
		return err
	}
	m.turns = append(m.turns, turn{This: mine.last.Seconds(), Yardstick: theirs.last.Seconds()})
	m.memory = append(m.memory, mine.memory)
	m.yardstickMemory = append(m.yardstickMemory, theirs.memory)
	m.woken += mine.woken
	return nil
}

// blockedRegistration changes the one instance of the service that readers
// wait for. All are equally long.
func blockedRegistration(n int) string {
	return fmt.Sprintf(`{"Node":"blocked-node","Address":"10.4.0.1","Service":{"ID":"blocked","Service":"blocked","Port":80},`+
		`"Check":{"CheckID":"blocked","Name":"last run","Status":"passing","Output":"run %06d","ServiceID":"blocked"}}`, n)
}

// blocked is one of the two that are compared.
type blocked struct {
	*process
	address   string
	path      string // what the readers ask for
	readers   int
	meanwhile func(context.Context) error // happens while they are blocked; nil: nothing
	wake      func(context.Context) error
}

// round is what one turn has shown.
type round struct {
	last   time.Duration // from when readers were woken until the last one had its answer
	memory float64       // bytes per reader
	woken  int           // readers that were answered before they should have been
}

// round connects all readers, waits until they are blocked, wakes them, and
// disconnects. Readers are woken when the writer has its answer, or when the
// first of them has his, if that is earlier.
func (b *blocked) round(ctx context.Context) (r round, err error) {
	if err := b.settle(ctx); err != nil {
		return r, err
	}
	idle, err := b.memory("VmRSS")
	if err != nil {
		return r, err
	}
	crowd, err := b.connect(ctx)
	if err != nil {
		return r, err
	}
	defer crowd.close()
	if err := b.settle(ctx); err != nil {
		return r, err
	}
	resident, err := b.memory("VmRSS")
	if err != nil {
		return r, err
	}
	r.memory = (resident - idle) / float64(b.readers)
	if b.meanwhile != nil {
		if err := b.meanwhile(ctx); err != nil {
			return r, err
		}
		if err := b.settle(ctx); err != nil {
			return r, err
		}
	}
	r.woken = int(crowd.answered.Load())
	if err := b.wake(ctx); err != nil {
		return r, err
	}
	woken := time.Now()
	if err := crowd.wait(ctx); err != nil {
		return r, err
	}
	if first := time.Unix(0, crowd.first.Load()); first.Before(woken) {
		woken = first
	}
	r.last = time.Unix(0, crowd.last.Load()).Sub(woken)
	return r, nil
}

// settle waits until the server does nothing any more.
func (b *blocked) settle(ctx context.Context) error {
	const calm = 300 * time.Millisecond
	for {
		before, err := b.cpu()
		if err != nil {
			return err
		}
		pause(ctx, calm)
		after, err := b.cpu()
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if after-before <= clockTick {
			return nil
		}
	}
}

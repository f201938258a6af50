package main

import (
	"context"
	"fmt"
	"time"
)

// load is what a load generator has seen.
type load struct {
	answers int
	elapsed time.Duration
	size    float64       // mean size of an answer in bytes
	lost    int           // questions without an answer
	p50     time.Duration // latency; 0 if it was not measured
}

func (l load) rate() float64 { return float64(l.answers) / l.elapsed.Seconds() }

// sample is one measurement of one server.
type sample struct {
	load
	cpu time.Duration // that the server's process has used
}

// cpuPerAnswer is in seconds.
func (s sample) cpuPerAnswer() float64 { return s.cpu.Seconds() / float64(s.answers) }

// side is one of the two that are compared.
type side struct {
	server *process
	load   func(ctx context.Context, d time.Duration) (load, error)
}

func (s side) measure(ctx context.Context, d time.Duration) (sample, error) {
	before, err := s.server.cpu()
	if err != nil {
		return sample{}, err
	}
	l, err := s.load(ctx, d)
	if err != nil {
		return sample{}, fmt.Errorf("load on %s: %w", s.server.name, err)
	}
	after, err := s.server.cpu()
	if err != nil {
		return sample{}, err
	}
	if l.answers == 0 {
		return sample{}, fmt.Errorf("load on %s: no answers", s.server.name)
	}
	return sample{load: l, cpu: after - before}, nil
}

// samples are the turns of a comparison.
type samples struct{ this, yardstick []sample }

// compare measures both in turns, after a warm-up of what was not under load
// before.
func (w *world) compare(ctx context.Context, this, yardstick side) (samples, error) {
	var s samples
	for _, cold := range []side{yardstick, this} {
		if w.warm[cold.server] {
			continue
		}
		if _, err := cold.measure(ctx, w.warmUp); err != nil {
			return s, err
		}
		w.warm[cold.server] = true
	}
	for range w.turns {
		other, err := yardstick.measure(ctx, w.each)
		if err != nil {
			return s, err
		}
		mine, err := this.measure(ctx, w.each)
		if err != nil {
			return s, err
		}
		s.yardstick, s.this = append(s.yardstick, other), append(s.this, mine)
	}
	return s, nil
}

// by makes turns of one quantity of the samples.
func (s samples) by(quantity func(sample) float64) []turn {
	turns := make([]turn, len(s.this))
	for i := range s.this {
		turns[i] = turn{This: quantity(s.this[i]), Yardstick: quantity(s.yardstick[i])}
	}
	return turns
}

// note says how much CPU each of the two took for an answer.
func (s samples) note() string {
	us := func(list []sample) float64 {
		values := make([]float64, len(list))
		for i := range list {
			values[i] = list[i].cpuPerAnswer() * 1e6
		}
		return median(values)
	}
	return fmt.Sprintf("CPU per answer %.1f µs, yardstick %.1f µs", us(s.this), us(s.yardstick))
}

func rateOf(s sample) float64 { return s.rate() }
func cpuOf(s sample) float64  { return s.cpuPerAnswer() }

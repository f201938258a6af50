package main

import (
	"context"
	"regexp"
	"slices"
)

// figure is one measurement, which may fill several lines of the table.
type figure struct {
	names   []string
	measure func(context.Context, *world) ([]row, error)
}

// figures is everything that is measured, in the order of the table.
func figures() []figure {
	return slices.Concat(startFigures(), dnsFigures(), httpFigures(), busyFigures(),
		writeFigures(), visibleFigures(), readerFigures(), largeFigures())
}

func (f figure) wanted(only *regexp.Regexp) bool {
	return only == nil || slices.ContainsFunc(f.names, only.MatchString)
}

// unit is how a value is printed. Values are kept in the SI unit.
type unit string

const (
	perSecond unit = "/s"
	seconds   unit = "s"
	bytes     unit = "B"
	count     unit = ""
)

// promise is what a figure is held to.
type promise struct {
	bound  float64 // a ratio to the yardstick, or an absolute value
	atMost bool    // else: at least
}

func atLeast(bound float64) promise { return promise{bound: bound} }
func atMost(bound float64) promise  { return promise{bound: bound, atMost: true} }

func (p promise) keptBy(value float64) bool {
	if p.atMost {
		return value <= p.bound
	}
	return value >= p.bound
}

// row is one line of the table.
type row struct {
	Figure    string  `json:"figure"`
	Unit      unit    `json:"unit"`
	This      float64 `json:"this"`                // median over the turns
	Yardstick float64 `json:"yardstick,omitempty"` // median; 0: the promise is absolute
	Limit     float64 `json:"limit"`
	AtMost    bool    `json:"at_most"` // else This must be at least Limit
	Ratio     float64 `json:"ratio"`   // to the yardstick; without one, to the limit
	Low       float64 `json:"low"`     // the lowest and highest ratio of a turn
	High      float64 `json:"high"`
	Promised  float64 `json:"promised"` // the ratio that is promised
	Kept      bool    `json:"kept"`
	Turns     []turn  `json:"turns"`
	Note      string  `json:"note,omitempty"`
}

// turn is one measurement of both, one right after the other. Without a
// yardstick only This is set.
type turn struct {
	This      float64 `json:"this"`
	Yardstick float64 `json:"yardstick,omitempty"`
}

// relative is the line of a figure that is held to a ratio to its yardstick.
func relative(name string, u unit, turns []turn, p promise) row {
	ratios := make([]float64, len(turns))
	this := make([]float64, len(turns))
	other := make([]float64, len(turns))
	for i, t := range turns {
		ratios[i], this[i], other[i] = t.This/t.Yardstick, t.This, t.Yardstick
	}
	r := row{
		Figure: name, Unit: u, This: median(this), Yardstick: median(other), Turns: turns,
		AtMost: p.atMost, Promised: p.bound, Ratio: median(ratios), Low: slices.Min(ratios), High: slices.Max(ratios),
	}
	r.Limit = r.Yardstick * p.bound
	r.Kept = p.keptBy(r.Ratio)
	return r
}

// absolute is the line of a figure that is held to a value. Its ratio is that
// to the limit.
func absolute(name string, u unit, values []float64, p promise) row {
	r := row{
		Figure: name, Unit: u, This: median(values), Limit: p.bound, AtMost: p.atMost, Promised: 1,
	}
	for _, v := range values {
		r.Turns = append(r.Turns, turn{This: v})
	}
	r.Kept = p.keptBy(r.This)
	if p.bound != 0 {
		r.Ratio, r.Low, r.High = r.This/p.bound, slices.Min(values)/p.bound, slices.Max(values)/p.bound
	}
	return r
}

func median(values []float64) float64 { return percentile(values, 0.5) }

// percentile interpolates between the two nearest values.
func percentile(values []float64, p float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	at := p * float64(len(sorted)-1)
	low := int(at)
	if low+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[low] + (at-float64(low))*(sorted[low+1]-sorted[low])
}

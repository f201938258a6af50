package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// table prints lines as they come, and keeps them for the file.
type table struct {
	out     io.Writer
	options options
	began   time.Time
	busy    time.Duration // of the machine since it started, when the run began
	rows    []row
}

func newTable(out io.Writer, o options) *table {
	return &table{out: out, options: o, began: time.Now(), busy: machineBusy()}
}

const (
	lineFormat = "%-46s %14s %16s %7s  %-7s %-14s %s\n"
	lineWidth  = 46 + 1 + 14 + 1 + 16 + 1 + 7
)

// add prints rows; of several that one measurement gave, those that were
// asked for.
func (t *table) add(rows []row, only *regexp.Regexp) {
	if len(t.rows) == 0 {
		fmt.Fprintf(t.out, lineFormat, "figure", "this", "limit", "ratio", "mark", "spread", "promise")
		fmt.Fprintln(t.out, strings.Repeat("-", lineWidth))
	}
	for _, r := range rows {
		if only != nil && !only.MatchString(r.Figure) {
			continue
		}
		t.rows = append(t.rows, r)
		t.print(r)
	}
}

func (t *table) print(r row) {
	mark := "missed"
	if r.Kept {
		mark = "ok"
	}
	sign := "≥ "
	if r.AtMost {
		sign = "≤ "
	}
	promised := sign + r.Unit.format(r.Limit)
	if r.Yardstick != 0 {
		promised = fmt.Sprintf("%s%.2f × %s", sign, r.Promised, r.Unit.format(r.Yardstick))
	}
	if r.Note != "" {
		promised += "; " + r.Note
	}
	spread := ""
	if len(r.Turns) > 1 {
		spread = fmt.Sprintf("%.2f to %.2f", r.Low, r.High)
	}
	fmt.Fprintf(t.out, lineFormat, r.Figure, r.Unit.format(r.This), sign+r.Unit.format(r.Limit),
		fmt.Sprintf("%.2f", r.Ratio), mark, spread, promised)
}

// format prints a value with three digits and a unit that suits it.
func (u unit) format(v float64) string {
	switch u {
	case perSecond:
		return grouped(v) + "/s"
	case seconds:
		for _, step := range []struct {
			from float64
			name string
		}{{1, "s"}, {1e-3, "ms"}, {0, "µs"}} {
			if v >= step.from {
				scale := map[string]float64{"s": 1, "ms": 1e3, "µs": 1e6}[step.name]
				return short(v*scale) + " " + step.name
			}
		}
	case bytes:
		if v >= 1<<20 {
			return short(v/(1<<20)) + " MB"
		}
		return short(v/(1<<10)) + " KB"
	}
	return grouped(v)
}

func short(v float64) string {
	digits := 2
	switch {
	case v >= 100:
		digits = 0
	case v >= 10:
		digits = 1
	}
	return strconv.FormatFloat(v, 'f', digits, 64)
}

// grouped is a whole number with a comma after each third digit.
func grouped(v float64) string {
	text := strconv.FormatInt(int64(math.Round(v)), 10)
	for at := len(text) - 3; at > 0 && text[at-1] != '-'; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// finish says where this was measured, and writes the file. Every process of
// the run must have ended.
func (t *table) finish() error {
	took := time.Since(t.began)
	m := thisMachine()
	m.Others = (machineBusy() - t.busy - ownCPU()).Seconds() / (took.Seconds() * float64(m.Cores))
	fmt.Fprintf(t.out, "\n%s, %s, %s; load generators and servers share the %d cores, of which other processes took %.0f %%.\n%s, %s.\n",
		m.Processor, m.System, m.Go, m.Cores, max(m.Others, 0)*100, t.began.UTC().Format("2006-01-02 15:04 UTC"), took.Round(time.Second))
	if t.options.json == "" {
		return nil
	}
	content, err := json.MarshalIndent(struct {
		At      time.Time `json:"at"`
		Took    float64   `json:"took_s"`
		Short   bool      `json:"short"`
		Machine machine   `json:"machine"`
		Rows    []row     `json:"rows"`
	}{t.began, took.Seconds(), t.options.short, m, t.rows}, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the table: %w", err)
	}
	if err := os.WriteFile(t.options.json, append(content, '\n'), 0o644); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	return nil
}

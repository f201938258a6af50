package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// report says what one run has to say besides its line of the table.
func report(to io.Writer, r *result, logs bool) {
	for _, note := range r.notes {
		fmt.Fprintf(to, "  %s\n", note)
	}
	if r.good() {
		return
	}
	if r.err != nil {
		fmt.Fprintf(to, "  FAILED: %v\n", r.err)
	}
	for _, example := range r.examples {
		fmt.Fprintf(to, "  %s\n", example)
	}
	if logs {
		fmt.Fprintf(to, "  %s\n", strings.Join(r.logs, "\n  "))
	}
}

// table prints all runs. Times are in seconds.
func table(to io.Writer, results []*result) {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "fault\tacked\tunknown\tfailed\treads\twake-ups\t%s\tpause\trecovery\t\n", strings.Join(columnNames[:], "\t"))
	for _, r := range results {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d", r.name, r.writes.acked, r.writes.unknown, r.writes.failed, r.reads, r.wakes)
		for _, n := range r.counts {
			fmt.Fprintf(w, "\t%d", n)
		}
		verdict := "ok"
		if !r.good() {
			verdict = "FAILED"
		}
		fmt.Fprintf(w, "\t%s\t%s\t%s\n", seconds(r.pause), seconds(r.recovery), verdict)
	}
	_ = w.Flush()
}

func seconds(d time.Duration) string {
	if d == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", d.Seconds())
}

package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"signpost/db/localpg/child"
)

// Scripts of wrk: what it asks, and how it reports.
var (
	//go:embed wrk/report.lua
	reportScript string
	//go:embed wrk/lookup.lua
	lookupScript string
	//go:embed wrk/register.lua
	registerScript string
)

// wrkRun is one run of wrk.
type wrkRun struct {
	url         string
	script      string // beside the report; empty: GET the url again and again
	args        []string
	connections int
}

// wrk makes requests for a while. Any answer but 2xx is an error.
func (w *world) wrk(ctx context.Context, r wrkRun, d time.Duration) (load, error) {
	program, err := exec.LookPath("wrk")
	if err != nil {
		return load{}, fmt.Errorf("find wrk: %w", err)
	}
	file := filepath.Join(w.dir, "wrk.lua")
	if err := os.WriteFile(file, []byte(reportScript+r.script), 0o600); err != nil {
		return load{}, fmt.Errorf("write wrk's script: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, d+20*time.Second)
	defer cancel()
	command := []string{program, "-t1", "-c" + strconv.Itoa(r.connections), "-d" + strconv.Itoa(int(d.Seconds())) + "s",
		"--timeout", "10s", "-s", file, r.url, "--"}
	p, err := launch("wrk", child.Kill, false, append(command, r.args...)...)
	if err != nil {
		return load{}, err
	}
	if err := p.finish(ctx); err != nil {
		return load{}, err
	}
	return readWrk(p.output())
}

// wrkReport is the line that wrk/report.lua prints. Times are in µs.
type wrkReport struct {
	Requests, Duration, Bytes             float64
	Connect, Read, Write, Status, Timeout int
	P50                                   float64
}

const reportPrefix = "report "

func readWrk(lines []string) (load, error) {
	for _, line := range lines {
		text, ok := strings.CutPrefix(line, reportPrefix)
		if !ok {
			continue
		}
		var r wrkReport
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			return load{}, fmt.Errorf("read wrk's report %q: %w", text, err)
		}
		if r.Connect+r.Read+r.Write+r.Status+r.Timeout > 0 || r.Requests == 0 {
			return load{}, fmt.Errorf("wrk had failures: %s", text)
		}
		us := float64(time.Microsecond)
		return load{
			answers: int(r.Requests), elapsed: time.Duration(r.Duration * us), size: r.Bytes / r.Requests,
			p50: time.Duration(r.P50 * us),
		}, nil
	}
	return load{}, fmt.Errorf("wrk gave no report: %s", strings.Join(lines, "; "))
}

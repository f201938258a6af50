package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"signpost/db/localpg/child"
)

// questions writes a file of questions for dnsperf, one for each service of
// the catalog, and gives its name.
func (w *world) questions(services int) (string, error) {
	var b strings.Builder
	for service := range services {
		fmt.Fprintf(&b, "%s.query.signpost A\n", serviceName(service))
	}
	file := filepath.Join(w.dir, fmt.Sprintf("questions-%d", services))
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		return "", fmt.Errorf("write questions: %w", err)
	}
	return file, nil
}

// dnsperf asks for a while, with EDNS, from several sockets.
func (w *world) dnsperf(ctx context.Context, transport, address, questions string, d time.Duration) (load, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return load{}, fmt.Errorf("read address %q: %w", address, err)
	}
	program, err := exec.LookPath("dnsperf")
	if err != nil {
		return load{}, fmt.Errorf("find dnsperf: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, d+20*time.Second)
	defer cancel()
	p, err := launch("dnsperf", child.Kill, false, program, "-e", "-m", transport, "-s", host, "-p", port, "-d", questions,
		"-l", strconv.Itoa(int(d.Seconds())), "-c", "32", "-T", "2", "-q", "500", "-t", "1")
	if err != nil {
		return load{}, err
	}
	if err := p.finish(ctx); err != nil {
		return load{}, err
	}
	return readDNSPerf(strings.Join(p.output(), "\n"))
}

var (
	completed = regexp.MustCompile(`Queries completed:\s+(\d+)`)
	lost      = regexp.MustCompile(`Queries lost:\s+(\d+)`)
	runTime   = regexp.MustCompile(`Run time \(s\):\s+([\d.]+)`)
	rcodes    = regexp.MustCompile(`Response codes:\s+(.*)`)
	noError   = regexp.MustCompile(`^NOERROR \d+ \(100\.00%\)$`)
	sizes     = regexp.MustCompile(`Average packet size:\s+request \d+, response (\d+)`)
)

// readDNSPerf takes the numbers from a report. An answer that is not NOERROR
// is an error: then something else was measured than was meant.
func readDNSPerf(report string) (load, error) {
	var l load
	number := func(re *regexp.Regexp) float64 {
		match := re.FindStringSubmatch(report)
		if match == nil {
			return -1
		}
		n, err := strconv.ParseFloat(match[1], 64)
		if err != nil {
			return -1
		}
		return n
	}
	l.answers, l.lost = int(number(completed)), int(number(lost))
	l.elapsed = time.Duration(number(runTime) * float64(time.Second))
	l.size = number(sizes)
	if l.answers <= 0 || l.lost < 0 || l.elapsed <= 0 || l.size <= 0 {
		return load{}, fmt.Errorf("dnsperf's report cannot be read, or has no answers: %s", report)
	}
	if codes := rcodes.FindStringSubmatch(report); codes == nil || !noError.MatchString(strings.TrimSpace(codes[1])) {
		return load{}, fmt.Errorf("dnsperf got other answers than NOERROR: %q", codes)
	}
	return l, nil
}

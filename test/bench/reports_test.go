package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const dnsperfReport = `Statistics:

  Queries sent:         146100
  Queries completed:    146098 (100.00%)
  Queries lost:         2 (0.00%)

  Response codes:       NOERROR 146098 (100.00%)
  Average packet size:  request 52, response 213
  Run time (s):         3.000500
  Queries per second:   48691.218130`

func TestDNSPerfReportIsRead(t *testing.T) {
	t.Parallel()
	l, err := readDNSPerf(dnsperfReport)
	require.NoError(t, err)
	require.Equal(t, 146098, l.answers)
	require.Equal(t, 2, l.lost)
	require.InDelta(t, 213, l.size, 0)
	require.InDelta(t, 48691.2, l.rate(), 0.1)
}

func TestAnswersThatWereNotMeantAreRefused(t *testing.T) {
	t.Parallel()
	for name, report := range map[string]string{
		"no such name":     strings.Replace(dnsperfReport, "NOERROR 146098 (100.00%)", "NXDOMAIN 146098 (100.00%)", 1),
		"some of them":     strings.Replace(dnsperfReport, "NOERROR 146098 (100.00%)", "NOERROR 146000 (99.93%), SERVFAIL 98 (0.07%)", 1),
		"no answer at all": strings.Replace(dnsperfReport, "completed:    146098", "completed:    0", 1),
		"no report at all": "Error: unable to connect",
		"a part of a line": strings.Replace(dnsperfReport, "Run time (s):         3.000500", "Run time (s):", 1),
	} {
		_, err := readDNSPerf(report)
		require.Error(t, err, name)
	}
}

func TestWrkReportIsRead(t *testing.T) {
	t.Parallel()
	const report = `report {"Requests":2000,"Duration":2000000,"Bytes":480000,"Connect":0,"Read":0,"Write":0,"Status":0,"Timeout":0,"P50":1234.0}`
	l, err := readWrk([]string{"Running 2s test", report})
	require.NoError(t, err)
	require.InDelta(t, 1000, l.rate(), 1e-6)
	require.InDelta(t, 240, l.size, 1e-6)
	require.Equal(t, 1234*time.Microsecond, l.p50)

	_, err = readWrk([]string{strings.Replace(report, `"Status":0`, `"Status":1`, 1)})
	require.ErrorContains(t, err, "failures")
	_, err = readWrk([]string{"unable to connect"})
	require.ErrorContains(t, err, "no report")
}

func TestCPUTimeOfAProcessGrowsWithItsWork(t *testing.T) {
	t.Parallel()
	before, err := usageOf(os.Getpid())
	require.NoError(t, err)
	require.Equal(t, os.Getppid(), before.parent)
	deadline := time.Now().Add(10 * time.Second)
	for time.Now().Before(deadline) {
		now, err := usageOf(os.Getpid())
		require.NoError(t, err)
		if now.cpu > before.cpu {
			return
		}
	}
	t.Fatal("ten seconds of work took no CPU time")
}

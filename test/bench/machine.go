package main

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// machine is where a table comes from.
type machine struct {
	Processor string  `json:"processor"`
	Cores     int     `json:"cores"`
	System    string  `json:"system"`
	Go        string  `json:"go"`
	Others    float64 `json:"others"` // the share of all cores that other processes took during the run
}

func thisMachine() machine {
	m := machine{Processor: runtime.GOARCH, Cores: runtime.NumCPU(), System: runtime.GOOS, Go: runtime.Version()}
	if content, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if _, rest, ok := strings.Cut(string(content), "model name"); ok {
			line, _, _ := strings.Cut(rest, "\n")
			m.Processor = strings.TrimSpace(strings.TrimLeft(line, "\t: "))
		}
	}
	if content, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.System += " " + strings.TrimSpace(string(content))
	}
	return m
}

// machineBusy is the time that all cores together were busy since the machine
// started; 0 where the system does not tell. Source: proc(5), /proc/stat.
func machineBusy() time.Duration {
	content, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(content), "\n")
	var busy int64
	for i, field := range strings.Fields(line) {
		const idle, waiting, guest = 4, 5, 9 // guest time is part of user time
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil || i == idle || i == waiting || i >= guest {
			continue
		}
		busy += n
	}
	return time.Duration(busy) * clockTick
}

// ownCPU is the CPU time of this program and of all that it started, if that
// has ended.
func ownCPU() time.Duration {
	var sum time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil {
			sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return sum
}

package testdb

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// childrenOf lists the processes that pid has started, from /proc, or by ps where there is none.
func childrenOf(pid int) ([]int, error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(stats) == 0 {
		return childrenByPS(pid)
	}
	var children []int
	for _, name := range stats {
		content, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		// "pid (name) state parent …", where the name may hold anything.
		fields := bytes.Fields(content[bytes.LastIndexByte(content, ')')+1:])
		if len(fields) < 2 || string(fields[1]) != strconv.Itoa(pid) {
			continue
		}
		child, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err != nil {
			return nil, err
		}
		children = append(children, child)
	}
	return children, nil
}

func childrenByPS(pid int) ([]int, error) {
	out, err := exec.Command("ps", "-A", "-o", "pid=,ppid=").Output()
	if err != nil {
		return nil, fmt.Errorf("ps: %w", err)
	}
	var children []int
	for line := range bytes.Lines(out) {
		fields := bytes.Fields(line)
		if len(fields) != 2 || string(fields[1]) != strconv.Itoa(pid) {
			continue
		}
		child, err := strconv.Atoi(string(fields[0]))
		if err != nil {
			return nil, err
		}
		children = append(children, child)
	}
	return children, nil
}

package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// someone is a process, told apart from a later one with the same number by
// the time it was started.
type someone struct {
	pid     int
	name    string
	started string
}

// stat reads /proc/pid/stat: "pid (name) state parent …", where the name may
// hold anything.
func stat(pid int) (s someone, parent int, alive bool) {
	content, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return someone{}, 0, false
	}
	open, end := strings.IndexByte(string(content), '('), strings.LastIndexByte(string(content), ')')
	fields := strings.Fields(string(content[end+1:]))
	parent, _ = strconv.Atoi(fields[1])
	return someone{pid, string(content[open+1 : end]), fields[19]}, parent, fields[0] != "Z"
}

// descendants are the processes that pid has started, and those they did.
func descendants(t testing.TB, pid int) []someone {
	t.Helper()
	folders, err := filepath.Glob("/proc/[0-9]*")
	require.NoError(t, err)
	require.NotEmpty(t, folders, "these tests need /proc")
	children := map[int][]someone{}
	for _, folder := range folders {
		child, err := strconv.Atoi(filepath.Base(folder))
		require.NoError(t, err)
		if s, parent, alive := stat(child); alive {
			children[parent] = append(children[parent], s)
		}
	}
	var all []someone
	for next := []int{pid}; len(next) > 0; next = next[1:] {
		for _, child := range children[next[0]] {
			all = append(all, child)
			next = append(next, child.pid)
		}
	}
	return all
}

// postgresOf lists what the process runs, which must contain a Postgres.
func (p *process) postgresOf() []someone {
	p.t.Helper()
	all := descendants(p.t, p.cmd.Process.Pid)
	found := false
	for _, s := range all {
		found = found || s.name == "postgres"
	}
	require.True(p.t, found, "no postgres among %v", all)
	return all
}

// gone waits until none of them is there.
func gone(t testing.TB, limit time.Duration, all []someone) {
	t.Helper()
	within(t, limit, "its processes have ended", func() bool {
		for _, s := range all {
			if now, _, alive := stat(s.pid); alive && now == s {
				return false
			}
		}
		return true
	})
}

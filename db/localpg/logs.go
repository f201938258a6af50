package localpg

import (
	"log/slog"
	"strings"
	"sync"
)

// logs hands the server's own messages on and keeps the last ones, for the error of a start that failed.
type logs struct {
	to *slog.Logger

	mu    sync.Mutex
	fatal string   // the last message that tells why a program gave up
	last  []string // at most keptLines
}

const keptLines = 5

// write takes one line. Clients' errors are theirs to report, so that only a panic of the server is louder than
// debug.
func (l *logs) write(line string) {
	if strings.Contains(line, "PANIC:") {
		l.to.Error("private postgres", "message", line)
	} else {
		l.to.Debug("private postgres", "message", line)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if givesUp(line) {
		l.fatal = line
	}
	l.last = append(l.last, line)
	if len(l.last) > keptLines {
		l.last = l.last[1:]
	}
}

// givesUp recognises the last word of postgres and of initdb. A client that asks too early gets a FATAL too.
func givesUp(line string) bool {
	if strings.Contains(line, "the database system is ") {
		return false
	}
	return strings.Contains(line, "FATAL:") || strings.Contains(line, "PANIC:") || strings.HasPrefix(line, "initdb: error:")
}

// forget drops what was said by a program that ended well.
func (l *logs) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fatal, l.last = "", nil
}

// reason is one line that says why the program ended.
func (l *logs) reason() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fatal != "" {
		return l.fatal
	}
	if len(l.last) == 0 {
		return "it wrote nothing"
	}
	return strings.Join(l.last, "; ")
}

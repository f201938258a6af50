package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Fault is one thing wrong with the configuration. Its text is one line,
// "place: key: problem"; place or key are left out where they are empty.
type Fault struct {
	Place   string // "file.hcl:12", "SIGNPOST_DNS", "--dns", or empty
	Key     string // "dns_config.node_ttl", or empty
	Problem string
}

// Error gives the fault as one line.
func (f *Fault) Error() string {
	parts := make([]string, 0, 3)
	for _, part := range []string{f.Place, f.Key, f.Problem} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ": ")
}

// place says where a value was written: a file and a line, or the name of an
// environment variable or flag with line 0.
type place struct {
	source string
	line   int
}

func (p place) String() string {
	if p.line == 0 {
		return p.source
	}
	return p.source + ":" + strconv.Itoa(p.line)
}

// faults collects Faults in the order in which they are found.
type faults []error

func (f *faults) add(at place, key, format string, args ...any) {
	*f = append(*f, &Fault{Place: at.String(), Key: key, Problem: fmt.Sprintf(format, args...)})
}

// have tells whether there is a fault of the key.
func (f *faults) have(key string) bool {
	for _, err := range *f {
		var fault *Fault
		if errors.As(err, &fault) && fault.Key == key {
			return true
		}
	}
	return false
}

// joined returns all faults as one error, nil if there are none.
func (f faults) joined() error { return errors.Join(f...) }

// shown quotes outside text for a fault, shortened to stay readable.
func shown(text string) string {
	const longest = 64
	runes := []rune(text)
	if len(runes) > longest {
		text = string(runes[:longest]) + "…"
	}
	return strconv.Quote(text)
}

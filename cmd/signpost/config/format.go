package config

import (
	"fmt"
	"log/slog"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

// format gives a field as text that parse accepts; secrets are redacted, and
// an empty field is the empty text.
func format(target any) string {
	switch t := target.(type) {
	case *string:
		return *t
	case *bool:
		return strconv.FormatBool(*t)
	case *int:
		return strconv.Itoa(*t)
	case *Seconds:
		return strconv.FormatUint(uint64(*t), 10)
	case *float64:
		return strconv.FormatFloat(*t, 'f', -1, 64)
	case *time.Duration:
		return formatDuration(*t)
	case *slog.Level:
		return strings.ToLower(t.String())
	case *[]string:
		return strings.Join(*t, ",")
	case *[]netip.Prefix:
		return formatPrefixes(*t)
	case *map[string]time.Duration:
		return formatPairs(*t)
	case *map[string]Peer:
		return strings.Join(slices.Sorted(maps.Keys(*t)), ",")
	case fmt.Stringer: // the secrets
		return t.String()
	default:
		panic(fmt.Sprintf("config: no text for a field of type %T", target))
	}
}

// formatDuration leaves out the zero minutes and seconds at the end.
func formatDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func formatPrefixes(prefixes []netip.Prefix) string {
	items := make([]string, 0, len(prefixes))
	for _, prefix := range prefixes {
		items = append(items, prefix.String())
	}
	return strings.Join(items, ",")
}

func formatPairs(pairs map[string]time.Duration) string {
	items := make([]string, 0, len(pairs))
	for _, name := range slices.Sorted(maps.Keys(pairs)) {
		items = append(items, name+"="+formatDuration(pairs[name]))
	}
	return strings.Join(items, ",")
}

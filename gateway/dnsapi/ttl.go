package dnsapi

import (
	"slices"
	"strings"
	"time"

	"signpost/resolver/catalog"
)

// serviceTTLs finds the TTL of a service by its name without case.
// Source: reference, DNS, section 4.
type serviceTTLs struct {
	exact    map[string]uint32
	prefixes []prefixTTL // the longest first
}

type prefixTTL struct {
	prefix string
	ttl    uint32
}

func newServiceTTLs(settings map[string]time.Duration) serviceTTLs {
	t := serviceTTLs{exact: map[string]uint32{}}
	for name, d := range settings {
		name = catalog.Fold(name)
		if prefix, ok := strings.CutSuffix(name, "*"); ok {
			t.prefixes = append(t.prefixes, prefixTTL{prefix, seconds(d)})
		} else {
			t.exact[name] = seconds(d)
		}
	}
	slices.SortFunc(t.prefixes, func(a, b prefixTTL) int { return len(b.prefix) - len(a.prefix) })
	return t
}

func (t *serviceTTLs) of(service string) uint32 {
	if len(t.exact) == 0 && len(t.prefixes) == 0 {
		return 0
	}
	service = catalog.Fold(service)
	if ttl, ok := t.exact[service]; ok {
		return ttl
	}
	for _, p := range t.prefixes {
		if strings.HasPrefix(service, p.prefix) {
			return p.ttl
		}
	}
	return 0
}

// seconds leaves fractions out, and holds to what a TTL can be.
func seconds(d time.Duration) uint32 {
	return uint32(min(max(d, 0), maxTTL) / time.Second)
}

package config

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

const (
	maxTTL      = math.MaxInt32 // seconds, RFC 2181 section 8
	minDatagram = 512           // bytes, RFC 1035 section 4.2.1
	maxDatagram = 65467         // bytes of a reply over udp (reference, DNS, section 7)
)

func (c *Config) validateDNS(found *faults) {
	ttl := func(key string, d time.Duration) {
		if d < 0 || d > maxTTL*time.Second {
			found.add(place{}, key, "%s is not between 0s and %ds", d, maxTTL)
		}
	}
	notNegative := func(key string, d time.Duration) {
		if d < 0 {
			found.add(place{}, key, "%s is negative", d)
		}
	}
	number := func(key string, n, low, high int) {
		if n < low || n > high {
			found.add(place{}, key, "%d is not between %d and %d", n, low, high)
		}
	}
	dns := &c.DNS
	ttl("dns_config.node_ttl", dns.NodeTTL)
	for _, name := range slices.Sorted(maps.Keys(dns.ServiceTTL)) {
		key := "dns_config.service_ttl." + name
		ttl(key, dns.ServiceTTL[name])
		if name == "" || strings.Contains(strings.TrimSuffix(name, "*"), "*") {
			found.add(place{}, key, "%s is not a name, or the beginning of one with * at its end", shown(name))
		}
	}
	number("dns_config.udp_answer_limit", dns.UDPAnswerLimit, 0, math.MaxUint16)
	number("dns_config.a_record_limit", dns.ARecordLimit, 0, math.MaxUint16)
	number("dns_config.udp_max_size", dns.UDPMaxSize, minDatagram, maxDatagram)
	notNegative("dns_config.max_stale", dns.MaxStale)
	notNegative("dns_config.cache_max_age", dns.CacheMaxAge)
	notNegative("dns_config.recursor_timeout", dns.RecursorTimeout)
	for _, f := range []struct {
		key   string
		value Seconds
	}{
		{"dns_config.soa.refresh", dns.SOA.Refresh},
		{"dns_config.soa.retry", dns.SOA.Retry},
		{"dns_config.soa.expire", dns.SOA.Expire},
		{"dns_config.soa.min_ttl", dns.SOA.MinTTL},
	} {
		if f.value > maxTTL {
			found.add(place{}, f.key, "%d is more than %d", f.value, maxTTL)
		}
	}
}

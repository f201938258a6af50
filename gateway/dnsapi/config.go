package dnsapi

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// Config are the settings of the door. Zero values mean the defaults.
// Source: reference, DNS, sections 4, 6 and 7.
type Config struct {
	Domain    string // the zone; default: that of the gateway
	AltDomain string // a second zone with the same names; empty: none

	OnlyPassing bool          // service lookups leave out what is not passing
	NodeTTL     time.Duration // of node and address records
	// ServiceTTL is by the exact service name, or by "prefix*", of which the
	// longest counts, "*" being the shortest. What matches nothing has 0.
	ServiceTTL map[string]time.Duration

	UDPAnswerLimit     int  // answers to askers without EDNS, 8 at most; default 3
	ARecordLimit       int  // address records in any answer; 0: no limit
	UDPMaxSize         int  // bytes of an answer over udp to askers with EDNS; default 1232
	EnableTruncate     bool // say TC when answers were left out
	DisableCompression bool
	NoNodeMetaTXT      bool // leave node metadata out of the additional section

	SOA SOA

	// MaxConnections over tcp at a time; what comes on top is closed. Default 1024.
	MaxConnections int
}

// SOA are the timers in the SOA record. Default 1h, 10m, 24h, 0.
type SOA struct {
	Refresh time.Duration
	Retry   time.Duration
	Expire  time.Duration
	MinTTL  time.Duration // how long negative answers may be kept
}

const (
	minUDPSize = dns.MinMsgSize // 512, RFC 1035 section 4.2.1
	maxUDPSize = 65467          // reference, DNS, section 7
	maxDomain  = 180            // bytes; a name has 255
	maxTTL     = math.MaxInt32 * time.Second
)

func (c Config) withDefaults(domain string) Config {
	number := func(n *int, v int) {
		if *n == 0 {
			*n = v
		}
	}
	duration := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	if c.Domain == "" {
		c.Domain = domain
	}
	number(&c.UDPAnswerLimit, 3)
	number(&c.UDPMaxSize, 1232)
	number(&c.MaxConnections, 1024)
	duration(&c.SOA.Refresh, time.Hour)
	duration(&c.SOA.Retry, 10*time.Minute)
	duration(&c.SOA.Expire, 24*time.Hour)
	return c
}

// Validate tells all that is wrong with the settings.
func (c Config) Validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	for key, domain := range map[string]string{"domain": c.Domain, "alt_domain": c.AltDomain} {
		if domain != "" && !isHostName(domain) {
			fault("%s: %q is not a domain name", key, domain)
		}
		if len(domain) > maxDomain {
			fault("%s: %d bytes are too long, there is no room for names below it (limit: %d)", key, len(domain), maxDomain)
		}
	}
	if c.AltDomain != "" && zoneName(c.AltDomain) == zoneName(c.Domain) {
		fault("alt_domain: it is the domain itself")
	}
	ttl := func(key string, d time.Duration) {
		if d < 0 || d > maxTTL {
			fault("%s: %s is not between 0s and %s", key, d, maxTTL)
		}
	}
	ttl("node_ttl", c.NodeTTL)
	for name, d := range c.ServiceTTL {
		ttl("service_ttl."+name, d)
		if name == "" || strings.Contains(strings.TrimSuffix(name, "*"), "*") {
			fault("service_ttl: %q is neither a name nor the beginning of one with * at its end", name)
		}
	}
	ttl("soa.refresh", c.SOA.Refresh)
	ttl("soa.retry", c.SOA.Retry)
	ttl("soa.expire", c.SOA.Expire)
	ttl("soa.min_ttl", c.SOA.MinTTL)
	if c.UDPAnswerLimit < 0 {
		fault("udp_answer_limit: %d is negative", c.UDPAnswerLimit)
	}
	if c.ARecordLimit < 0 {
		fault("a_record_limit: %d is negative", c.ARecordLimit)
	}
	if c.UDPMaxSize != 0 && (c.UDPMaxSize < minUDPSize || c.UDPMaxSize > maxUDPSize) {
		fault("udp_max_size: %d is not between %d and %d", c.UDPMaxSize, minUDPSize, maxUDPSize)
	}
	if c.MaxConnections < 0 {
		fault("max_connections: %d is negative", c.MaxConnections)
	}
	return errors.Join(faults...)
}

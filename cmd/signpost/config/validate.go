package config

import (
	"maps"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"signpost/ratelimit"
)

const (
	maxDomain   = 200 // bytes; leaves room in a DNS name for what stands before
	maxNodeName = 255 // bytes
)

var (
	datacenterName = regexp.MustCompile(`^[a-z0-9_-]{1,63}$`)
	domainLabel    = regexp.MustCompile(`^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$`)
)

// Validate reports everything that a gateway could not run with, as *Fault
// joined, without places. Names must already be in lower case, as Load makes
// them.
func (c Config) Validate() error {
	var found faults
	c.validate(&found)
	return found.joined()
}

func (c *Config) validate(found *faults) {
	c.validateNames(found)
	c.validateAddresses(found)
	c.validateStores(found)
	c.validateChoices(found)
	c.validateDNS(found)
	c.checkUnsupported(found)
}

func (c *Config) validateNames(found *faults) {
	if !datacenterName.MatchString(c.Datacenter) {
		found.add(place{}, "datacenter", "%s is not 1 to 63 letters, digits, - or _", shown(c.Datacenter))
	}
	if !isDomain(c.Domain) {
		found.add(place{}, "domain", "%s is not a DNS name", shown(c.Domain))
	}
	if c.AltDomain != "" && !isDomain(c.AltDomain) {
		found.add(place{}, "alt_domain", "%s is not a DNS name", shown(c.AltDomain))
	}
	if name := c.NodeName; strings.TrimSpace(name) == "" || len(name) > maxNodeName ||
		!utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		found.add(place{}, "node_name", "%s is not 1 to %d bytes of printable text", shown(name), maxNodeName)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Federation)) {
		if !datacenterName.MatchString(name) {
			found.add(place{}, "federation."+name, "%s is not a datacenter's name", shown(name))
		}
	}
}

func isDomain(s string) bool {
	if s == "" || len(s) > maxDomain {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if !domainLabel.MatchString(label) {
			return false
		}
	}
	return true
}

func (c *Config) validateAddresses(found *faults) {
	check := func(key, address string) {
		if !isAddress(address) {
			found.add(place{}, key, "%s is not host:port", shown(address))
		}
	}
	check("addresses.http", c.Addresses.HTTP)
	check("addresses.dns", c.Addresses.DNS)
	if c.Addresses.HTTPS != "" {
		check("addresses.https", c.Addresses.HTTPS)
	}
}

func isAddress(s string) bool {
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		return false
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return false
	}
	return host == "" || isIP(host) || isDomain(strings.ToLower(host))
}

func isIP(s string) bool {
	_, err := netip.ParseAddr(s)
	return err == nil
}

// validateStores does not quote the URLs, nor what the parser says of them:
// both would show a password with characters that should have been escaped.
func (c *Config) validateStores(found *faults) {
	const escape = "(special characters in the password must be percent-encoded)"
	if u := c.Postgres.URL; u != "" && !isPostgres(string(u)) {
		found.add(place{}, "postgres.url", "not a postgres:// URL %s", escape)
	}
	if u := c.Postgres.DirectURL; u != "" && !isPostgres(string(u)) {
		found.add(place{}, "postgres.direct_url", "not a postgres:// URL %s", escape)
	}
	if c.Postgres.MaxStale < time.Second {
		found.add(place{}, "postgres.max_stale", "%s is less than 1s", c.Postgres.MaxStale)
	}
	if u := c.Redis.URL; u != "" && !hasScheme(string(u), "redis", "rediss", "unix") {
		found.add(place{}, "redis.url", "not a redis://, rediss:// or unix:// URL %s", escape)
	}
}

// isPostgres accepts both forms of a connection string: URL and key=value.
func isPostgres(s string) bool {
	if strings.Contains(s, "://") {
		return hasScheme(s, "postgres", "postgresql")
	}
	return strings.Contains(s, "=")
}

func hasScheme(s string, schemes ...string) bool {
	u, err := url.Parse(s)
	return err == nil && slices.Contains(schemes, u.Scheme)
}

func (c *Config) validateChoices(found *faults) {
	check := func(key, value string, choices ...string) {
		if !slices.Contains(choices, value) {
			found.add(place{}, key, "%s is not one of %s", shown(value), strings.Join(choices, ", "))
		}
	}
	check("acl.default_policy", c.ACL.DefaultPolicy, "allow", "deny")
	check("limits.rate_limit.mode", c.Limits.RateLimit.Mode, ratelimit.Disabled, ratelimit.Permissive, ratelimit.Enforcing)
	check("limits.rate_limit.scope", c.Limits.RateLimit.Scope, ratelimit.Server, ratelimit.Cluster)
	check("dns_config.recursor_strategy", c.DNS.RecursorStrategy, "sequential", "random")
}

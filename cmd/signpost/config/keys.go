package config

import "strings"

// key joins a name in the files with the field that it sets.
type key struct {
	name  string
	field func(*Config) any // a pointer of one of the types that value.go knows
}

// keys is every key there is, in the order of docs/configuration.md. Decoder,
// environment, flags, printing and the test of the document all walk it.
var keys = []key{
	{"datacenter", func(c *Config) any { return &c.Datacenter }},
	{"domain", func(c *Config) any { return &c.Domain }},
	{"alt_domain", func(c *Config) any { return &c.AltDomain }},
	{"node_name", func(c *Config) any { return &c.NodeName }},
	{"log_level", func(c *Config) any { return &c.LogLevel }},
	{"data_dir", func(c *Config) any { return &c.DataDir }},
	{"trusted_proxies", func(c *Config) any { return &c.TrustedProxies }},
	{"compat_headers", func(c *Config) any { return &c.CompatHeaders }},
	{"translate_wan_addrs", func(c *Config) any { return &c.TranslateWANAddrs }},
	{"recursors", func(c *Config) any { return &c.Recursors }},
	{"addresses.http", func(c *Config) any { return &c.Addresses.HTTP }},
	{"addresses.https", func(c *Config) any { return &c.Addresses.HTTPS }},
	{"addresses.dns", func(c *Config) any { return &c.Addresses.DNS }},
	{"postgres.url", func(c *Config) any { return &c.Postgres.URL }},
	{"postgres.direct_url", func(c *Config) any { return &c.Postgres.DirectURL }},
	{"postgres.max_stale", func(c *Config) any { return &c.Postgres.MaxStale }},
	{"redis.url", func(c *Config) any { return &c.Redis.URL }},
	{"acl.enabled", func(c *Config) any { return &c.ACL.Enabled }},
	{"acl.default_policy", func(c *Config) any { return &c.ACL.DefaultPolicy }},
	{"acl.tokens.initial_management", func(c *Config) any { return &c.ACL.Tokens.InitialManagement }},
	{"acl.tokens.dns", func(c *Config) any { return &c.ACL.Tokens.DNS }},
	{"limits.rate_limit.mode", func(c *Config) any { return &c.Limits.RateLimit.Mode }},
	{"limits.rate_limit.read_rate", func(c *Config) any { return &c.Limits.RateLimit.ReadRate }},
	{"limits.rate_limit.write_rate", func(c *Config) any { return &c.Limits.RateLimit.WriteRate }},
	{"limits.rate_limit.scope", func(c *Config) any { return &c.Limits.RateLimit.Scope }},
	{"dns_config.only_passing", func(c *Config) any { return &c.DNS.OnlyPassing }},
	{"dns_config.node_ttl", func(c *Config) any { return &c.DNS.NodeTTL }},
	{"dns_config.service_ttl", func(c *Config) any { return &c.DNS.ServiceTTL }},
	{"dns_config.udp_answer_limit", func(c *Config) any { return &c.DNS.UDPAnswerLimit }},
	{"dns_config.a_record_limit", func(c *Config) any { return &c.DNS.ARecordLimit }},
	{"dns_config.enable_truncate", func(c *Config) any { return &c.DNS.EnableTruncate }},
	{"dns_config.disable_compression", func(c *Config) any { return &c.DNS.DisableCompression }},
	{"dns_config.enable_additional_node_meta_txt", func(c *Config) any { return &c.DNS.NodeMetaTXT }},
	{"dns_config.udp_max_size", func(c *Config) any { return &c.DNS.UDPMaxSize }},
	{"dns_config.soa.refresh", func(c *Config) any { return &c.DNS.SOA.Refresh }},
	{"dns_config.soa.retry", func(c *Config) any { return &c.DNS.SOA.Retry }},
	{"dns_config.soa.expire", func(c *Config) any { return &c.DNS.SOA.Expire }},
	{"dns_config.soa.min_ttl", func(c *Config) any { return &c.DNS.SOA.MinTTL }},
	{"dns_config.allow_stale", func(c *Config) any { return &c.DNS.AllowStale }},
	{"dns_config.max_stale", func(c *Config) any { return &c.DNS.MaxStale }},
	{"dns_config.use_cache", func(c *Config) any { return &c.DNS.UseCache }},
	{"dns_config.cache_max_age", func(c *Config) any { return &c.DNS.CacheMaxAge }},
	{"dns_config.recursor_strategy", func(c *Config) any { return &c.DNS.RecursorStrategy }},
	{"dns_config.recursor_timeout", func(c *Config) any { return &c.DNS.RecursorTimeout }},
	{"federation", func(c *Config) any { return &c.Federation }},
}

// Limits have two names for one block; the first is the one in faults.
const (
	rateLimit     = "limits.rate_limit"
	requestLimits = "limits.request_limits"
)

// findKey gives the key of that full name.
func findKey(name string) (key, bool) {
	for _, k := range keys {
		if k.name == name {
			return k, true
		}
	}
	return key{}, false
}

// children lists the names that may stand directly in a block; the empty
// prefix is the top of a file. No names mean that there is no such block.
func children(block string) []string {
	var names []string
	for _, k := range keys {
		rest, inside := strings.CutPrefix(k.name, block+".")
		if block == "" {
			rest, inside = k.name, true
		}
		name, _, _ := strings.Cut(rest, ".")
		if inside && (len(names) == 0 || names[len(names)-1] != name) {
			names = append(names, name)
		}
	}
	if block == "limits" {
		names = append(names, "request_limits")
	}
	return names
}

// join puts a name into a block.
func join(block, name string) string {
	if block == "" {
		return name
	}
	return block + "." + name
}

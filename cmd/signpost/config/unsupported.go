package config

// unsupported names the keys whose feature this version does not have. They
// are known and checked, but must stay at their defaults, which is "off": a
// setting that would do nothing is refused instead of ignored. Whoever builds
// a feature deletes its lines here, and the mark in docs/configuration.md.
var unsupported = []string{
	"trusted_proxies",
	"translate_wan_addrs",
	"recursors",
	"addresses.https",
	"redis.url",
	"acl.enabled",
	"acl.default_policy",
	"acl.tokens.initial_management",
	"acl.tokens.dns",
	"limits.rate_limit.mode",
	"limits.rate_limit.read_rate",
	"limits.rate_limit.write_rate",
	"limits.rate_limit.scope",
	"dns_config.allow_stale",
	"dns_config.max_stale",
	"dns_config.use_cache",
	"dns_config.cache_max_age",
	"dns_config.recursor_strategy",
	"dns_config.recursor_timeout",
	"federation",
}

// checkUnsupported reports every key of the table that is not at its default,
// but for those with another fault.
func (c *Config) checkUnsupported(found *faults) {
	defaults := Default()
	for _, name := range unsupported {
		k, _ := findKey(name) // a test holds that every name is a key
		value := format(k.field(c))
		if value == format(k.field(&defaults)) || found.have(name) {
			continue
		}
		if isSecret(k.field(c)) {
			value = "a value"
		} else {
			value = shown(value)
		}
		found.add(place{}, name, "%s is not supported by this version", value)
	}
}

package config

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sample is one value of a key that is not its default, as each source writes it.
type sample struct{ literal, variable, want string }

// samples has one line for every key.
var samples = map[string]sample{
	"datacenter":                                 {`"Berlin-1"`, "Berlin-1", "berlin-1"},
	"domain":                                     {`"Svc.Example."`, "Svc.Example.", "svc.example"},
	"alt_domain":                                 {`"Alt."`, "Alt.", "alt"},
	"node_name":                                  {`"Gate 1"`, "Gate 1", "Gate 1"},
	"log_level":                                  {`"WARN"`, "WARN", "warn"},
	"data_dir":                                   {`"/var/lib/x"`, "/var/lib/x", "/var/lib/x"},
	"trusted_proxies":                            {`["10.1.2.3/8", "::1"]`, "10.1.2.3/8, ::1", "10.0.0.0/8,::1/128"},
	"compat_headers":                             {`false`, "false", "false"},
	"translate_wan_addrs":                        {`true`, "true", "true"},
	"recursors":                                  {`["9.9.9.9"]`, "9.9.9.9", "9.9.9.9"},
	"addresses.http":                             {`":80"`, ":80", ":80"},
	"addresses.https":                            {`"[::1]:443"`, "[::1]:443", "[::1]:443"},
	"addresses.dns":                              {`"localhost:53"`, "localhost:53", "localhost:53"},
	"postgres.url":                               {`"postgres://u@h/d"`, "postgres://u@h/d", "postgres://u@h/d"},
	"postgres.direct_url":                        {`"host=h user=u"`, "host=h user=u", "(redacted)"},
	"postgres.max_stale":                         {`"90m"`, "90m", "1h30m"},
	"redis.url":                                  {`"redis://h:1"`, "redis://h:1", "redis://h:1"},
	"acl.enabled":                                {`true`, "true", "true"},
	"acl.default_policy":                         {`"deny"`, "deny", "deny"},
	"acl.tokens.initial_management":              {`"s"`, "s", "(redacted)"},
	"acl.tokens.dns":                             {`"s"`, "s", "(redacted)"},
	"limits.rate_limit.mode":                     {`"enforcing"`, "enforcing", "enforcing"},
	"limits.rate_limit.read_rate":                {`2.5`, "2.5", "2.5"},
	"limits.rate_limit.write_rate":               {`"1e3"`, "1e3", "1000"},
	"limits.rate_limit.scope":                    {`"cluster"`, "cluster", "cluster"},
	"dns_config.only_passing":                    {`"true"`, "true", "true"},
	"dns_config.node_ttl":                        {`"1500ms"`, "1500ms", "1.5s"},
	"dns_config.service_ttl":                     {`{"*": "5s", "web": "1h"}`, "*=5s,web=1h", "*=5s,web=1h"},
	"dns_config.udp_answer_limit":                {`8`, "8", "8"},
	"dns_config.a_record_limit":                  {`"4"`, "4", "4"},
	"dns_config.enable_truncate":                 {`true`, "true", "true"},
	"dns_config.disable_compression":             {`true`, "true", "true"},
	"dns_config.enable_additional_node_meta_txt": {`false`, "false", "false"},
	"dns_config.udp_max_size":                    {`4096`, "4096", "4096"},
	"dns_config.soa.refresh":                     {`1`, "1", "1"},
	"dns_config.soa.retry":                       {`2`, "2", "2"},
	"dns_config.soa.expire":                      {`3`, "3", "3"},
	"dns_config.soa.min_ttl":                     {`4`, "4", "4"},
	"dns_config.allow_stale":                     {`false`, "false", "false"},
	"dns_config.max_stale":                       {`"1h"`, "1h", "1h"},
	"dns_config.use_cache":                       {`true`, "true", "true"},
	"dns_config.cache_max_age":                   {`"5s"`, "5s", "5s"},
	"dns_config.recursor_strategy":               {`"random"`, "random", "random"},
	"dns_config.recursor_timeout":                {`"5s"`, "5s", "5s"},
	"federation":                                 {`{"DC2": {"addresses": ["http://h"], "token": "s"}}`, "", "dc2"},
}

// asHCL writes a key and a value given in JSON as HCL 1: blocks around it, and
// = for : within it.
func asHCL(name, literal string) string {
	literal = strings.ReplaceAll(literal, `": `, `" = `)
	parts := strings.Split(name, ".")
	return strings.Join(parts[:len(parts)-1], " {\n") + blockOpen(parts) + parts[len(parts)-1] +
		" = " + literal + strings.Repeat("\n}", len(parts)-1)
}

func blockOpen(parts []string) string {
	if len(parts) > 1 {
		return " {\n"
	}
	return ""
}

func asJSON(name, literal string) string {
	parts := strings.Split(name, ".")
	return `{"` + strings.Join(parts, `": {"`) + `": ` + literal + strings.Repeat("}", len(parts))
}

// valueOf decodes with one source alone, without the checks that come after.
func valueOf(t *testing.T, k key, fill func(*decoder)) string {
	t.Helper()
	c := Default()
	var found faults
	fill(newDecoder(&c, &found))
	require.NoError(t, found.joined())
	c.normalise()
	return format(k.field(&c))
}

func TestEveryKeyIsReadFromEverySource(t *testing.T) {
	require.Len(t, samples, len(keys))
	for _, k := range keys {
		t.Run(k.name, func(t *testing.T) {
			s, ok := samples[k.name]
			require.True(t, ok, "no sample for the key")
			defaults := Default()
			require.NotEqual(t, format(k.field(&defaults)), s.want, "the sample is the default")

			for name, src := range map[string]string{"x.hcl": asHCL(k.name, s.literal), "x.json": asJSON(k.name, s.literal)} {
				top, err := parseSource(name, []byte(src))
				require.NoError(t, err, src)
				require.Equal(t, s.want, valueOf(t, k, func(d *decoder) { d.file(top) }), src)
			}
			if inFilesOnly(k) {
				return
			}
			lookup := env(map[string]string{envName(k): s.variable})
			require.Equal(t, s.want, valueOf(t, k, func(d *decoder) { d.environment(lookup) }))
			lookup = env(map[string]string{envName(k) + "_FILE": write(t, "value", s.variable+"\n")})
			require.Equal(t, s.want, valueOf(t, k, func(d *decoder) { d.environment(lookup) }))
		})
	}
}

func TestEveryKeyTakesEffectOrIsRefused(t *testing.T) {
	off := map[string]bool{}
	for _, name := range unsupported {
		_, ok := findKey(name)
		require.True(t, ok, "%s is in the table but no key", name)
		require.False(t, off[name], "%s stands twice", name)
		off[name] = true
	}
	for _, k := range keys {
		t.Run(k.name, func(t *testing.T) {
			c, found := loadText(t, "x.json", asJSON(k.name, samples[k.name].literal))
			if off[k.name] {
				require.Len(t, found, 1)
				require.Regexp(t, `^x\.json:1: `+k.name+`: .* is not supported by this version$`, found[0])
				return
			}
			require.Empty(t, found)
			require.Equal(t, samples[k.name].want, format(k.field(&c)))
		})
	}
}

func TestKeysAtTheirOffValueAreAccepted(t *testing.T) {
	_, found := loadText(t, "x.hcl", `
		alt_domain = ""
		trusted_proxies = []
		acl { enabled = false, default_policy = "allow", tokens { dns = "" } }
		limits { rate_limit { mode = "disabled", read_rate = -1, write_rate = -1.0, scope = "server" } }
		redis { url = "" }
		federation {}
		dns_config { allow_stale = true, max_stale = "87600h", recursor_timeout = "2s" }
	`)
	require.Empty(t, found)
}

func TestEachVariableAndFlagBelongsToOneKey(t *testing.T) {
	variables := map[string]string{envFiles: "--config"}
	for _, k := range keys {
		if inFilesOnly(k) {
			continue
		}
		for _, name := range []string{envName(k), envName(k) + "_FILE"} {
			require.Empty(t, variables[name], "%s is also %s", name, k.name)
			variables[name] = k.name
		}
	}
	for _, f := range commonFlags {
		_, ok := findKey(f.key)
		require.True(t, ok, "--%s sets %s", f.name, f.key)
	}
	for name, key := range map[string]string{
		"SIGNPOST_HTTP": "addresses.http", "SIGNPOST_DNS": "addresses.dns", "SIGNPOST_DOMAIN": "domain",
		"SIGNPOST_DATACENTER": "datacenter", "SIGNPOST_POSTGRES": "postgres.url", "SIGNPOST_REDIS": "redis.url",
		"SIGNPOST_DATA_DIR": "data_dir", "SIGNPOST_LOG_LEVEL": "log_level",
		"SIGNPOST_POSTGRES_DIRECT_URL": "postgres.direct_url", "SIGNPOST_DNS_CONFIG_SOA_MIN_TTL": "dns_config.soa.min_ttl",
	} {
		require.Equal(t, key, variables[name])
	}
}

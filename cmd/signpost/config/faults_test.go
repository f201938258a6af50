package config

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestFaultsInFilesAreNamedWithTheirPlace(t *testing.T) {
	for _, tc := range []struct {
		name, file, content string
		want                []string
	}{
		{"a mistyped key", "a.hcl", "dns_config {\n  sevice_ttl { web = \"1s\" }\n}",
			[]string{`a.hcl:2: dns_config.sevice_ttl: unknown key (did you mean "service_ttl"?)`}},
		{"a mistyped key in JSON", "a.json", "{\n \"postgres\": {\n  \"ulr_\": 1\n }\n}",
			[]string{`a.json:3: postgres.ulr_: unknown key (did you mean "url"?)`}},
		{"a mistyped block", "a.hcl", "adresses {}", []string{`a.hcl:1: adresses: unknown key (did you mean "addresses"?)`}},
		{"a key in the wrong block", "a.hcl", "only_passing = true",
			[]string{`a.hcl:1: only_passing: unknown key (did you mean dns_config.only_passing?)`}},
		{"a key with dots", "a.hcl", "dns_config.only_passing = true",
			[]string{`a.hcl:1: dns_config.only_passing: unknown key (write nested blocks, not dots)`}},
		{"a name over two lines", "a.hcl", `"a
b" = 1`, []string{`a.hcl:1: literal not terminated`}},
		{"a key with control characters", "a.json", `{"a\nb": 1}`, []string{`a.json:1: "a\nb": unknown key`}},
		{"a null for an unknown key", "a.json", `{"x": null}`, []string{`a.json:1: x: unknown key`}},
		{"a value for a block", "a.hcl", `acl = true`, []string{`a.hcl:1: acl: expected a block { … }, not true or false`}},
		{"a block for a value", "a.hcl", `domain { a = 1 }`, []string{`a.hcl:1: domain: expected text, not a block`}},
		{"a number for text", "a.hcl", `domain = 5`, []string{`a.hcl:1: domain: expected text, not a number`}},
		{"text for a list", "a.hcl", `trusted_proxies = "::1"`,
			[]string{`a.hcl:1: trusted_proxies: expected a list of texts, not text`}},
		{"a number in a list", "a.hcl", `recursors = ["a", 5]`,
			[]string{`a.hcl:1: recursors: expected a list of texts, not with a number in it`}},
		{"a block among values", "a.json", `{"acl": [{}, 1]}`, []string{`a.json:1: acl: expected a block { … }, not a list`}},
		{"a bare number as duration", "a.hcl", `dns_config { node_ttl = 10 }`,
			[]string{`a.hcl:1: dns_config.node_ttl: expected a duration in quotes, such as "10s" or "72h"`}},
		{"a bad duration", "a.hcl", `postgres { max_stale = "3 days" }`,
			[]string{`a.hcl:1: postgres.max_stale: expected a duration in quotes, such as "10s" or "72h"`}},
		{"a bad bool", "a.hcl", `compat_headers = "yes"`, []string{`a.hcl:1: compat_headers: expected true or false`}},
		{"a fraction for a whole number", "a.hcl", `dns_config { udp_answer_limit = 1.5 }`,
			[]string{`a.hcl:1: dns_config.udp_answer_limit: expected a whole number`}},
		{"a number too large", "a.hcl", `dns_config { udp_answer_limit = 99999999999999999999 }`,
			[]string{`a.hcl:1: dns_config.udp_answer_limit: expected a whole number`}},
		{"a negative timer", "a.hcl", `dns_config { soa { retry = -1 } }`,
			[]string{`a.hcl:1: dns_config.soa.retry: expected a whole number of seconds, 0 to 2147483647`}},
		{"a rate that is no number", "a.hcl", `limits { rate_limit { read_rate = "NaN" } }`,
			[]string{`a.hcl:1: limits.rate_limit.read_rate: expected a number`}},
		{"a bad level", "a.hcl", `log_level = "trace"`,
			[]string{`a.hcl:1: log_level: expected debug, info, warn or error`}},
		{"a bad proxy", "a.hcl", `trusted_proxies = ["10.0.0.0/33"]`,
			[]string{`a.hcl:1: trusted_proxies: "10.0.0.0/33" is neither an address nor a CIDR block`}},
		{"an address with a zone", "a.hcl", `trusted_proxies = ["fe80::1%eth0"]`,
			[]string{`a.hcl:1: trusted_proxies: "fe80::1%eth0" is neither an address nor a CIDR block`}},
		{"a key given twice", "a.hcl", "domain = \"a\"\ndatacenter = \"x\"\ndomain = \"a\"",
			[]string{`a.hcl:3: domain: given twice (first in line 1)`}},
		{"a map entry given twice", "a.json", "{\"dns_config\":{\"service_ttl\":{\"a\":\"1s\",\n\"a\":\"2s\"}}}",
			[]string{`a.json:2: dns_config.service_ttl.a: given twice (first in line 1)`}},
		{"an unknown key of a datacenter", "a.hcl", "federation {\n dc2 {\n adress = []\n }\n}",
			[]string{`a.hcl:3: federation.dc2.adress: unknown key`, `a.hcl:1: federation: "dc2" is not supported by this version`}},
		{"several at once, in their order", "a.hcl", "foo = 1\ndomain = 2\nlimits { rate_limit { mode = \"bogus\" } }\nnode_name = \" \"",
			[]string{
				`a.hcl:1: foo: unknown key`,
				`a.hcl:2: domain: expected text, not a number`,
				`a.hcl:4: node_name: " " is not 1 to 255 bytes of printable text`,
				`a.hcl:3: limits.rate_limit.mode: "bogus" is not one of disabled, permissive, enforcing`,
			}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, got := loadText(t, tc.file, tc.content)
			require.Equal(t, tc.want, got)
		})
	}
}

func TestSyntaxErrorsHaveALineAndQuoteNoValue(t *testing.T) {
	for _, tc := range []struct{ name, file, content, want string }{
		{"text without quotes", "a.hcl", "\ndomain = s3cret", `a.hcl:2: expected a value (text stands in quotes)`},
		{"no equals sign", "a.hcl", "\n\ndomain \"s3cret\"\n", `a.hcl:4: expected = or { after the name`},
		{"the same within a list", "a.hcl", "acl = [{ domain \"s3cret\" }]", `a.hcl:1: expected = or { after the name`},
		{"text that does not end", "a.hcl", "domain = \"s3cret", `a.hcl:1: literal not terminated`},
		{"a broken escape", "a.hcl", `domain = "\z"`, `a.hcl:1: illegal char escape`},
		{"an octal escape over 255", "a.hcl", `domain = "\400"`, `a.hcl:1: text with a broken escape`},
		{"an escape that is not UTF-8", "a.hcl", `node_name = "\xff"`, `a.hcl:1: text with a broken escape`},
		{"an open block", "a.hcl", "acl {\n", `a.hcl:2: object expected closing RBRACE got: EOF`},
		{"a heredoc", "a.hcl", "domain = <<EOF\nx\nEOF\n", `a.hcl:1: heredoc text is not accepted, write it in quotes`},
		{"lines of Windows", "a.hcl", "acl {\r\n}\r\nfoo = 1\r\n", `a.hcl:3: foo: unknown key`},
		{"a NUL", "a.hcl", "domain = \"a\x00b\"", `a.hcl:1: unexpected null character (0x00)`},
		{"bytes that are not UTF-8", "a.hcl", "\ndomain = \"\xff\"", `a.hcl:2: not UTF-8 text`},
		{"broken JSON", "a.json", "{\n\"domain\": s3cret}", `a.json:2: invalid character 's' looking for beginning of value`},
		{"JSON that ends early", "a.json", "{\n\"domain\": \"a\"\n", `a.json:3: unexpected end of JSON input`},
		{"JSON with text after it", "a.json", "{}\n{}", `a.json:2: invalid character '{' after top-level value`},
		{"a JSON list", "a.json", "[]", `a.json:1: expected { at the top, not a list`},
		{"an empty JSON file", "a.json", "", `a.json:1: unexpected end of JSON input`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, got := loadText(t, tc.file, tc.content)
			require.Equal(t, []string{tc.want}, got)
		})
	}
}

func TestValuesThatNoGatewayCouldUseAreFaults(t *testing.T) {
	for _, tc := range []struct {
		change func(*Config)
		want   string
	}{
		{func(c *Config) { c.Datacenter = "" }, `datacenter: "" is not 1 to 63 letters, digits, - or _`},
		{func(c *Config) { c.Datacenter = "a.b" }, `datacenter: "a.b" is not 1 to 63 letters, digits, - or _`},
		{func(c *Config) { c.Domain = "" }, `domain: "" is not a DNS name`},
		{func(c *Config) { c.Domain = "a..b" }, `domain: "a..b" is not a DNS name`},
		{func(c *Config) { c.Domain = "-a" }, `domain: "-a" is not a DNS name`},
		{func(c *Config) { c.Domain = strings.Repeat("a", 64) }, `domain: "` + strings.Repeat("a", 64) + `" is not a DNS name`},
		{func(c *Config) { c.Domain = strings.Repeat("a.", 100) + "a" }, `domain: "` + strings.Repeat("a.", 32) + `…" is not a DNS name`},
		{func(c *Config) { c.AltDomain = "ä" }, `alt_domain: "ä" is not a DNS name`},
		{func(c *Config) { c.NodeName = "a\x00" }, `node_name: "a\x00" is not 1 to 255 bytes of printable text`},
		{func(c *Config) { c.Addresses.HTTP = "8500" }, `addresses.http: "8500" is not host:port`},
		{func(c *Config) { c.Addresses.HTTP = "" }, `addresses.http: "" is not host:port`},
		{func(c *Config) { c.Addresses.DNS = "h:65536" }, `addresses.dns: "h:65536" is not host:port`},
		{func(c *Config) { c.Addresses.DNS = "a b:1" }, `addresses.dns: "a b:1" is not host:port`},
		{func(c *Config) { c.Addresses.HTTPS = "x" }, `addresses.https: "x" is not host:port`},
		{func(c *Config) { c.Postgres.URL = "mysql://u:s3cret@h" },
			`postgres.url: not a postgres:// URL (special characters in the password must be percent-encoded)`},
		{func(c *Config) { c.Postgres.URL = "postgres://u:s3/cret@h" },
			`postgres.url: not a postgres:// URL (special characters in the password must be percent-encoded)`},
		{func(c *Config) { c.Postgres.DirectURL = "h" },
			`postgres.direct_url: not a postgres:// URL (special characters in the password must be percent-encoded)`},
		{func(c *Config) { c.Postgres.MaxStale = 0 }, `postgres.max_stale: 0s is less than 1s`},
		{func(c *Config) { c.Redis.URL = "http://h" },
			`redis.url: not a redis://, rediss:// or unix:// URL (special characters in the password must be percent-encoded)`},
		{func(c *Config) { c.ACL.DefaultPolicy = "" }, `acl.default_policy: "" is not one of allow, deny`},
		{func(c *Config) { c.Limits.RateLimit.Scope = "x" }, `limits.rate_limit.scope: "x" is not one of server, cluster`},
		{func(c *Config) { c.DNS.RecursorStrategy = "x" }, `dns_config.recursor_strategy: "x" is not one of sequential, random`},
		{func(c *Config) { c.DNS.NodeTTL = -time.Second }, `dns_config.node_ttl: -1s is not between 0s and 2147483647s`},
		{func(c *Config) { c.DNS.ServiceTTL = map[string]time.Duration{"a*": 1 << 62} },
			`dns_config.service_ttl.a*: ` + (time.Duration(1) << 62).String() + ` is not between 0s and 2147483647s`},
		{func(c *Config) { c.DNS.ServiceTTL = map[string]time.Duration{"a*b": 0} },
			`dns_config.service_ttl.a*b: "a*b" is not a name, or the beginning of one with * at its end`},
		{func(c *Config) { c.DNS.UDPAnswerLimit = -1 }, `dns_config.udp_answer_limit: -1 is not between 0 and 65535`},
		{func(c *Config) { c.DNS.ARecordLimit = 65536 }, `dns_config.a_record_limit: 65536 is not between 0 and 65535`},
		{func(c *Config) { c.DNS.UDPMaxSize = 511 }, `dns_config.udp_max_size: 511 is not between 512 and 65467`},
		{func(c *Config) { c.DNS.UDPMaxSize = 65468 }, `dns_config.udp_max_size: 65468 is not between 512 and 65467`},
		{func(c *Config) { c.DNS.MaxStale = -1 }, `dns_config.max_stale: -1ns is negative`},
		{func(c *Config) { c.DNS.CacheMaxAge = -1 }, `dns_config.cache_max_age: -1ns is negative`},
		{func(c *Config) { c.DNS.RecursorTimeout = -1 }, `dns_config.recursor_timeout: -1ns is negative`},
		{func(c *Config) { c.DNS.SOA.Expire = 1 << 31 }, `dns_config.soa.expire: 2147483648 is more than 2147483647`},
		{func(c *Config) { c.Federation = map[string]Peer{"a b": {}} }, `federation.a b: "a b" is not a datacenter's name`},
	} {
		t.Run(tc.want, func(t *testing.T) {
			c := Default()
			tc.change(&c)
			require.Contains(t, lines(c.Validate(), ""), tc.want)
		})
	}
	require.NoError(t, Default().Validate())
}

func TestNestingBombsAndHugeFilesAreRefusedFast(t *testing.T) {
	const size = 512 << 10
	for _, tc := range []struct{ name, file, content, want string }{
		{"HCL lists", "a.hcl", "a = " + strings.Repeat("[", size), "a.hcl:1: nested deeper than 32 levels"},
		{"HCL blocks", "a.hcl", strings.Repeat("a {\n", size/4), "a.hcl:33: nested deeper than 32 levels"},
		{"HCL names before a block", "a.hcl", strings.Repeat("a ", size/2) + "{}", "a.hcl:1: expected 1 to 32 names before a block"},
		{"JSON lists", "a.json", `{"a":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "}", "a.json:1: nested deeper than 32 levels"},
		{"JSON lists that do not end", "a.json", strings.Repeat("[", size), "a.json:1: nested deeper than 32 levels"},
		{"JSON objects", "a.json", strings.Repeat("{\"a\":\n", 5000) + "1" + strings.Repeat("}", 5000), "a.json:33: nested deeper than 32 levels"},
		{"a file over 2 MiB", "a.hcl", strings.Repeat("#", maxFileSize+1), "a.hcl: larger than 2097152 bytes"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, got := loadText(t, tc.file, tc.content)
			require.Equal(t, []string{tc.want}, got)
		})
	}
	_, got := loadText(t, "a.json", `{"a":`+strings.Repeat("[", maxDepth-1)+strings.Repeat("]", maxDepth-1)+"}")
	require.Equal(t, []string{"a.json:1: a: unknown key"}, got, "32 levels are allowed")
	_, got = loadText(t, "a.hcl", "# {{{{ \n"+`node_name = "`+strings.Repeat("[", 40)+`"`)
	require.Empty(t, got, "brackets in text and comments are not nesting")
}

func TestManyFaultsAreAllFound(t *testing.T) {
	const many = 10_000
	var b strings.Builder
	for i := range many {
		fmt.Fprintf(&b, "unknown_%06d = 1\n", i)
	}
	_, got := loadText(t, "a.hcl", b.String())
	require.Len(t, got, many)
}

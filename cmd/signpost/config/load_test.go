package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

func TestNothingGivenIsTheDefault(t *testing.T) {
	c, err := Load(Flags{}, unset)
	require.NoError(t, err)
	require.Equal(t, Default(), c)
	require.Equal(t, "127.0.0.1:8500", c.Addresses.HTTP)
	require.Equal(t, "127.0.0.1:8600", c.Addresses.DNS)
	require.Equal(t, 72*time.Hour, c.Postgres.MaxStale)
	require.True(t, c.CompatHeaders)
}

func TestFlagOverEnvironmentOverLaterFileOverEarlierFile(t *testing.T) {
	first := write(t, "1.hcl", `domain = "first"
		datacenter = "first"
		node_name = "first"
		log_level = "error"
		data_dir = "first"
		dns_config { node_ttl = "1s", service_ttl { web = "1s", db = "1s" } }`)
	second := write(t, "2.json", `{"domain": "second", "datacenter": "second", "node_name": "second",
		"dns_config": {"udp_answer_limit": 7, "service_ttl": {"db": "2s"}}}`)
	c, err := Load(
		Flags{Paths: []string{first, second}, Values: map[string]string{"domain": "flag"}},
		env(map[string]string{"SIGNPOST_DOMAIN": "env", "SIGNPOST_DATACENTER": "env", "SIGNPOST_NODE_NAME": ""}))
	require.NoError(t, err)
	require.Equal(t, "flag", c.Domain)
	require.Equal(t, "env", c.Datacenter)
	require.Equal(t, "second", c.NodeName, "an empty variable is not set")
	require.Equal(t, slog.LevelError, c.LogLevel)
	require.Equal(t, "first", c.DataDir)
	require.Equal(t, time.Second, c.DNS.NodeTTL, "the second file gave other keys of the block")
	require.Equal(t, 7, c.DNS.UDPAnswerLimit)
	require.Equal(t, map[string]time.Duration{"web": time.Second, "db": 2 * time.Second}, c.DNS.ServiceTTL)
}

func TestFaultsOfAllSourcesComeTogether(t *testing.T) {
	path := write(t, "a.hcl", "foo = 1\nredis { url = \"redis://h\" }")
	empty := write(t, "token", "\n")
	c, err := Load(
		Flags{Paths: []string{"/none.hcl", path}, Values: map[string]string{"log_level": "loud", "domain": ""},
			Required: []string{"postgres.url", "data_dir", "redis.url"}},
		env(map[string]string{
			"SIGNPOST_HTTP":                      "8500",
			"SIGNPOST_COMPAT_HEADERS":            "maybe",
			"SIGNPOST_POSTGRES_DIRECT_URL":       "postgres://h",
			"SIGNPOST_POSTGRES_DIRECT_URL_FILE":  "/x",
			"SIGNPOST_ACL_TOKENS_DNS_FILE":       "/none",
			"SIGNPOST_DATA_DIR_FILE":             empty,
			"SIGNPOST_SERVICE_HOST":              "10.0.0.1",
			"SIGNPOST_DNS_CONFIG_SERVICE_TTL":    "web:5s",
			"SIGNPOST_DNS_CONFIG_UDP_MAX_SIZE":   "100",
			"SIGNPOST_FEDERATION":                "ignored, it has no form in a variable",
			"SIGNPOST_DNS_CONFIG_SERVICE_TTL_X_": "ignored",
		}))
	require.Equal(t, []string{
		"/none.hcl: no such file or directory",
		"a.hcl:1: foo: unknown key",
		"SIGNPOST_COMPAT_HEADERS: compat_headers: expected true or false",
		"SIGNPOST_POSTGRES_DIRECT_URL: postgres.direct_url: given twice, also by SIGNPOST_POSTGRES_DIRECT_URL_FILE",
		"SIGNPOST_ACL_TOKENS_DNS_FILE: acl.tokens.dns: read /none: no such file or directory",
		"SIGNPOST_DNS_CONFIG_SERVICE_TTL: dns_config.service_ttl: expected name=duration pairs with commas between, such as web=10s,*=5s",
		"--log-level: log_level: expected debug, info, warn or error",
		`--domain: domain: "" is not a DNS name`,
		`SIGNPOST_HTTP: addresses.http: "8500" is not host:port`,
		"SIGNPOST_DNS_CONFIG_UDP_MAX_SIZE: dns_config.udp_max_size: 100 is not between 512 and 65467",
		"a.hcl:2: redis.url: a value is not supported by this version",
		"postgres.url: must be given (--postgres, SIGNPOST_POSTGRES or a file)",
		"SIGNPOST_DATA_DIR_FILE: data_dir: must be given (--data-dir, SIGNPOST_DATA_DIR or a file)",
	}, lines(err, filepath.Dir(path)+"/"))
	require.Equal(t, Config{}, c)
	var fault *Fault
	require.True(t, errors.As(err, &fault))
}

func TestBothNamesOfTheRateLimit(t *testing.T) {
	for _, tc := range []struct{ name, limits, want string }{
		{"the other name alone", `request_limits { mode = "" }`, ""},
		{"the other name with a value not built", `request_limits { mode = "enforcing" }`,
			`a.hcl:1: limits.rate_limit.mode: "enforcing" is not supported by this version`},
		{"both the same", `rate_limit { mode = "disabled", read_rate = -1 } request_limits { mode = "disabled" }`, ""},
		{"both with different content", `rate_limit { mode = "disabled" } request_limits { read_rate = 5 }`,
			`a.hcl:1: limits.request_limits: is another name of limits.rate_limit, which says something else`},
		{"an unknown key under the other name", `request_limits { rate = 1 }`, `a.hcl:1: limits.rate_limit.rate: unknown key`},
		{"a value for the other name", `request_limits = 1`, `a.hcl:1: limits.request_limits: expected a block { … }, not a number`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, got := loadText(t, "a.hcl", "limits { "+tc.limits+" }")
			require.Equal(t, tc.want, strings.Join(got, "\n"))
		})
	}
}

func TestHCLWaysOfWritingBlocks(t *testing.T) {
	want := map[string]Peer{"dc2": {Addresses: []string{"a", "b"}, Token: "s"}, "dc3": {Addresses: []string{"c"}}}
	for name, src := range map[string]string{
		"assigned":    `federation { dc2 = { addresses = ["a", "b"], token = "s" }, dc3 = { addresses = ["c"] } }`,
		"blocks":      `federation { dc2 { addresses = ["a", "b",] token = "s" } dc3 { addresses = ["c"] } }`,
		"labels":      `federation "dc2" { addresses = ["a", "b"] token = "s" } federation "dc3" { addresses = ["c"] }`,
		"repeated":    "federation { dc2 { addresses = [\"a\", \"b\"] } }\nfederation { \"DC2\" { token = \"s\" } dc3 { addresses = [\"c\"] } }",
		"a list":      `federation = [{ dc2 = { addresses = ["a", "b"] } }, { dc2 = [{ token = "s" }], dc3 = { addresses = ["c"] } }]`,
		"with a note": "# a note\nfederation { /* b */ dc2 { addresses = [\"a\", // one\n \"b\"] token = \"s\" }\n dc3 { addresses = [\"c\"] } }",
	} {
		t.Run(name, func(t *testing.T) {
			top, err := parseSource("x.hcl", []byte(src))
			require.NoError(t, err)
			c := Default()
			var found faults
			newDecoder(&c, &found).file(top)
			require.NoError(t, found.joined())
			require.Equal(t, want, c.Federation)
		})
	}
}

func TestADirectoryIsItsFilesInLexicalOrder(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"20.hcl": `domain = "twenty"`, "10.json": `{"domain": "ten", "node_name": "ten"}`, "notes.txt": "!", ".30.hcl": "!", "a.hcl.swp": "!",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "sub.hcl"), 0o700))
	require.NoError(t, os.Symlink(filepath.Join(dir, "gone"), filepath.Join(dir, "z.hcl")))
	_, err := Load(Flags{Paths: []string{dir}}, unset)
	require.EqualError(t, err, filepath.Join(dir, "z.hcl")+": no such file or directory")

	require.NoError(t, os.Remove(filepath.Join(dir, "z.hcl")))
	c, err := Load(Flags{}, env(map[string]string{"SIGNPOST_CONFIG": dir}))
	require.NoError(t, err)
	require.Equal(t, "twenty", c.Domain)
	require.Equal(t, "ten", c.NodeName)
	c, err = Load(Flags{Paths: []string{dir, filepath.Join(dir, "10.json")}}, env(map[string]string{"SIGNPOST_CONFIG": "/none"}))
	require.NoError(t, err, "--config goes before SIGNPOST_CONFIG")
	require.Equal(t, "ten", c.Domain)
}

func TestFilesThatAreNoneAreFaults(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe.hcl")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	_, err := Load(Flags{Paths: []string{pipe}}, unset)
	require.EqualError(t, err, pipe+": not a regular file")
	yaml := write(t, "a.yaml", "")
	_, err = Load(Flags{Paths: []string{yaml}}, unset)
	require.EqualError(t, err, yaml+": a file must end in .hcl or .json")
	huge := write(t, "token", strings.Repeat("x", maxSecret+1))
	_, err = Load(Flags{}, env(map[string]string{"SIGNPOST_DATA_DIR_FILE": huge}))
	require.EqualError(t, err, "SIGNPOST_DATA_DIR_FILE: data_dir: read "+huge+": larger than 65536 bytes")
}

func TestFlagsAreParsedFromTheCommandLine(t *testing.T) {
	set := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	flags := AddFlags(set)
	require.NoError(t, set.Parse([]string{"--config", "a.hcl", "--config=b.json", "--http", ":1", "--dns=:2", "--domain", "d",
		"--datacenter", "c", "--postgres", "postgres://h", "--data-dir", "x", "--log-level", "debug"}))
	require.Equal(t, &Flags{Paths: []string{"a.hcl", "b.json"}, Values: map[string]string{
		"addresses.http": ":1", "addresses.dns": ":2", "domain": "d", "datacenter": "c",
		"postgres.url": "postgres://h", "data_dir": "x", "log_level": "debug",
	}}, flags)
	flags.Paths = nil
	c, err := Load(*flags, unset)
	require.NoError(t, err)
	require.Equal(t, slog.LevelDebug, c.LogLevel)
	require.Equal(t, SecretURL("postgres://h"), c.Postgres.Direct())
	require.Contains(t, set.FlagUsages(), `--http ADDR`)
	require.Contains(t, set.FlagUsages(), `(default "127.0.0.1:8500")`)

	few := pflag.NewFlagSet("health", pflag.ContinueOnError)
	AddFlags(few, "http")
	require.NotNil(t, few.Lookup("config"))
	require.NotNil(t, few.Lookup("http"))
	require.Nil(t, few.Lookup("dns"))
}

func TestSecretsAreNeverPrinted(t *testing.T) {
	c := Default()
	c.Postgres = Postgres{URL: "postgres://u:s3cret@h/d?sslpassword=s3cret#s3cret", DirectURL: "host=h password=s3cret", MaxStale: time.Hour}
	c.Redis.URL = "redis://:s3cret@h:1/2"
	c.ACL.Tokens = Tokens{InitialManagement: "s3cret", DNS: "s3cret"}
	c.Federation = map[string]Peer{"dc2": {Addresses: []string{"a"}, Token: "s3cret"}}

	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("m", "config", c, "pg", c.Postgres, "url", c.Postgres.URL, "token", c.ACL.Tokens.DNS)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("m", "config", c, "pg", c.Postgres, "acl", c.ACL)
	encoded, err := json.Marshal(c)
	require.NoError(t, err)
	for _, printed := range []string{
		c.String(), log.String(), string(encoded), lines(c.Validate(), "")[0], c.Validate().Error(),
		fmt.Sprintf("%v %+v %#v %s %q", c, c, c, c, c),
		fmt.Sprintf("%v %+v %#v", c.Postgres, c.Postgres, c.Postgres),
		fmt.Sprintf("%v %+v %#v %s %q %x", c.ACL, c.ACL, c.ACL, c.Postgres.URL, c.Postgres.DirectURL, c.ACL.Tokens.DNS),
		fmt.Sprintf("%v %+v %#v", c.Federation, c.Federation, c.Federation),
	} {
		require.NotContains(t, printed, "s3cret")
		require.NotContains(t, printed, fmt.Sprintf("%x", "s3cret"))
	}
	require.Contains(t, c.String(), "postgres.url = postgres://u:xxxxx@h/d\n")
	require.Contains(t, c.String(), "acl.tokens.dns = (redacted)\n")
	require.Contains(t, c.String(), "domain = signpost\n")
	require.Contains(t, log.String(), "config.postgres.max_stale=1h")
	require.NotContains(t, log.String(), "config.domain", "the log names only what differs from the default")
	require.Equal(t, "postgres://u:s3cret@h/d?sslpassword=s3cret#s3cret", string(c.Postgres.URL))
	require.Empty(t, Secret("").String())
	require.Empty(t, SecretURL("").String())
	require.Equal(t, redacted, SecretURL("postgres://u:s3/cret@h").String())
	require.Equal(t, redacted, SecretURL("s3cret:s3cret").String())
	require.Equal(t, redacted, SecretURL("s3cret").String())
}

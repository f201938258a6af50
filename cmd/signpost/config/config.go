package config

import (
	"log/slog"
	"net/netip"
	"strings"
	"time"

	"signpost/ratelimit"
)

// Config is the whole configuration of one gateway. Each field is described in
// docs/configuration.md under its key; the table in keys.go joins the two.
// Default gives usable values for all but the Postgres URL.
type Config struct {
	Datacenter        string // lower case, one DNS label
	Domain            string // lower case, without a dot at the end
	AltDomain         string // as Domain; empty = none
	NodeName          string // the node that all replicas together appear as
	LogLevel          slog.Level
	DataDir           string         // where `dev` keeps Postgres; empty = temporary
	TrustedProxies    []netip.Prefix // whose X-Forwarded-For is believed; masked
	Addresses         Addresses
	Postgres          Postgres
	Redis             Redis
	ACL               ACL
	Limits            Limits
	DNS               DNS
	Recursors         []string // IP or IP:port
	CompatHeaders     bool     // X-Consul-* beside X-Service-*
	TranslateWANAddrs bool
	Federation        map[string]Peer // by datacenter, lower case
}

// Addresses are the listening addresses, "host:port"; an empty host is all of
// the machine's addresses, port 0 any free port.
type Addresses struct {
	HTTP  string
	HTTPS string // empty = off
	DNS   string // udp and tcp
}

// Postgres says where the catalog is kept.
type Postgres struct {
	URL       SecretURL
	DirectURL SecretURL     // past a pooler, for LISTEN, leases and migrations; empty = URL
	MaxStale  time.Duration // how long answers are given without Postgres
}

// Direct gives the URL that leads to Postgres itself and not to a pooler.
func (p Postgres) Direct() SecretURL {
	if p.DirectURL != "" {
		return p.DirectURL
	}
	return p.URL
}

// Redis is the shared store of the rate limits; an empty URL is none.
type Redis struct{ URL SecretURL }

// ACL switches tokens and policies on.
type ACL struct {
	Enabled       bool
	DefaultPolicy string // "allow" or "deny"
	Tokens        Tokens
}

// Tokens are the secrets that are known without being stored in the catalog.
type Tokens struct {
	InitialManagement Secret
	DNS               Secret // used for every DNS question
}

// Limits bound what clients may ask.
type Limits struct{ RateLimit ratelimit.Policy }

// DNS are the settings of the DNS door (reference, DNS, sections 4, 7, 8, 9).
type DNS struct {
	OnlyPassing        bool
	NodeTTL            time.Duration
	ServiceTTL         map[string]time.Duration // by name, by "prefix*", or "*"
	UDPAnswerLimit     int                      // records, for askers without EDNS
	ARecordLimit       int                      // records; 0 = unlimited
	EnableTruncate     bool
	DisableCompression bool
	AllowStale         bool
	MaxStale           time.Duration
	UseCache           bool
	CacheMaxAge        time.Duration // 0 = no limit
	NodeMetaTXT        bool
	UDPMaxSize         int // bytes
	RecursorStrategy   string
	RecursorTimeout    time.Duration
	SOA                SOA
}

// Seconds is a number of whole seconds, as an SOA record carries it.
type Seconds uint32

// SOA are the timers of the zone's SOA record.
type SOA struct {
	Refresh Seconds
	Retry   Seconds
	Expire  Seconds
	MinTTL  Seconds
}

// Peer is another datacenter that questions are forwarded to.
type Peer struct {
	Addresses []string
	Token     Secret
}

// Default returns what holds when nothing is configured.
func Default() Config {
	return Config{
		Datacenter:    "dc1",
		Domain:        "signpost",
		NodeName:      "signpost",
		LogLevel:      slog.LevelInfo,
		Addresses:     Addresses{HTTP: "127.0.0.1:8500", DNS: "127.0.0.1:8600"},
		Postgres:      Postgres{MaxStale: 72 * time.Hour},
		ACL:           ACL{DefaultPolicy: "allow"},
		Limits:        Limits{RateLimit: ratelimit.Default()},
		CompatHeaders: true,
		DNS: DNS{
			UDPAnswerLimit:   3,
			AllowStale:       true,
			MaxStale:         87600 * time.Hour,
			NodeMetaTXT:      true,
			UDPMaxSize:       1232,
			RecursorStrategy: "sequential",
			RecursorTimeout:  2 * time.Second,
			SOA:              SOA{Refresh: 3600, Retry: 600, Expire: 86400},
		},
	}
}

// String lists every key with its value, one per line, secrets redacted.
func (c Config) String() string {
	var b strings.Builder
	for _, k := range keys {
		b.WriteString(k.name + " = " + format(k.field(&c)) + "\n")
	}
	return b.String()
}

// LogValue gives the keys that differ from their defaults, secrets redacted.
func (c Config) LogValue() slog.Value {
	defaults := Default()
	var attrs []slog.Attr
	for _, k := range keys {
		value := format(k.field(&c))
		if value != format(k.field(&defaults)) {
			attrs = append(attrs, slog.String(k.name, value))
		}
	}
	return slog.GroupValue(attrs...)
}

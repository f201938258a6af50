package dnsapi

import (
	"strings"
	"testing"
	"time"

	"signpost/gateway"
)

func TestZeroConfigWorks(t *testing.T) {
	if err := (Config{}).Validate(); err != nil {
		t.Error(err)
	}
	c := Config{}.withDefaults("signpost")
	if c.Domain != "signpost" || c.UDPAnswerLimit != 3 || c.UDPMaxSize != 1232 || c.SOA != (SOA{time.Hour, 10 * time.Minute, 24 * time.Hour, 0}) {
		t.Errorf("got %+v", c)
	}
}

func TestAllFaultsAreTold(t *testing.T) {
	c := Config{
		Domain: "a..b", AltDomain: strings.Repeat("x.", 100) + "y", NodeTTL: -time.Second,
		ServiceTTL:     map[string]time.Duration{"web": -1, "a*b": 0, "": 0, "ok*": time.Second},
		UDPAnswerLimit: -1, ARecordLimit: -1, UDPMaxSize: 100, MaxConnections: -1,
		SOA: SOA{Refresh: -1, Retry: 1 << 62, Expire: -1, MinTTL: -1},
	}
	err := c.Validate()
	if err == nil {
		t.Fatal("no fault found")
	}
	for _, word := range []string{
		`domain: "a..b"`, "alt_domain: 201 bytes", "node_ttl", "service_ttl.web", `"a*b"`, `""`, "udp_answer_limit", "a_record_limit",
		"udp_max_size", "max_connections", "soa.refresh", "soa.retry", "soa.expire", "soa.min_ttl",
	} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("nothing about %s in:\n%v", word, err)
		}
	}
	if strings.Contains(err.Error(), "ok*") {
		t.Errorf("finds fault with what is right:\n%v", err)
	}
	if _, err := New(gateway.New(gateway.Config{}, shop(t), nil, quiet), c, quiet); err == nil {
		t.Error("New takes it")
	}
	if (Config{Domain: "a.b", AltDomain: "A.b."}).Validate() == nil {
		t.Error("the same domain twice is taken")
	}
}

// As the reference was seen to choose.
func TestServiceTTL(t *testing.T) {
	ttls := newServiceTTLs(map[string]time.Duration{
		"web": 10 * time.Second, "we*": 7 * time.Second, "Web*": 8 * time.Second, "ma*": 6 * time.Second, "*": 5 * time.Second,
		"short": 1500 * time.Millisecond, "long": 1 << 62,
	})
	for service, want := range map[string]uint32{
		"web": 10, "WEB": 10, "webs": 8, "west": 7, "many": 6, "dual": 5, "short": 1, "long": 1<<31 - 1,
	} {
		if got := ttls.of(service); got != want {
			t.Errorf("%s: %d, want %d", service, got, want)
		}
	}
	none := newServiceTTLs(map[string]time.Duration{"web": time.Second})
	if got := none.of("other"); got != 0 {
		t.Errorf("other: %d, want 0", got)
	}
}

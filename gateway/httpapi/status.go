package httpapi

import (
	"net/http"
	"strings"

	"signpost/gateway"
	"signpost/resolver/catalog"
)

// GET /v1/status/leader: the address of this replica, a JSON string.
// Source: reference, catalog and ACL, section 6.
func statusLeader(c *call) error {
	return ask(c, &gateway.StatusLeader, gateway.None{}, func(_ *call, b []byte, leader string) []byte {
		return appendString(b, leader)
	})
}

// GET /v1/status/peers: a JSON list of such strings.
func statusPeers(c *call) error {
	return ask(c, &gateway.StatusPeers, gateway.None{}, encodeStrings)
}

func encodeStrings(_ *call, b []byte, list []string) []byte { return appendStrings(b, list) }

// GET /health: 200 as long as the process answers.
func processHealth(c *call) error {
	c.text = "ok"
	return nil
}

// GET /ready: 200, or 503 with the reasons, one per line.
func processReady(c *call) error {
	reasons := c.door.ready()
	if len(reasons) == 0 {
		c.door.started.Store(true)
		c.text = "ready"
		return nil
	}
	c.status, c.text = http.StatusServiceUnavailable, strings.Join(reasons, "\n")
	return nil
}

// isStarted tells whether operations may be answered.
func (d *door) isStarted() error {
	if d.started.Load() {
		return nil
	}
	if reasons := d.ready(); len(reasons) > 0 {
		return catalog.Errorf(catalog.Unavailable, "not ready: %s", strings.Join(reasons, "; "))
	}
	d.started.Store(true)
	return nil
}

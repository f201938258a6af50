package httpapi

import (
	"signpost/gateway"
	"signpost/resolver/snapshot"
)

// Endpoints of health. Source: reference, catalog and ACL, section 2.

// GET /v1/health/service/:service?passing=&tag=&node-meta=&filter=: instances
// with their node and checks.
func healthService(c *call) error { return healthInstances(c, false) }

// GET /v1/health/connect/:service: the same of mesh-capable instances.
func healthConnect(c *call) error { return healthInstances(c, true) }

func healthInstances(c *call, connect bool) error {
	p, err := c.serviceParams(connect)
	if err != nil {
		return err
	}
	if p.Passing, err = c.params.truth("passing"); err != nil {
		return invalid("Invalid value for ?passing")
	}
	if p.Filter, err = instanceFilter(c, c.door.healthRecord); err != nil {
		return err
	}
	return ask(c, &gateway.HealthServiceNodes, p, func(c *call, b []byte, list []*snapshot.Instance) []byte {
		return c.door.instances(b, list, formHealth)
	})
}

// GET /v1/health/node/:node?filter=: all checks on a node.
func healthNode(c *call) error {
	name, err := c.name("node name")
	if err != nil {
		return err
	}
	p := gateway.CheckParams{Node: name}
	if p.Filter, err = filterOf(c, checkRecordOf); err != nil {
		return err
	}
	return ask(c, &gateway.HealthNodeChecks, p, encodeChecks)
}

// GET /v1/health/checks/:service?node-meta=&filter=: the checks of a service,
// without those of its nodes.
func healthChecks(c *call) error {
	name, err := c.name("service name")
	if err != nil {
		return err
	}
	p := gateway.CheckParams{Service: name, NodeMeta: c.params.pairs("node-meta")}
	if p.Filter, err = filterOf(c, checkRecordOf); err != nil {
		return err
	}
	return ask(c, &gateway.HealthServiceChecks, p, encodeChecks)
}

func encodeChecks(_ *call, b []byte, checks []gateway.CheckRecord) []byte {
	return appendList(b, checks, func(b []byte, r gateway.CheckRecord) []byte {
		return appendCheck(b, r.Check, r.Of, asEmpty)
	})
}

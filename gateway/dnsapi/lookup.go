package dnsapi

import (
	"strings"
	"time"

	"signpost/gateway"
	"signpost/resolver"
	"signpost/resolver/catalog"
	"signpost/resolver/snapshot"
)

// drawService is for [tag.]name.service and _name._tag.service.
func drawService(t *task, limit int) ([]*snapshot.Instance, error) {
	parts := t.name.parts
	p := gateway.DrawParams{OnlyPassing: t.OnlyPassing, Limit: limit}
	first, last, ok := rfc2782(parts)
	switch {
	case ok && len(parts) == 2:
		p.Service = first
		if last != "tcp" {
			p.Tag = last
		}
	case t.name.implied:
		return nil, nil
	default:
		p.Service = parts[len(parts)-1]
		p.Tag = strings.Join(parts[:len(parts)-1], ".")
	}
	return t.drawHealthy(p)
}

// drawConnect is for name.connect; labels before the name are ignored.
func drawConnect(t *task, limit int) ([]*snapshot.Instance, error) {
	parts := t.name.parts
	return t.drawHealthy(gateway.DrawParams{
		Service: parts[len(parts)-1], Connect: true, OnlyPassing: t.OnlyPassing, Limit: limit,
	})
}

func (t *task) drawHealthy(p gateway.DrawParams) ([]*snapshot.Instance, error) {
	t.ttl = t.serviceTTL.of(p.Service)
	r, err := gateway.Ask(t.ctx, t.g, &gateway.HealthServiceDraw, &t.req, p)
	if err != nil {
		return nil, err
	}
	return r.Value, nil
}

// drawQuery is for name.query and _name._any.query. The name may have dots.
func drawQuery(t *task, limit int) ([]*snapshot.Instance, error) {
	name, _, ok := rfc2782(t.name.parts)
	if !ok {
		name = strings.Join(t.name.parts, ".")
	}
	r, err := gateway.Ask(t.ctx, t.g, &gateway.QueryExecute, &t.req,
		gateway.ExecuteParams{Query: name, ExecuteOptions: resolver.ExecuteOptions{Limit: limit}})
	switch {
	case err != nil && catalog.CodeOf(err) == catalog.NotFound:
		return nil, errNoName
	case err != nil:
		return nil, err
	}
	t.ttl = t.serviceTTL.of(r.Value.Service)
	if text := r.Value.DNS.TTL; text != "" {
		if ttl, err := time.ParseDuration(text); err == nil {
			t.ttl = seconds(ttl)
		}
	}
	return r.Value.Nodes, nil
}

// forSubnet tells whether answers may depend on where the client is, as those
// of queries do.
func (t *task) forSubnet() bool { return t.name.route.label == labelQuery }

package gateway

import (
	"signpost/resolver"
	"signpost/resolver/catalog"
	"signpost/resolver/query"
	"signpost/resolver/snapshot"
)

// DrawParams select healthy instances of a service, drawn by chance.
type DrawParams struct {
	Service     string
	Tag         string // required, compared without case; empty: any
	Connect     bool   // mesh-capable instances for the name instead
	OnlyPassing bool   // warnings and unknown states count as unhealthy
	Limit       int    // at most so many; 0: all
}

// Operations that are asked by name lookups.
// Source: reference, DNS, section 3.
var (
	HealthServiceDraw = Read[DrawParams, []*snapshot.Instance]{Operation: Operation{Name: "Health.ServiceDraw", Right: "node:read, service:read"}, Look: drawService}
	CatalogNode       = Read[string, *catalog.Node]{Operation: Operation{Name: "Catalog.Node", Right: "node:read"}, Look: lookNode}
)

func drawService(g *Gateway, s *snapshot.Snapshot, p DrawParams, seen *Seen) ([]*snapshot.Instance, error) {
	kind, service := snapshot.Service, (*snapshot.ServiceEntry)(nil)
	if p.Connect {
		kind, service = snapshot.Mesh, s.Mesh(p.Service)
	} else {
		service = s.Service(p.Service)
	}
	seen.At(kind, p.Service)
	if service == nil {
		return nil, nil
	}
	tag := catalog.Fold(p.Tag)
	return resolver.Sample(service.Instances, p.Limit, g.rand, func(inst *snapshot.Instance) bool {
		return query.Healthy(inst.Checks, p.OnlyPassing, nil) && (tag == "" || query.HasTag(inst.Service.Tags, tag))
	}), nil
}

// lookNode finds a node by its name, its ID or a unique prefix of the ID.
func lookNode(_ *Gateway, s *snapshot.Snapshot, name string, seen *Seen) (*catalog.Node, error) {
	n := findNode(s, name, seen, snapshot.Node)
	if n == nil {
		return nil, catalog.Errorf(catalog.NotFound, "No such node")
	}
	return n.Node, nil
}

package gateway

import (
	"slices"
	"strings"

	"signpost/resolver/catalog"
	"signpost/resolver/query"
	"signpost/resolver/snapshot"
)

// Filter decides whether a record stays in an answer; nil keeps all. Doors
// make it from a filter expression.
type Filter[T any] func(T) (bool, error)

func keep[T any](f Filter[T], v T) (bool, error) {
	if f == nil {
		return true, nil
	}
	return f(v)
}

// NodesParams select nodes.
type NodesParams struct {
	Meta   map[string]string // pairs that a node must have
	Filter Filter[*snapshot.NodeEntry]
}

// ServiceParams select instances of one service.
type ServiceParams struct {
	Service  string
	Tags     []string          // all required, compared without case
	NodeMeta map[string]string // pairs that the node must have
	Passing  bool              // only instances whose checks all pass
	Connect  bool              // mesh-capable instances for the name instead
	Filter   Filter[*snapshot.Instance]
}

// NodeParams name one node.
type NodeParams struct {
	Node   string // a name, or an ID or a unique prefix of one
	Filter Filter[*snapshot.Instance]
}

// ServicesParams select instances of all services.
type ServicesParams struct {
	NodeMeta map[string]string
	Filter   Filter[*snapshot.Instance]
}

// ServiceTags are the names of services with the tags of their instances.
type ServiceTags map[string][]string

// None is for operations without parameters or without an answer.
type None struct{}

// Operations on the catalog. Source: reference, catalog and ACL, section 1.
var (
	CatalogRegister = Change[catalog.Registration, bool]{
		Operation: Operation{Name: "Catalog.Register", Access: WriteAccess, Right: "node:write, service:write"},
		Prepare: func(_ *Gateway, r *catalog.Registration) (catalog.Write, error) {
			err := r.Validate()
			return *r, err
		},
		Check:  checkRegistration,
		Answer: yes[catalog.Registration],
	}
	CatalogDeregister = Change[catalog.Deregistration, bool]{
		Operation: Operation{Name: "Catalog.Deregister", Access: WriteAccess, Right: "node:write, service:write"},
		Prepare: func(_ *Gateway, d *catalog.Deregistration) (catalog.Write, error) {
			if d.Node == "" {
				return nil, catalog.Errorf(catalog.Invalid, "Must provide node")
			}
			return *d, nil
		},
		Answer: yes[catalog.Deregistration],
	}
	CatalogListDatacenters = Read[None, []string]{
		Operation: Operation{Name: "Catalog.ListDatacenters"},
		Look: func(g *Gateway, _ *snapshot.Snapshot, _ None, _ *Seen) ([]string, error) {
			return []string{g.Datacenter}, nil
		},
	}
	CatalogListNodes    = Read[NodesParams, []*snapshot.NodeEntry]{Operation: Operation{Name: "Catalog.ListNodes", Right: "node:read"}, Look: listNodes}
	CatalogListServices = Read[ServicesParams, ServiceTags]{Operation: Operation{Name: "Catalog.ListServices", Right: "service:read"}, Look: listServices}
	CatalogServiceNodes = Read[ServiceParams, []*snapshot.Instance]{Operation: Operation{Name: "Catalog.ServiceNodes", Right: "node:read, service:read"}, Look: serviceInstances}
	CatalogNodeServices = Read[NodeParams, *NodeServices]{Operation: Operation{Name: "Catalog.NodeServices", Right: "node:read, service:read"}, Look: nodeServices}
)

// NodeServices is a node with its services; nil when there is no such node.
type NodeServices struct {
	Node      *catalog.Node
	Instances []*snapshot.Instance
}

func yes[P any](*P, catalog.Outcome) bool { return true }

// checkRegistration refuses checks of a service that is neither registered
// nor part of the request.
func checkRegistration(s *snapshot.Snapshot, r *catalog.Registration) error {
	for _, c := range r.Checks {
		if c.ServiceID == "" || r.Service != nil && r.Service.ID == c.ServiceID {
			continue
		}
		if n := s.Node(r.Node.Name); n == nil || !n.HasService(c.ServiceID) {
			return catalog.Errorf(catalog.Invalid, "Unknown service ID '%s' for check ID '%s'", c.ServiceID, c.ID)
		}
	}
	return nil
}

func listNodes(_ *Gateway, s *snapshot.Snapshot, p NodesParams, seen *Seen) ([]*snapshot.NodeEntry, error) {
	seen.At(snapshot.Nodes, "")
	out := []*snapshot.NodeEntry{}
	for n := range s.Nodes() {
		if !query.HasPairs(n.Node.Meta, p.Meta) {
			continue
		}
		ok, err := keep(p.Filter, n)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, n)
		}
	}
	return out, nil
}

func listServices(_ *Gateway, s *snapshot.Snapshot, p ServicesParams, seen *Seen) (ServiceTags, error) {
	seen.At(snapshot.Services, "")
	if p.NodeMeta != nil || p.Filter != nil {
		seen.At(snapshot.Nodes, "") // what the nodes are decides, too
	}
	out := ServiceTags{}
	for service := range s.Services() {
		for _, inst := range service.Instances {
			if !query.HasPairs(inst.Node.Meta, p.NodeMeta) {
				continue
			}
			ok, err := keep(p.Filter, inst)
			if err != nil {
				return nil, err
			}
			if ok {
				out.add(inst.Service)
			}
		}
	}
	for _, tags := range out {
		slices.Sort(tags)
	}
	return out, nil
}

func (t ServiceTags) add(s *catalog.Service) {
	tags, ok := t[s.Name]
	if !ok {
		tags = []string{}
	}
	for _, tag := range s.Tags {
		if !slices.Contains(tags, tag) {
			tags = append(tags, tag)
		}
	}
	t[s.Name] = tags
}

// serviceInstances serves the catalog and the health endpoints alike.
func serviceInstances(_ *Gateway, s *snapshot.Snapshot, p ServiceParams, seen *Seen) ([]*snapshot.Instance, error) {
	var service *snapshot.ServiceEntry
	if p.Connect {
		seen.At(snapshot.Mesh, p.Service)
		service = s.Mesh(p.Service)
	} else {
		seen.At(snapshot.Service, p.Service)
		service = s.Service(p.Service)
	}
	if service == nil {
		return []*snapshot.Instance{}, nil
	}
	if p.takesAll() {
		return service.Instances, nil
	}
	out := make([]*snapshot.Instance, 0, len(service.Instances))
	for _, inst := range service.Instances {
		ok, err := p.takes(inst)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, inst)
		}
	}
	return out, nil
}

func (p *ServiceParams) takesAll() bool {
	return len(p.Tags) == 0 && len(p.NodeMeta) == 0 && !p.Passing && p.Filter == nil
}

// takes follows the reference's order: expression, then health
// (http conventions, section 8).
func (p *ServiceParams) takes(inst *snapshot.Instance) (bool, error) {
	for _, tag := range p.Tags {
		if !query.HasTag(inst.Service.Tags, catalog.Fold(tag)) {
			return false, nil
		}
	}
	if !query.HasPairs(inst.Node.Meta, p.NodeMeta) {
		return false, nil
	}
	if ok, err := keep(p.Filter, inst); !ok || err != nil {
		return false, err
	}
	return !p.Passing || query.Healthy(inst.Checks, true, nil), nil
}

func nodeServices(_ *Gateway, s *snapshot.Snapshot, p NodeParams, seen *Seen) (*NodeServices, error) {
	n := findNode(s, p.Node, seen, snapshot.Node)
	if n == nil {
		return nil, nil
	}
	out := &NodeServices{Node: n.Node, Instances: make([]*snapshot.Instance, 0, len(n.Instances))}
	for _, inst := range n.Instances {
		ok, err := keep(p.Filter, inst)
		if err != nil {
			return nil, err
		}
		if ok {
			out.Instances = append(out.Instances, inst)
		}
	}
	return out, nil
}

// findNode finds a node by name or by ID, and notes the kinds of things that
// are looked at under its name.
func findNode(s *snapshot.Snapshot, name string, seen *Seen, kinds ...snapshot.Kind) *snapshot.NodeEntry {
	look := func(name string) {
		for _, kind := range kinds {
			seen.At(kind, name)
		}
	}
	look(name)
	n := s.Node(name)
	if n != nil {
		return n
	}
	if n = s.NodeByID(name); n != nil || looksLikeID(name) {
		seen.At(snapshot.Nodes, "") // whose ID it is may change
	}
	if n == nil {
		seen.Missing()
		return nil
	}
	look(n.Node.Name)
	return n
}

func looksLikeID(name string) bool {
	return len(name) >= 2 && strings.Trim(catalog.Fold(name), "0123456789abcdef-") == ""
}

package gateway

import (
	"signpost/resolver/catalog"
	"signpost/resolver/query"
	"signpost/resolver/snapshot"
)

// CheckParams select checks.
type CheckParams struct {
	Node     string // of this node; or
	Service  string // of this service
	NodeMeta map[string]string
	Filter   Filter[CheckRecord]
}

// CheckRecord is a check with the service that it is about; nil for a check
// of a whole node.
type CheckRecord struct {
	*catalog.Check
	Of *catalog.Service
}

// Operations on health. Source: reference, catalog and ACL, section 2.
var (
	HealthServiceNodes  = Read[ServiceParams, []*snapshot.Instance]{Operation: Operation{Name: "Health.ServiceNodes", Right: "node:read, service:read"}, Look: serviceInstances}
	HealthNodeChecks    = Read[CheckParams, []CheckRecord]{Operation: Operation{Name: "Health.NodeChecks", Right: "node:read, service:read"}, Look: nodeChecks}
	HealthServiceChecks = Read[CheckParams, []CheckRecord]{Operation: Operation{Name: "Health.ServiceChecks", Right: "node:read, service:read"}, Look: serviceChecks}
)

func nodeChecks(_ *Gateway, s *snapshot.Snapshot, p CheckParams, seen *Seen) ([]CheckRecord, error) {
	out := []CheckRecord{}
	// Names and tags of services stand in their checks, so both are looked at.
	n := findNode(s, p.Node, seen, snapshot.NodeCheck, snapshot.Node)
	if n == nil {
		return out, nil
	}
	for _, c := range n.Checks {
		r := CheckRecord{Check: c, Of: n.ServiceByID(c.ServiceID)}
		ok, err := keep(p.Filter, r)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, r)
		}
	}
	return out, nil
}

func serviceChecks(_ *Gateway, s *snapshot.Snapshot, p CheckParams, seen *Seen) ([]CheckRecord, error) {
	seen.At(snapshot.Service, p.Service)
	out := []CheckRecord{}
	service := s.Service(p.Service)
	if service == nil {
		return out, nil
	}
	for _, inst := range service.Instances {
		if !query.HasPairs(inst.Node.Meta, p.NodeMeta) {
			continue
		}
		for _, c := range inst.Checks {
			if c.ServiceID == "" {
				continue
			}
			r := CheckRecord{Check: c, Of: inst.Service}
			ok, err := keep(p.Filter, r)
			if err != nil {
				return nil, err
			}
			if ok {
				out = append(out, r)
			}
		}
	}
	return out, nil
}

package db

import (
	"encoding/json"

	"signpost/resolver/catalog"
)

// serviceRow is a row of signpost.services.
type serviceRow struct {
	Node        string          `db:"node" json:"node"`
	ID          string          `db:"id" json:"id"`
	Name        string          `db:"name" json:"name"`
	Kind        string          `db:"kind" json:"kind"`
	Address     string          `db:"address" json:"address"`
	Port        int             `db:"port" json:"port"`
	Tags        json.RawMessage `db:"tags" json:"tags"`
	Meta        json.RawMessage `db:"meta" json:"meta"`
	Details     serviceDetails  `db:"details" json:"details"`
	CreateIndex int64           `db:"create_index" json:"create_index"`
	ModifyIndex int64           `db:"modify_index" json:"modify_index"`
}

// serviceDetails is the part of a service that nothing in SQL looks at but
// the function mesh_name.
type serviceDetails struct {
	TaggedAddresses   map[string]catalog.ServiceAddress `json:",omitempty"`
	SocketPath        string                            `json:",omitempty"`
	Weights           *catalog.Weights                  `json:",omitempty"` // nil: the default ones
	EnableTagOverride bool                              `json:",omitempty"`
	Proxy             *catalog.Proxy                    `json:",omitempty"`
	Connect           *catalog.Connect                  `json:",omitempty"`
	Locality          *catalog.Locality                 `json:",omitempty"`
}

func (r *serviceRow) service(v *Values) *catalog.Service {
	s := &catalog.Service{
		Node: r.Node, ID: r.ID, Name: r.Name, Kind: catalog.ServiceKind(r.Kind), Address: r.Address, Port: r.Port,
		Tags: v.list(r.Tags), Meta: v.pairs(r.Meta), TaggedAddresses: r.Details.TaggedAddresses, SocketPath: r.Details.SocketPath,
		EnableTagOverride: r.Details.EnableTagOverride, Proxy: r.Details.Proxy, Locality: r.Details.Locality, Weights: catalog.DefaultWeights,
		CreateIndex: catalog.Index(r.CreateIndex), ModifyIndex: catalog.Index(r.ModifyIndex),
	}
	if r.Details.Weights != nil {
		s.Weights = *r.Details.Weights
	}
	if r.Details.Connect != nil {
		s.Connect = *r.Details.Connect
	}
	return s
}

func detailsOf(s *catalog.Service) string {
	d := serviceDetails{
		TaggedAddresses: s.TaggedAddresses, SocketPath: s.SocketPath,
		EnableTagOverride: s.EnableTagOverride, Locality: s.Locality,
	}
	if s.Weights != catalog.DefaultWeights {
		d.Weights = &s.Weights
	}
	if !emptyProxy(s.Proxy) {
		d.Proxy = s.Proxy
	}
	if s.Connect != (catalog.Connect{}) {
		d.Connect = &s.Connect
	}
	return mustJSON(d)
}

func emptyProxy(p *catalog.Proxy) bool {
	return p == nil || mustJSON(p) == emptyProxyJSON
}

var emptyProxyJSON = mustJSON(catalog.Proxy{})

const selectServices = `
SELECT node, id, name, kind, address, port, tags, meta, details, create_index, modify_index
FROM signpost.services`

// serviceArrays are services to write, as parallel arrays.
type serviceArrays struct {
	nodes, ids, names, kinds, addresses []string
	ports                               []int32
	tags, meta                          []*string
	details                             []string
}

func (a *serviceArrays) add(s *catalog.Service) {
	a.nodes = append(a.nodes, s.Node)
	a.ids = append(a.ids, s.ID)
	a.names = append(a.names, s.Name)
	a.kinds = append(a.kinds, string(s.Kind))
	a.addresses = append(a.addresses, s.Address)
	a.ports = append(a.ports, int32(s.Port))
	a.tags = append(a.tags, sliceJSON(s.Tags))
	a.meta = append(a.meta, mapJSON(s.Meta))
	a.details = append(a.details, detailsOf(s))
}

func (a *serviceArrays) args() []any {
	return []any{a.nodes, a.ids, a.names, a.kinds, a.addresses, a.ports, a.tags, a.meta, a.details}
}

const upsertServices = `
WITH i AS MATERIALIZED (
    SELECT n.name AS node, i.id, i.name, i.kind, i.address, i.port, i.tags::jsonb, i.meta::jsonb, i.details::jsonb
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::int[], $7::text[], $8::text[], $9::text[])
        AS i(node, id, name, kind, address, port, tags, meta, details)
    JOIN signpost.nodes n ON lower(n.name COLLATE "C") = lower(i.node COLLATE "C")
), updated AS (
    UPDATE signpost.services AS s
    SET name = i.name, kind = i.kind, address = i.address, port = i.port, tags = i.tags, meta = i.meta, details = i.details
    FROM i
    WHERE s.node = i.node AND s.id = i.id
      AND (s.name, s.kind, s.address, s.port, s.tags, s.meta, s.details) IS DISTINCT FROM
          (i.name, i.kind, i.address, i.port, i.tags, i.meta, i.details)
)
INSERT INTO signpost.services (node, id, name, kind, address, port, tags, meta, details)
SELECT i.node, i.id, i.name, i.kind, i.address, i.port, i.tags, i.meta, i.details FROM i
WHERE NOT EXISTS (SELECT FROM signpost.services s WHERE s.node = i.node AND s.id = i.id)`

// The checks of a service go first, all at once: the foreign key would take
// them along one service at a time.
const deleteServiceChecks = `
DELETE FROM signpost.checks AS c
USING unnest($1::text[], $2::text[]) AS i(node, id), signpost.nodes n
WHERE lower(n.name COLLATE "C") = lower(i.node COLLATE "C") AND c.node = n.name AND c.service_id = i.id`

const deleteServices = `
DELETE FROM signpost.services AS s
USING unnest($1::text[], $2::text[]) AS i(node, id), signpost.nodes n
WHERE lower(n.name COLLATE "C") = lower(i.node COLLATE "C") AND s.node = n.name AND s.id = i.id`

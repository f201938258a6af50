package db

import (
	"encoding/json"
	"slices"

	"signpost/resolver/catalog"
)

// nodeRow is a row of signpost.nodes, read from the table or from the log.
type nodeRow struct {
	Name            string            `db:"name" json:"name"`
	ID              string            `db:"id" json:"id"`
	Address         string            `db:"address" json:"address"`
	TaggedAddresses json.RawMessage   `db:"tagged_addresses" json:"tagged_addresses"`
	Meta            json.RawMessage   `db:"meta" json:"meta"`
	Locality        *catalog.Locality `db:"locality" json:"locality"`
	CreateIndex     int64             `db:"create_index" json:"create_index"`
	ModifyIndex     int64             `db:"modify_index" json:"modify_index"`
}

func (r *nodeRow) node(v *Values) *catalog.Node {
	return &catalog.Node{
		Name: r.Name, ID: r.ID, Address: r.Address,
		TaggedAddresses: v.pairs(r.TaggedAddresses), Meta: v.pairs(r.Meta), Locality: r.Locality,
		CreateIndex: catalog.Index(r.CreateIndex), ModifyIndex: catalog.Index(r.ModifyIndex),
	}
}

const selectNodes = `
SELECT name, id, address, tagged_addresses, meta, locality, create_index, modify_index
FROM signpost.nodes`

// nodeArrays are nodes to write, as parallel arrays.
type nodeArrays struct {
	names, ids, addresses  []string
	tagged, meta, locality []*string
}

func (a *nodeArrays) add(n *catalog.Node) {
	a.names = append(a.names, n.Name)
	a.ids = append(a.ids, n.ID)
	a.addresses = append(a.addresses, n.Address)
	a.tagged = append(a.tagged, mapJSON(n.TaggedAddresses))
	a.meta = append(a.meta, mapJSON(n.Meta))
	a.locality = append(a.locality, pointerJSON(n.Locality))
}

func (a *nodeArrays) args() []any {
	return []any{a.names, a.ids, a.addresses, a.tagged, a.meta, a.locality}
}

func (a *nodeArrays) haveIDs() bool {
	return slices.ContainsFunc(a.ids, func(id string) bool { return id != "" })
}

// renameNodes gives a node that is known by its ID the name it now comes with.
const renameNodes = `
UPDATE signpost.nodes AS n SET name = i.name
FROM unnest($1::text[], $2::text[]) AS i(name, id)
WHERE i.id <> '' AND n.id = i.id AND lower(n.name COLLATE "C") <> lower(i.name COLLATE "C")`

// upsertNodes keeps the case of the stored name, and the ID if none is given.
// Under the write lock nobody can come between its two halves.
const upsertNodes = `
WITH i AS MATERIALIZED (
    SELECT name, lower(name COLLATE "C") AS folded, id, address, tagged::jsonb, meta::jsonb, locality::jsonb
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
        AS i(name, id, address, tagged, meta, locality)
), updated AS (
    UPDATE signpost.nodes AS n
    SET id = coalesce(nullif(i.id, ''), n.id), address = i.address, tagged_addresses = i.tagged, meta = i.meta, locality = i.locality
    FROM i
    WHERE lower(n.name COLLATE "C") = i.folded
      AND (n.id, n.address, n.tagged_addresses, n.meta, n.locality) IS DISTINCT FROM
          (coalesce(nullif(i.id, ''), n.id), i.address, i.tagged, i.meta, i.locality)
)
INSERT INTO signpost.nodes (name, id, address, tagged_addresses, meta, locality)
SELECT i.name, i.id, i.address, i.tagged, i.meta, i.locality FROM i
WHERE NOT EXISTS (SELECT FROM signpost.nodes n WHERE lower(n.name COLLATE "C") = i.folded)`

// insertNodes leaves nodes that are there as they are.
const insertNodes = `
INSERT INTO signpost.nodes (name, id, address, tagged_addresses, meta, locality)
SELECT i.name, i.id, i.address, i.tagged::jsonb, i.meta::jsonb, i.locality::jsonb
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
    AS i(name, id, address, tagged, meta, locality)
WHERE NOT EXISTS (SELECT FROM signpost.nodes n WHERE lower(n.name COLLATE "C") = lower(i.name COLLATE "C"))`

// The foreign keys would take services and checks along, too, but one row at
// a time.
const deleteNodeChecks = `
DELETE FROM signpost.checks AS c
USING unnest($1::text[]) AS i(name), signpost.nodes n
WHERE lower(n.name COLLATE "C") = lower(i.name COLLATE "C") AND c.node = n.name`

const deleteNodeServices = `
DELETE FROM signpost.services AS s
USING unnest($1::text[]) AS i(name), signpost.nodes n
WHERE lower(n.name COLLATE "C") = lower(i.name COLLATE "C") AND s.node = n.name`

const deleteNodes = `
DELETE FROM signpost.nodes AS n USING unnest($1::text[]) AS i(name)
WHERE lower(n.name COLLATE "C") = lower(i.name COLLATE "C")`

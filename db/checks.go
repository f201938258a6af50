package db

import "signpost/resolver/catalog"

// checkRow is a row of signpost.checks.
type checkRow struct {
	Node        string       `db:"node" json:"node"`
	ID          string       `db:"id" json:"id"`
	Name        string       `db:"name" json:"name"`
	Status      string       `db:"status" json:"status"`
	Notes       string       `db:"notes" json:"notes"`
	Output      string       `db:"output" json:"output"`
	ServiceID   *string      `db:"service_id" json:"service_id"`
	Details     checkDetails `db:"details" json:"details"`
	CreateIndex int64        `db:"create_index" json:"create_index"`
	ModifyIndex int64        `db:"modify_index" json:"modify_index"`
}

// checkDetails is the part of a check that nothing in SQL looks at.
type checkDetails struct {
	Type        string                   `json:",omitempty"`
	Interval    string                   `json:",omitempty"`
	Timeout     string                   `json:",omitempty"`
	ExposedPort int                      `json:",omitempty"`
	Definition  *catalog.CheckDefinition `json:",omitempty"`
}

func (r *checkRow) check() *catalog.Check {
	c := &catalog.Check{
		Node: r.Node, ID: r.ID, Name: r.Name, Status: catalog.Status(r.Status), Notes: r.Notes, Output: r.Output,
		Type: r.Details.Type, Interval: r.Details.Interval, Timeout: r.Details.Timeout, ExposedPort: r.Details.ExposedPort, Definition: r.Details.Definition,
		CreateIndex: catalog.Index(r.CreateIndex), ModifyIndex: catalog.Index(r.ModifyIndex),
	}
	if r.ServiceID != nil {
		c.ServiceID = *r.ServiceID
	}
	return c
}

const selectChecks = `
SELECT node, id, name, status, notes, output, service_id, details, create_index, modify_index
FROM signpost.checks`

// checkArrays are checks to write, as parallel arrays.
type checkArrays struct {
	nodes, ids, names, statuses, notes, outputs []string
	services                                    []*string
	details                                     []string
}

func (a *checkArrays) add(c *catalog.Check) {
	a.nodes = append(a.nodes, c.Node)
	a.ids = append(a.ids, c.ID)
	a.names = append(a.names, c.Name)
	a.statuses = append(a.statuses, string(c.Status))
	a.notes = append(a.notes, c.Notes)
	a.outputs = append(a.outputs, c.Output)
	a.services = append(a.services, notEmpty(c.ServiceID))
	d := checkDetails{Type: c.Type, Interval: c.Interval, Timeout: c.Timeout, ExposedPort: c.ExposedPort}
	if c.Definition != nil && mustJSON(c.Definition) != "{}" {
		d.Definition = c.Definition
	}
	a.details = append(a.details, mustJSON(d))
}

func (a *checkArrays) args() []any {
	return []any{a.nodes, a.ids, a.names, a.statuses, a.notes, a.outputs, a.services, a.details}
}

const upsertChecks = `
WITH i AS MATERIALIZED (
    SELECT n.name AS node, i.id, i.name, i.status, i.notes, i.output, i.service_id, i.details::jsonb
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
        AS i(node, id, name, status, notes, output, service_id, details)
    JOIN signpost.nodes n ON lower(n.name COLLATE "C") = lower(i.node COLLATE "C")
), updated AS (
    UPDATE signpost.checks AS c
    SET name = i.name, status = i.status, notes = i.notes, output = i.output, service_id = i.service_id, details = i.details
    FROM i
    WHERE c.node = i.node AND c.id = i.id
      AND (c.name, c.status, c.notes, c.output, c.service_id, c.details) IS DISTINCT FROM
          (i.name, i.status, i.notes, i.output, i.service_id, i.details)
)
INSERT INTO signpost.checks (node, id, name, status, notes, output, service_id, details)
SELECT i.node, i.id, i.name, i.status, i.notes, i.output, i.service_id, i.details FROM i
WHERE NOT EXISTS (SELECT FROM signpost.checks c WHERE c.node = i.node AND c.id = i.id)`

const deleteChecks = `
DELETE FROM signpost.checks AS c
USING unnest($1::text[], $2::text[]) AS i(node, id), signpost.nodes n
WHERE lower(n.name COLLATE "C") = lower(i.node COLLATE "C") AND c.node = n.name AND c.id = i.id`

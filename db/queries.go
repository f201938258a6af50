package db

import "signpost/resolver/catalog"

// queryRow is a row of signpost.queries.
type queryRow struct {
	ID          string               `db:"id" json:"id"`
	Name        string               `db:"name" json:"name"`
	Session     *string              `db:"session" json:"session"`
	Token       string               `db:"token" json:"token"`
	Template    catalog.Template     `db:"template" json:"template"`
	Service     catalog.QueryService `db:"service" json:"service"`
	DNS         catalog.QueryDNS     `db:"dns" json:"dns"`
	CreateIndex int64                `db:"create_index" json:"create_index"`
	ModifyIndex int64                `db:"modify_index" json:"modify_index"`
}

func (r *queryRow) query() *catalog.Query {
	q := &catalog.Query{
		ID: r.ID, Name: r.Name, Token: r.Token, Template: r.Template, Service: r.Service, DNS: r.DNS,
		CreateIndex: catalog.Index(r.CreateIndex), ModifyIndex: catalog.Index(r.ModifyIndex),
	}
	if r.Session != nil {
		q.Session = *r.Session
	}
	return q
}

const selectQueries = `
SELECT id::text, name, session::text, token, template, service, dns, create_index, modify_index
FROM signpost.queries`

// queryArrays are queries to write, as parallel arrays.
type queryArrays struct {
	ids, names             []string
	sessions               []*string
	tokens                 []string
	templates, services, d []string
	expected               []int64 // modify_index that a row must have; 0: any
}

func (a *queryArrays) add(q *catalog.Query, expected *catalog.Index) {
	a.ids = append(a.ids, q.ID)
	a.names = append(a.names, q.Name)
	a.sessions = append(a.sessions, notEmpty(q.Session))
	a.tokens = append(a.tokens, q.Token)
	a.templates = append(a.templates, mustJSON(q.Template))
	a.services = append(a.services, mustJSON(q.Service))
	a.d = append(a.d, mustJSON(q.DNS))
	if expected == nil {
		a.expected = append(a.expected, 0)
	} else {
		a.expected = append(a.expected, int64(*expected))
	}
}

func (a *queryArrays) args() []any {
	return []any{a.ids, a.names, a.sessions, a.tokens, a.templates, a.services, a.d}
}

const insertQueries = `
INSERT INTO signpost.queries (id, name, session, token, template, service, dns)
SELECT i.id::uuid, i.name, i.session::uuid, i.token, i.template::jsonb, i.service::jsonb, i.dns::jsonb
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
    AS i(id, name, session, token, template, service, dns)`

// updateQueries returns those that exist and were expected as they are, also
// where the definition was the same. CAS is the comparison with modify_index.
const updateQueries = `
UPDATE signpost.queries AS q
SET name = i.name, session = i.session::uuid, token = i.token,
    template = i.template::jsonb, service = i.service::jsonb, dns = i.dns::jsonb
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[])
    AS i(id, name, session, token, template, service, dns, expected)
WHERE q.id = i.id::uuid AND (i.expected = 0 OR q.modify_index = i.expected)
RETURNING q.id::text`

// selectQueryIDs tells a missing query from one that was not as expected.
const selectQueryIDs = `
SELECT q.id::text FROM signpost.queries q
WHERE q.id IN (SELECT i.id::uuid FROM unnest($1::text[]) AS i(id))`

const deleteQueries = `
DELETE FROM signpost.queries AS q USING unnest($1::text[]) AS i(id)
WHERE q.id = i.id::uuid RETURNING q.id::text`

package gateway

import (
	"github.com/google/uuid"

	"signpost/resolver"
	"signpost/resolver/catalog"
	"signpost/resolver/query"
	"signpost/resolver/snapshot"
)

// ExecuteParams are those of one execution.
type ExecuteParams struct {
	Query string // ID or name
	resolver.ExecuteOptions
}

// UpdateParams replace the query with an ID.
type UpdateParams struct {
	ID    string
	Query catalog.Query
}

// Operations on prepared queries.
// Source: reference, prepared queries, sections 2 and 3.
var (
	QueryCreate = Change[catalog.Query, string]{
		Operation: Operation{Name: "PreparedQuery.Create", Access: WriteAccess, Right: "query:write"},
		Prepare:   prepareCreate,
		Check:     checkQueryName,
		Answer:    func(q *catalog.Query, _ catalog.Outcome) string { return q.ID },
	}
	QueryUpdate = Change[UpdateParams, None]{
		Operation: Operation{Name: "PreparedQuery.Update", Access: WriteAccess, Right: "query:write"},
		Prepare:   prepareUpdate,
		Check: func(s *snapshot.Snapshot, p *UpdateParams) error {
			if s.Query(p.ID) == nil {
				return catalog.NoSuchQuery(p.ID)
			}
			return checkQueryName(s, &p.Query)
		},
		Answer: func(*UpdateParams, catalog.Outcome) None { return None{} },
	}
	QueryDelete = Change[string, None]{
		Operation: Operation{Name: "PreparedQuery.Delete", Access: WriteAccess, Right: "query:write"},
		Prepare: func(_ *Gateway, id *string) (catalog.Write, error) {
			*id = catalog.Fold(*id)
			return catalog.DeleteQuery{ID: *id}, checkQueryID(*id)
		},
		Check: func(s *snapshot.Snapshot, id *string) error {
			if s.Query(*id) == nil {
				return catalog.NoSuchQuery(*id)
			}
			return nil
		},
		Answer: func(*string, catalog.Outcome) None { return None{} },
	}
	QueryList    = Read[None, []*snapshot.QueryEntry]{Operation: Operation{Name: "PreparedQuery.List", Right: "query:read"}, Look: listQueries}
	QueryGet     = Read[string, *snapshot.QueryEntry]{Operation: Operation{Name: "PreparedQuery.Get", Right: "query:read"}, Look: getQuery}
	QueryExecute = Read[ExecuteParams, resolver.Execution]{Operation: Operation{Name: "PreparedQuery.Execute", Right: "node:read, service:read"}, Look: executeQuery}
)

func prepareCreate(_ *Gateway, q *catalog.Query) (catalog.Write, error) {
	if q.ID != "" {
		return nil, catalog.Errorf(catalog.Invalid, "ID must be empty when creating a new prepared query")
	}
	if err := validateQuery(q); err != nil {
		return nil, err
	}
	q.ID = uuid.NewString()
	return catalog.CreateQuery{Query: *q}, nil
}

func prepareUpdate(_ *Gateway, p *UpdateParams) (catalog.Write, error) {
	p.ID = catalog.Fold(p.ID)
	if err := checkQueryID(p.ID); err != nil {
		return nil, err
	}
	if err := validateQuery(&p.Query); err != nil {
		return nil, err
	}
	p.Query.ID = p.ID
	return catalog.UpdateQuery{Query: p.Query}, nil
}

func validateQuery(q *catalog.Query) error {
	if len(q.Name) > catalog.MaxName {
		return catalog.Errorf(catalog.Invalid, "Invalid prepared query: name is longer than %d bytes", catalog.MaxName)
	}
	if len(q.Service.Service) > catalog.MaxName {
		return catalog.Errorf(catalog.Invalid, "Invalid prepared query: service name is longer than %d bytes", catalog.MaxName)
	}
	if q.Session != "" && !catalog.IsUUID(q.Session) {
		return catalog.Errorf(catalog.Invalid, "invalid session %q", q.Session)
	}
	return query.Validate(q)
}

func checkQueryID(id string) error {
	if !catalog.IsUUID(id) {
		return catalog.Errorf(catalog.Invalid, "Prepared Query lookup failed: %q is not a UUID", id)
	}
	return nil
}

// checkQueryName refuses names that belong to another query, or look like
// the ID of one.
func checkQueryName(s *snapshot.Snapshot, q *catalog.Query) error {
	if q.Name == "" {
		return nil
	}
	if other := s.QueryNamed(q.Name); other != nil && other.ID != q.ID {
		return catalog.Errorf(catalog.Conflict, "name '%s' aliases an existing query name", q.Name)
	}
	if catalog.IsUUID(q.Name) && s.Query(q.Name) != nil {
		return catalog.Errorf(catalog.Conflict, "name '%s' aliases an existing query ID", q.Name)
	}
	return nil
}

func listQueries(_ *Gateway, s *snapshot.Snapshot, _ None, seen *Seen) ([]*snapshot.QueryEntry, error) {
	seen.At(snapshot.Queries, "")
	out := []*snapshot.QueryEntry{}
	for q := range s.Queries() {
		out = append(out, q)
	}
	return out, nil
}

func getQuery(_ *Gateway, s *snapshot.Snapshot, id string, seen *Seen) (*snapshot.QueryEntry, error) {
	if !catalog.IsUUID(id) {
		return nil, catalog.ErrQueryNotFound
	}
	seen.At(snapshot.Query, id)
	q := s.Query(id)
	if q == nil {
		seen.Missing()
		return nil, catalog.ErrQueryNotFound
	}
	return q, nil
}

// executeQuery has index 1, always: executions do not block
// (reference, http conventions, section 5).
func executeQuery(g *Gateway, s *snapshot.Snapshot, p ExecuteParams, seen *Seen) (resolver.Execution, error) {
	q := resolver.FindQuery(s, p.Query)
	if q == nil {
		seen.Missing()
		return resolver.Execution{}, catalog.ErrQueryNotFound
	}
	return resolver.Execute(s, q, g.Datacenter, p.ExecuteOptions, g.rand), nil
}

package catalog

// Write is a change that the store applies as a whole or not at all.
type Write interface{ write() }

// Registration creates or updates a node, then a service on it, then checks.
// Source: reference, catalog and ACL, section 1.2.
type Registration struct {
	Node           Node
	SkipNodeUpdate bool     // leave an existing node as it is
	Service        *Service // nil: none
	Checks         []Check
}

// Deregistration removes a service with its checks (ServiceID), or else one
// check (CheckID), or else the node with everything on it. What is not there
// is removed without an error. Source: section 1.3.
type Deregistration struct {
	Node      string
	ServiceID string
	CheckID   string
}

// CreateQuery stores a new prepared query under the ID that it carries.
// Errors: Conflict when its name is taken, Invalid for an unknown session.
type CreateQuery struct{ Query Query }

// UpdateQuery replaces a prepared query.
// Errors: as CreateQuery, and NotFound when there is none with that ID.
type UpdateQuery struct {
	Query Query
	// If is nil for an unconditional update. Otherwise the update happens
	// only while the query's ModifyIndex is this one, and Outcome says so.
	If *Index
}

// DeleteQuery removes a prepared query. Errors: NotFound.
type DeleteQuery struct{ ID string }

func (Registration) write()   {}
func (Deregistration) write() {}
func (CreateQuery) write()    {}
func (UpdateQuery) write()    {}
func (DeleteQuery) write()    {}

// Outcome is what became of a write that was committed.
type Outcome struct {
	// Index that the write is visible at: a replica that has applied it
	// shows what was written.
	Index Index
	// Held is false when the condition of the write did not hold; then
	// nothing was changed. Unconditional writes always hold.
	Held bool
}

package db

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"signpost/resolver/catalog"
)

// group is the writes of one transaction, sorted by the statements that make
// them. As no two writes of a group contradict each other, the order of the
// statements does not matter to them, but that nodes come before what is on
// them.
type group struct {
	writes []*pending

	nodes, newNodes nodeArrays // newNodes: only if they are not there
	services        serviceArrays
	checks          checkArrays
	dropNodes       []string
	dropServices    pairs
	dropChecks      pairs
	created         queryArrays
	updated         queryArrays
	droppedQueries  []string

	seen map[string]bool // records that are in the arrays already
}

// pairs are (node, id) keys, as parallel arrays.
type pairs struct{ nodes, ids []string }

func (p *pairs) add(node, id string) {
	p.nodes = append(p.nodes, node)
	p.ids = append(p.ids, id)
}

// newGroup sorts writes.
func newGroup(writes []*pending) *group {
	g := &group{writes: writes, seen: map[string]bool{}}
	for _, p := range writes {
		switch w := p.write.(type) {
		case catalog.Registration:
			g.register(&w)
		case catalog.Deregistration:
			g.deregister(&w)
		case catalog.CreateQuery:
			g.created.add(&w.Query, nil)
		case catalog.UpdateQuery:
			g.updated.add(&w.Query, w.If)
		case catalog.DeleteQuery:
			if g.first(queryRecord(w.ID)) {
				g.droppedQueries = append(g.droppedQueries, w.ID)
			}
		}
	}
	return g
}

// first tells whether a record is new to the group: writes that agree on a
// record need one row among them.
func (g *group) first(record string) bool {
	if g.seen[record] {
		return false
	}
	g.seen[record] = true
	return true
}

func (g *group) register(r *catalog.Registration) {
	if g.first(nodeRecord(r.Node.Name)) {
		if r.SkipNodeUpdate {
			g.newNodes.add(&r.Node)
		} else {
			g.nodes.add(&r.Node)
		}
	}
	if r.Service != nil && g.first(serviceRecord(r.Node.Name, r.Service.ID)) {
		g.services.add(r.Service)
	}
	for i := range r.Checks {
		if g.first(checkRecord(r.Node.Name, r.Checks[i].ID)) {
			g.checks.add(&r.Checks[i])
		}
	}
}

func (g *group) deregister(d *catalog.Deregistration) {
	switch {
	case d.ServiceID != "":
		g.dropServices.add(d.Node, d.ServiceID)
	case d.CheckID != "":
		g.dropChecks.add(d.Node, d.CheckID)
	default:
		g.dropNodes = append(g.dropNodes, d.Node)
	}
}

// conditional tells whether committing alone does not tell how each write
// went. Then results are read before the commit is sent.
func (g *group) conditional() bool {
	return len(g.updated.ids) > 0 || len(g.droppedQueries) > 0
}

// queue puts the statements into a batch. What the conditional ones return is
// noted in found.
func (g *group) queue(b *pgx.Batch, found *queryResults) {
	g.queueRegistrations(b)
	if len(g.dropChecks.ids) > 0 {
		b.Queue(deleteChecks, g.dropChecks.nodes, g.dropChecks.ids)
	}
	if len(g.dropServices.ids) > 0 {
		b.Queue(deleteServiceChecks, g.dropServices.nodes, g.dropServices.ids)
		b.Queue(deleteServices, g.dropServices.nodes, g.dropServices.ids)
	}
	if len(g.dropNodes) > 0 {
		b.Queue(deleteNodeChecks, g.dropNodes)
		b.Queue(deleteNodeServices, g.dropNodes)
		b.Queue(deleteNodes, g.dropNodes)
	}
	g.queueQueries(b, found)
}

func (g *group) queueRegistrations(b *pgx.Batch) {
	if len(g.nodes.names) > 0 {
		if g.nodes.haveIDs() {
			b.Queue(renameNodes, g.nodes.names, g.nodes.ids)
		}
		b.Queue(upsertNodes, g.nodes.args()...)
	}
	if len(g.newNodes.names) > 0 {
		b.Queue(insertNodes, g.newNodes.args()...)
	}
	if len(g.services.ids) > 0 {
		b.Queue(upsertServices, g.services.args()...)
	}
	if len(g.checks.ids) > 0 {
		b.Queue(upsertChecks, g.checks.args()...)
	}
}

func (g *group) queueQueries(b *pgx.Batch, found *queryResults) {
	if len(g.droppedQueries) > 0 {
		b.Queue(deleteQueries, g.droppedQueries).Query(collectIDs(&found.deleted))
	}
	if len(g.updated.ids) > 0 {
		b.Queue(updateQueries, append(g.updated.args(), g.updated.expected)...).Query(collectIDs(&found.updated))
		b.Queue(selectQueryIDs, g.updated.ids).Query(collectIDs(&found.existing))
	}
	if len(g.created.ids) > 0 {
		b.Queue(insertQueries, g.created.args()...)
	}
}

// queryResults are the IDs that conditional statements returned.
type queryResults struct{ deleted, updated, existing map[string]bool }

func collectIDs(into *map[string]bool) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return err
		}
		*into = make(map[string]bool, len(ids))
		for _, id := range ids {
			(*into)[id] = true
		}
		return nil
	}
}

// outcome tells how one write of a committed group went.
func (r *queryResults) outcome(w catalog.Write, at catalog.Index) (catalog.Outcome, error) {
	out := catalog.Outcome{Index: at, Held: true}
	switch w := w.(type) {
	case catalog.UpdateQuery:
		if !r.existing[w.Query.ID] {
			return out, catalog.NoSuchQuery(w.Query.ID)
		}
		out.Held = r.updated[w.Query.ID]
	case catalog.DeleteQuery:
		if !r.deleted[w.ID] {
			return out, catalog.NoSuchQuery(w.ID)
		}
	}
	return out, nil
}

const (
	beginSQL    = `BEGIN`
	timeoutSQL  = `SET LOCAL lock_timeout = '2s'`
	beginWrite  = `SELECT signpost.begin_write($1::text::uuid)`
	newestIndex = `SELECT coalesce(max(index), 0) FROM signpost.changes`
	commitSQL   = `COMMIT`
	rollbackSQL = `ROLLBACK`
)

// run makes the transaction, named tx, and gives the index that it is visible
// at. sent is true from the moment that the server may have committed.
func (g *group) run(ctx context.Context, conn *pgx.Conn, tx string, sent *bool) (at catalog.Index, found queryResults, err error) {
	var newest int64
	b := &pgx.Batch{}
	b.Queue(beginSQL)
	b.Queue(timeoutSQL)
	b.Queue(beginWrite, tx)
	g.queue(b, &found)
	b.Queue(newestIndex).QueryRow(func(row pgx.Row) error { return row.Scan(&newest) })
	twoTrips := g.conditional()
	if !twoTrips {
		b.Queue(commitSQL)
		*sent = true
	}
	if err := conn.SendBatch(ctx, b).Close(); err != nil {
		return 0, found, fmt.Errorf("write a group of %d: %w", len(g.writes), err)
	}
	if twoTrips {
		*sent = true
		if _, err := conn.Exec(ctx, commitSQL); err != nil {
			return 0, found, fmt.Errorf("commit a group of %d: %w", len(g.writes), err)
		}
	}
	return catalog.Index(newest), found, nil
}

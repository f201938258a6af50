package db

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"signpost/resolver/catalog"
	"signpost/resolver/snapshot"
)

// Position is a place in the history of the catalog: the newest index that
// was committed, and the random id of the transaction that did it. Two
// histories that use the same index differ in the id.
type Position struct {
	Index catalog.Index
	Tx    string // empty for the beginning
}

const (
	beginLoad      = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL enable_seqscan = on`
	selectPosition = `
SELECT s.floor, coalesce(c.index, 0), coalesce(c.tx::text, '')
FROM signpost.state s
LEFT JOIN LATERAL (SELECT index, tx FROM signpost.changes ORDER BY index DESC LIMIT 1) c ON true`
	selectTombstones = `SELECT kind, name, index FROM signpost.tombstones`
)

// Load reads the whole catalog, as it is at one moment, into b. progress is
// called for every row that arrives.
func Load(ctx context.Context, conn *pgx.Conn, v *Values, b *snapshot.Builder, progress func()) (Position, error) {
	var at Position
	if _, err := conn.Exec(ctx, beginLoad); err != nil {
		return at, fmt.Errorf("begin the load: %w", err)
	}
	at, err := load(ctx, conn, v, b, progress)
	if err != nil {
		return at, fmt.Errorf("load the catalog: %w", err)
	}
	if _, err := conn.Exec(ctx, commitSQL); err != nil {
		return at, fmt.Errorf("end the load: %w", err)
	}
	return at, nil
}

func load(ctx context.Context, conn *pgx.Conn, v *Values, b *snapshot.Builder, progress func()) (at Position, err error) {
	var floor, index int64
	if err := conn.QueryRow(ctx, selectPosition).Scan(&floor, &index, &at.Tx); err != nil {
		return at, fmt.Errorf("position: %w", err)
	}
	at.Index = catalog.Index(index)
	b.RaiseFloor(catalog.Index(floor))
	steps := []func() error{
		func() error { return each(ctx, conn, selectNodes, progress, func(r *nodeRow) { b.PutNode(r.node(v)) }) },
		func() error {
			return each(ctx, conn, selectServices, progress, func(r *serviceRow) { b.PutService(r.service(v)) })
		},
		func() error {
			return each(ctx, conn, selectChecks, progress, func(r *checkRow) { b.PutCheck(r.check()) })
		},
		func() error {
			return each(ctx, conn, selectQueries, progress, func(r *queryRow) { b.PutQuery(r.query()) })
		},
		func() error {
			return each(ctx, conn, selectTombstones, progress, func(r *tombstoneRow) {
				if t, ok := r.thing(); ok {
					b.PutTombstone(t, catalog.Index(r.Index))
				}
			})
		},
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return at, err
		}
	}
	return at, nil
}

// each calls do for every row. The row is a new one each time, so that do may
// keep its parts.
func each[R any](ctx context.Context, conn *pgx.Conn, sql string, progress func(), do func(*R)) error {
	rows, err := conn.Query(ctx, sql)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		progress()
		r, err := pgx.RowToAddrOfStructByPos[R](rows)
		if err != nil {
			return fmt.Errorf("read %T: %w", r, err)
		}
		do(r)
	}
	return rows.Err()
}

// tombstoneRow is a row of signpost.tombstones.
type tombstoneRow struct {
	Kind  string `json:"kind"`
	Name  string `json:"name"`
	Index int64  `json:"index"`
}

// thing is false for a kind that only newer versions know.
func (r *tombstoneRow) thing() (snapshot.Thing, bool) {
	kind, ok := snapshot.KindNamed(r.Kind)
	return snapshot.Thing{Kind: kind, Name: r.Name}, ok
}

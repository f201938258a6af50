package db

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"signpost/resolver/catalog"
	"signpost/resolver/snapshot"
)

// Reasons why the change log cannot be followed from where one is.
var (
	// ErrTrimmed means that changes in between are gone from the log.
	ErrTrimmed = errors.New("the change log was trimmed past what was applied here")
	// ErrReload means that somebody emptied a table, or that a row was not
	// understood: only a full load tells what is there.
	ErrReload = errors.New("the change log asks for a full load")
	// ErrHistoryLost means that the database no longer contains what was
	// applied here: a standby without it was promoted, or a backup restored.
	ErrHistoryLost = errors.New("the database lost changes that were applied here")
)

// tuneReader keeps the plan for the change log from the days when it was empty
// or had other statistics: it must always walk the index.
const tuneReader = `SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET enable_bitmapscan = off; SET jit = off`

// ConnectReader opens the connection for Load and Follow.
func ConnectReader(ctx context.Context, url string) (*pgx.Conn, error) {
	conn, err := Connect(ctx, url, "reader")
	if err != nil {
		return nil, err
	}
	if _, err := conn.Exec(ctx, tuneReader); err != nil {
		closeNow(conn)
		return nil, fmt.Errorf("tune the reader's connection: %w", err)
	}
	conn.TypeMap().RegisterType(&pgtype.Type{
		Name: "jsonb", OID: pgtype.JSONBOID, Codec: &pgtype.JSONBCodec{Marshal: json.Marshal, Unmarshal: readable},
	})
	return conn, nil
}

// selectChanges gives at least one row, for the state of the log, and reads
// that state in the same moment as the changes.
const selectChanges = `
SELECT s.trimmed_to,
       coalesce((SELECT here.tx::text FROM signpost.changes here WHERE here.index = $1 LIMIT 1), ''),
       c.index, c.tx::text, c.tbl, c.op, c.row
FROM signpost.state s LEFT JOIN signpost.changes c ON c.index > $1
ORDER BY c.index, c.seq`

// Follow reads all changes after a position into b, and gives the position
// they lead to. progress is called for every row that arrives.
func Follow(ctx context.Context, conn *pgx.Conn, v *Values, from Position, b *snapshot.Builder, progress func()) (Position, error) {
	rows, err := conn.Query(ctx, selectChanges, int64(from.Index))
	if err != nil {
		return from, fmt.Errorf("read the change log: %w", err)
	}
	defer rows.Close()
	at := from
	for rows.Next() {
		progress()
		var r changeRow
		if err := rows.Scan(&r.trimmedTo, &r.txHere, &r.index, &r.tx, &r.table, &r.op, &r.row); err != nil {
			return from, fmt.Errorf("read the change log: %w", err)
		}
		if err := r.checkHistory(from); err != nil {
			return from, err
		}
		if r.index == nil {
			break // nothing new
		}
		if err := r.apply(v, b); err != nil {
			return from, err
		}
		at = Position{Index: catalog.Index(*r.index), Tx: *r.tx}
	}
	if err := rows.Err(); err != nil {
		return from, fmt.Errorf("read the change log: %w", err)
	}
	return at, nil
}

// changeRow is a row of the log, with the state of the log beside it.
type changeRow struct {
	trimmedTo int64
	txHere    string // the transaction at the index that was applied here
	index     *int64
	tx        *string
	table     *string
	op        *string
	row       []byte
}

func (r *changeRow) checkHistory(from Position) error {
	switch {
	case r.txHere != "" && r.txHere == from.Tx:
		return nil
	case r.txHere == "" && r.trimmedTo > 0 && r.trimmedTo >= int64(from.Index):
		return ErrTrimmed
	case from.Index == 0:
		return nil // the beginning of a history has no transaction
	}
	return ErrHistoryLost
}

// rowKey is what the log has of a removed row.
type rowKey struct {
	Node string `json:"node"`
	ID   string `json:"id"`
	Name string `json:"name"`
}

// apply puts one change into b. Tables that only newer versions know are
// passed over: nothing here depends on them.
func (r *changeRow) apply(v *Values, b *snapshot.Builder) error {
	if *r.op == "reload" {
		return ErrReload
	}
	if *r.op == "delete" {
		var k rowKey
		if err := json.Unmarshal(r.row, &k); err != nil {
			return r.misread(err)
		}
		r.applyDelete(b, k)
		return nil
	}
	if err := r.applyPut(v, b); err != nil {
		return r.misread(err)
	}
	return nil
}

func (r *changeRow) misread(err error) error {
	return fmt.Errorf("change %d of table %s is not understood (%w): %w", *r.index, *r.table, err, ErrReload)
}

func (r *changeRow) applyDelete(b *snapshot.Builder, k rowKey) {
	switch *r.table {
	case "nodes":
		b.DeleteNode(k.Name)
	case "services":
		b.DeleteService(k.Node, k.ID)
	case "checks":
		b.DeleteCheck(k.Node, k.ID)
	case "queries":
		b.DeleteQuery(k.ID)
	}
}

func (r *changeRow) applyPut(v *Values, b *snapshot.Builder) error {
	switch *r.table {
	case "nodes":
		return decoded(r.row, func(n *nodeRow) { b.PutNode(n.node(v)) })
	case "services":
		return decoded(r.row, func(s *serviceRow) { b.PutService(s.service(v)) })
	case "checks":
		return decoded(r.row, func(c *checkRow) { b.PutCheck(c.check()) })
	case "queries":
		return decoded(r.row, func(q *queryRow) { b.PutQuery(q.query()) })
	case "tombstones":
		return decoded(r.row, func(t *tombstoneRow) {
			if thing, ok := t.thing(); ok {
				b.PutTombstone(thing, catalog.Index(t.Index))
			}
		})
	case "state":
		return decoded(r.row, func(s *struct{ Floor int64 }) { b.RaiseFloor(catalog.Index(s.Floor)) })
	}
	return nil
}

func decoded[R any](b []byte, do func(*R)) error {
	r := new(R)
	if err := readable(b, r); err != nil {
		return err
	}
	do(r)
	return nil
}

const raiseIndex = `SELECT signpost.raise_index($1)`

// RaiseIndex makes sure, after history was lost, that no index up to above is
// ever given again, and that whoever waits on one wakes up.
func RaiseIndex(ctx context.Context, conn *pgx.Conn, above catalog.Index) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, timeoutSQL); err != nil {
			return fmt.Errorf("raise the index: %w", err)
		}
		if _, err := tx.Exec(ctx, raiseIndex, int64(above)); err != nil {
			return fmt.Errorf("raise the index over %d: %w", above, err)
		}
		return nil
	})
}

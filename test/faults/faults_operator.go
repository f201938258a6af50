package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// What operators do with psql and pg_dump.

// lockHeld leaves a transaction open that has written.
func lockHeld(ctx context.Context, r *run) error {
	return leftOpen(ctx, r, `BEGIN; UPDATE signpost.nodes SET address = address || '1' WHERE name = 'n-0'`)
}

// rowHeld leaves a transaction open that has locked rows and written nothing.
func rowHeld(ctx context.Context, r *run) error {
	return leftOpen(ctx, r, `BEGIN; SELECT FROM signpost.services WHERE name = 'svc-0' FOR UPDATE`)
}

const leaveOpen = 9 * time.Second

// leftOpen begins a transaction and goes for a walk.
func leftOpen(ctx context.Context, r *run, sql string) error {
	conn, err := operator(ctx, r.url)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, sql); err != nil {
		return fmt.Errorf("leave a transaction open: %w", err)
	}
	if err := rest(ctx, leaveOpen); err != nil {
		return err
	}
	_, err = conn.Exec(ctx, `ROLLBACK`)
	r.note("after %s the operator was told: %v", leaveOpen, err)
	return nil
}

// emptied truncates the services, again and again. TRUNCATE locks its table
// first, and asks for the write lock then.
func emptied(ctx context.Context, r *run) error {
	rounds := 30
	if r.short {
		rounds = 5
	}
	for range rounds {
		if err := r.disturbed(ctx, func() error { return r.operate(ctx, `TRUNCATE signpost.services CASCADE`) }); err != nil {
			return err
		}
		if err := rest(ctx, 300*time.Millisecond); err != nil {
			return err
		}
	}
	r.note("%d times", rounds)
	return nil
}

// disturbed does what takes data away, and returns when every gateway has
// applied it.
func (r *run) disturbed(ctx context.Context, act func() error) error {
	r.book.disturb()
	if err := act(); err != nil {
		return err
	}
	for _, g := range r.gateways {
		if err := r.await(ctx, recoverWait, func() error {
			a, err := g.ask(ctx, http.MethodGet, "/v1/catalog/nodes?consistent", "", readWait)
			if err == nil && a.status != http.StatusOK {
				err = fmt.Errorf("%d %q", a.status, a.body)
			}
			return err
		}); err != nil {
			return fmt.Errorf("gateway %d does not catch up: %w", g.number, err)
		}
	}
	r.book.back()
	r.book.settle()
	return nil
}

// bulkUpdated changes every row, many times, as one statement.
func bulkUpdated(ctx context.Context, r *run) error {
	rounds := 20
	for i := range rounds {
		if err := r.operate(ctx, `UPDATE signpost.services SET meta = jsonb_build_object('round', $1::int::text)`, i); err != nil {
			return err
		}
		if err := r.operate(ctx, `UPDATE signpost.checks SET notes = $1::int::text`, i); err != nil {
			return err
		}
	}
	r.note("%d bulk updates of all services and of all checks", rounds)
	return nil
}

// everyOrder has four operators write the same rows, each in another order,
// while 16 clients of the gateways write them too.
func everyOrder(ctx context.Context, r *run) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	clients := errgroup.Group{}
	for w := range 16 - writersInAll {
		clients.Go(func() error { return r.writeNodes(ctx, r.gateways[w%len(r.gateways)], w) })
	}
	rounds := 40
	if r.short {
		rounds = 10
	}
	operators := errgroup.Group{}
	for seed := range 4 {
		operators.Go(func() error { return r.inOrder(ctx, seed, rounds) })
	}
	err := operators.Wait()
	cancel()
	if told := clients.Wait(); err == nil {
		err = told
	}
	r.note("4 operators, %d transactions each, beside 16 writers", rounds)
	return err
}

// orders are the orders in which the four operators write.
var orders = [4][]int{{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 3, 0, 2}, {2, 0, 3, 1}}

// inOrder changes nodes, services and checks, row by row, in one order.
func (r *run) inOrder(ctx context.Context, seed, rounds int) error {
	conn, err := operator(ctx, r.url)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	tables := []string{
		`UPDATE signpost.nodes SET meta = jsonb_build_object('by', '%[2]d-%[3]d') WHERE name = 'n-%[1]d'`,
		`UPDATE signpost.services SET meta = jsonb_build_object('by', '%[2]d-%[3]d') WHERE node = 'n-%[1]d'`,
		`UPDATE signpost.checks SET notes = '%[2]d-%[3]d' WHERE node = 'n-%[1]d'`,
	}
	for round := range rounds {
		var sql strings.Builder
		sql.WriteString(`BEGIN;`)
		for i, row := range orders[seed] {
			fmt.Fprintf(&sql, tables[(i+seed)%len(tables)]+";", row, seed, round)
		}
		for _, row := range orders[(seed+round)%4] {
			fmt.Fprintf(&sql, tables[(row+round)%len(tables)]+";", row, seed, round)
		}
		sql.WriteString(`COMMIT`)
		if _, err := conn.Exec(ctx, sql.String()); err != nil {
			return fmt.Errorf("operator %d: %w", seed, err)
		}
	}
	return nil
}

// writeNodes writes the nodes themselves, which the other writers leave as
// they are, and gives back the first refusal.
func (r *run) writeNodes(ctx context.Context, g *gateway, writer int) error {
	for n := 0; rest(ctx, writePace) == nil; n++ {
		body := fmt.Sprintf(`{"Node":"n-%d","Address":"10.1.1.1","NodeMeta":{"by":"%d-%d"}}`, (n+writer)%4, writer, n)
		a, err := g.ask(context.WithoutCancel(ctx), http.MethodPut, "/v1/catalog/register", body, writeWait)
		if o := outcomeOf(a, err); o != acked {
			return fmt.Errorf("gateway %d: %d %q (%w)", g.number, a.status, a.body, err)
		}
	}
	return nil
}

// dumped runs pg_dump again and again.
func dumped(ctx context.Context, r *run) error {
	d := 20 * time.Second
	if r.short {
		d = 3 * time.Second
	}
	end := time.Now().Add(d)
	n := 0
	for ; time.Now().Before(end); n++ {
		if err := r.pg.tool(ctx, "pg_dump", "--file=/dev/null", r.url); err != nil {
			return err
		}
	}
	r.note("%d dumps in %s", n, d)
	return nil
}

// restored puts an older dump in the place of what was written since.
func restored(ctx context.Context, r *run) error {
	dump := filepath.Join(r.pg.dir, "dump.sql")
	if err := r.pg.tool(ctx, "pg_dump", "--schema=signpost", "--file="+dump, r.url); err != nil {
		return err
	}
	if err := rest(ctx, 1500*time.Millisecond); err != nil {
		return err
	}
	content, err := os.ReadFile(dump)
	if err != nil {
		return fmt.Errorf("read the dump: %w", err)
	}
	// One transaction, as `psql --single-transaction` makes it: there is no
	// moment without a schema.
	script := filepath.Join(r.pg.dir, "restore.sql")
	if err := os.WriteFile(script, append([]byte("DROP SCHEMA signpost CASCADE;\n"), content...), 0o600); err != nil {
		return fmt.Errorf("write the script: %w", err)
	}
	return r.disturbed(ctx, func() error {
		for try := 1; ; try++ {
			err := r.pg.tool(ctx, "psql", "--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", "--single-transaction", "--file="+script, r.url)
			if err == nil || try == 10 {
				r.note("restored at the %d. try", try)
				return err
			}
		}
	})
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
)

// queries are the prepared queries that were made, by name. They are written
// because their outcomes depend on what is there: done twice, a create says
// "exists" and a delete says "unknown".
type queries struct {
	mu sync.Mutex
	by map[string]*query
}

// query is what is known of one. Unsure: a write's outcome was not told.
type query struct {
	id      string
	epoch   int
	created outcome
	ttl     int // the last one acknowledged
	deleted bool
	unsure  bool
}

// writeQueries makes, changes and removes queries, each with a name of its own.
func (r *run) writeQueries(ctx context.Context, g *gateway) {
	for n := 0; rest(ctx, queryPace) == nil; n++ {
		name := fmt.Sprintf("q-%d-%d", g.number, n)
		q := &query{}
		r.queries.mu.Lock()
		r.queries.by[name] = q
		r.queries.mu.Unlock()
		var a answer
		q.created, a = r.writeQuery(ctx, g, q, http.MethodPost, "/v1/query", queryBody(name, 1))
		if q.created != acked {
			q.unsure = q.created != failed
			continue
		}
		var made struct{ ID string }
		if err := json.Unmarshal([]byte(a.body), &made); err != nil || made.ID == "" {
			r.book.blame(wrong, "creating %s: %q", name, a.body)
			continue
		}
		q.id, q.ttl = made.ID, 1
		if rest(ctx, queryPace) != nil {
			return
		}
		switch o, _ := r.writeQuery(ctx, g, q, http.MethodPut, "/v1/query/"+q.id, queryBody(name, 2)); o {
		case acked:
			q.ttl = 2
		case failed:
		default:
			q.unsure = true
			continue
		}
		if n%3 == 0 || rest(ctx, queryPace) != nil {
			continue
		}
		o, _ := r.writeQuery(ctx, g, q, http.MethodDelete, "/v1/query/"+q.id, "")
		q.deleted, q.unsure = o == acked, o != acked && o != failed
	}
}

func queryBody(name string, ttl int) string {
	return fmt.Sprintf(`{"Name":%q,"Service":{"Service":"svc-0"},"DNS":{"TTL":"%ds"}}`, name, ttl)
}

func (r *run) writeQuery(ctx context.Context, g *gateway, q *query, method, path, body string) (outcome, answer) {
	r.book.mu.Lock()
	epoch := r.book.epoch
	if q.id == "" {
		q.epoch = epoch
	}
	r.book.mu.Unlock()
	a, err := g.ask(context.WithoutCancel(ctx), method, path, body, writeWait)
	o := outcomeOf(a, err)
	r.book.mu.Lock()
	defer r.book.mu.Unlock()
	switch o {
	case acked:
		r.book.ackedLocked(g.number)
	case failed:
		r.book.writes.failed++
	default:
		r.book.writes.unknown++
		if o == refusedWrongly && q.epoch == r.book.epoch && epoch%2 == 0 {
			r.book.blameLocked(lied, "%s %s %s: %d %q", method, path, body, a.status, a.body)
		}
	}
	return o, a
}

// compareQueries looks for the queries in the end table: names and, in
// seconds, what their DNS answers live for.
func (r *run) compareQueries(table map[string]int) {
	for name, q := range r.queries.by {
		ttl, there := table[name]
		switch {
		case q.epoch != r.book.epoch || q.unsure:
		case q.created == failed && there:
			r.book.blame(lied, "query %s was refused with nothing changed, and is there", name)
		case q.created != acked:
		case q.deleted && there:
			r.book.blame(lost, "query %s was deleted, and is there", name)
		case !q.deleted && !there:
			r.book.blame(lost, "query %s was created, and is not there", name)
		case !q.deleted && ttl != q.ttl:
			r.book.blame(lost, "query %s has ttl %d, %d was acknowledged", name, ttl, q.ttl)
		}
	}
}

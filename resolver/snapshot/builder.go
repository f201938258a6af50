package snapshot

import (
	"slices"
	"strings"

	iradix "github.com/hashicorp/go-immutable-radix/v2"

	"signpost/resolver/catalog"
	"signpost/resolver/query"
)

// Builder collects changed rows and then publishes the snapshot that has
// them. Rows may come in any order: joining waits for Publish. A Builder is
// used by one goroutine, once.
type Builder struct {
	base       *Snapshot
	lists      [numKinds]catalog.Index
	floor      catalog.Index
	nodes      map[string]*nodeEdit // by folded name
	queries    *iradix.Txn[*QueryEntry]
	queryNames *iradix.Txn[*QueryEntry]
	tombstones *iradix.Txn[catalog.Index]
	changed    map[Thing]struct{}
}

// nodeEdit is a node under change. Its entry is a private copy.
type nodeEdit struct {
	entry *NodeEntry
	old   *NodeEntry          // as it is in the base; nil if it is not
	all   bool                // every instance must be joined anew
	ids   map[string]struct{} // or just those with these service IDs
}

// NewBuilder starts from base, which stays as it is.
func NewBuilder(base *Snapshot) *Builder {
	return &Builder{
		base: base, lists: base.lists, floor: base.floor,
		nodes:   map[string]*nodeEdit{},
		queries: base.queries.Txn(), queryNames: base.queryNames.Txn(), tombstones: base.tombstones.Txn(),
		changed: map[Thing]struct{}{},
	}
}

func (b *Builder) touch(kind Kind, name string) { b.changed[Thing{kind, name}] = struct{}{} }

func (b *Builder) touchList(kind Kind, at catalog.Index) {
	b.touch(kind, "")
	b.lists[kind] = max(b.lists[kind], at)
}

func (b *Builder) edit(folded string) *nodeEdit {
	if e, ok := b.nodes[folded]; ok {
		return e
	}
	e := &nodeEdit{entry: &NodeEntry{}, ids: map[string]struct{}{}}
	if old := get(b.base.nodes, folded); old != nil {
		e.old = old
		e.entry = &NodeEntry{
			Node: old.Node, Checks: slices.Clone(old.Checks), services: slices.Clone(old.services),
			broad: old.broad, index: old.index, checkIndex: old.checkIndex,
		}
	}
	b.nodes[folded] = e
	return e
}

// PutNode takes in a node row.
func (b *Builder) PutNode(n *catalog.Node) {
	folded := catalog.Fold(n.Name)
	b.touchList(Nodes, n.ModifyIndex)
	b.touch(Node, folded)
	e := b.edit(folded)
	e.entry.Node, e.all = n, true
	e.entry.index = max(e.entry.index, n.ModifyIndex)
	e.entry.broad = max(e.entry.broad, n.ModifyIndex)
}

// DeleteNode takes a node row out. What was on the node has rows of its own.
func (b *Builder) DeleteNode(name string) {
	folded := catalog.Fold(name)
	b.touch(Nodes, "")
	b.touch(Node, folded)
	e := b.edit(folded)
	e.entry.Node, e.all = nil, true
}

// PutService takes in a service row.
func (b *Builder) PutService(s *catalog.Service) {
	folded := catalog.Fold(s.Node)
	b.touchList(Services, s.ModifyIndex)
	b.touch(Node, folded)
	e := b.edit(folded)
	e.ids[s.ID] = struct{}{}
	e.entry.index = max(e.entry.index, s.ModifyIndex)
	put(&e.entry.services, s, serviceID)
}

// DeleteService takes a service row out.
func (b *Builder) DeleteService(node, id string) {
	folded := catalog.Fold(node)
	b.touch(Services, "")
	b.touch(Node, folded)
	remove(&b.edit(folded).entry.services, id, serviceID)
}

// PutCheck takes in a check row.
func (b *Builder) PutCheck(c *catalog.Check) {
	folded := catalog.Fold(c.Node)
	b.touchList(Checks, c.ModifyIndex)
	b.touch(NodeCheck, folded)
	e := b.edit(folded)
	e.entry.checkIndex = max(e.entry.checkIndex, c.ModifyIndex)
	if c.ServiceID == "" {
		e.entry.broad = max(e.entry.broad, c.ModifyIndex)
	}
	e.checkTouches(c)
	if old := put(&e.entry.Checks, c, checkID); old != nil {
		e.checkTouches(old)
	}
}

// DeleteCheck takes a check row out.
func (b *Builder) DeleteCheck(node, id string) {
	folded := catalog.Fold(node)
	b.touch(Checks, "")
	b.touch(NodeCheck, folded)
	e := b.edit(folded)
	if old := remove(&e.entry.Checks, id, checkID); old != nil {
		e.checkTouches(old)
	}
}

func (e *nodeEdit) checkTouches(c *catalog.Check) {
	if c.ServiceID == "" {
		e.all = true
		return
	}
	e.ids[c.ServiceID] = struct{}{}
}

// PutQuery takes in a prepared query.
func (b *Builder) PutQuery(q *catalog.Query) {
	b.dropQuery(q.ID)
	entry := &QueryEntry{Prepared: query.Prepare(q)}
	b.touchList(Queries, q.ModifyIndex)
	b.touch(Query, q.ID)
	b.queries.Insert([]byte(q.ID), entry)
	if q.Name != "" {
		folded := catalog.Fold(q.Name)
		b.touch(QueryName, folded)
		b.queryNames.Insert([]byte(folded), entry)
	}
}

// DeleteQuery takes a prepared query out.
func (b *Builder) DeleteQuery(id string) {
	b.touch(Queries, "")
	b.touch(Query, id)
	b.dropQuery(id)
}

func (b *Builder) dropQuery(id string) {
	old, ok := b.queries.Delete([]byte(id))
	if !ok || old.Name == "" {
		return
	}
	folded := catalog.Fold(old.Name)
	b.touch(QueryName, folded)
	// The name may be another query's by now: the rows of one transaction
	// come in the order of its statements.
	if now, ok := b.queryNames.Get([]byte(folded)); ok && now == old {
		b.queryNames.Delete([]byte(folded))
	}
}

// PutTombstone takes in that something of t was removed at an index.
func (b *Builder) PutTombstone(t Thing, at catalog.Index) {
	b.touch(t.Kind, t.Name)
	b.tombstones.Insert(t.key(), at)
	if t.Kind == NodeLevel {
		e := b.edit(t.Name)
		e.all = true
	}
}

// RaiseFloor takes in that tombstones up to an index were forgotten. Every
// thing may look changed by this.
func (b *Builder) RaiseFloor(floor catalog.Index) {
	b.floor = max(b.floor, floor)
	var dead [][]byte
	for it := b.tombstones.Root().Iterator(); ; {
		k, at, ok := it.Next()
		if !ok {
			break
		}
		if at <= floor {
			dead = append(dead, k)
		}
	}
	for _, k := range dead {
		b.tombstones.Delete(k)
	}
}

func serviceID(s *catalog.Service) string { return s.ID }
func checkID(c *catalog.Check) string     { return c.ID }

// put stores v in a list that is sorted by key, and gives what it replaced.
func put[T any](list *[]*T, v *T, key func(*T) string) (old *T) {
	i, found := find(*list, key(v), key)
	if found {
		old, (*list)[i] = (*list)[i], v
		return old
	}
	*list = slices.Insert(*list, i, v)
	return nil
}

// remove takes the element with a key out of a sorted list, and gives it.
func remove[T any](list *[]*T, k string, key func(*T) string) (old *T) {
	i, found := find(*list, k, key)
	if !found {
		return nil
	}
	old = (*list)[i]
	*list = slices.Delete(*list, i, i+1)
	return old
}

func find[T any](list []*T, k string, key func(*T) string) (int, bool) {
	return slices.BinarySearchFunc(list, k, func(v *T, k string) int { return strings.Compare(key(v), k) })
}

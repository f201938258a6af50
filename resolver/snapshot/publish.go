package snapshot

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	iradix "github.com/hashicorp/go-immutable-radix/v2"

	"signpost/resolver/catalog"
)

// Publish joins what was collected and gives the new snapshot, with all
// things that may look different in it. index and tx name the last
// transaction that it contains.
//
// An error means that rows were missing (a service without its node): then
// the change log was not read as it was written, and only a full load helps.
func (b *Builder) Publish(index catalog.Index, tx string) (*Snapshot, []Thing, error) {
	nodes, ids := b.base.nodes.Txn(), b.base.nodeIDs.Txn()
	services, mesh := newGroups(b.base.services), newGroups(b.base.mesh)
	for folded, e := range b.nodes {
		if err := b.join(folded, e); err != nil {
			return nil, nil, err
		}
		b.regroup(e, services, mesh)
		storeNode(nodes, ids, folded, e)
	}
	next := &Snapshot{
		index: index, tx: tx, floor: b.floor, lists: b.lists,
		nodes: nodes.Commit(), nodeIDs: ids.Commit(),
		services: services.commit(), mesh: mesh.commit(),
		queries: b.queries.Commit(), queryNames: b.queryNames.Commit(), tombstones: b.tombstones.Commit(),
	}
	things := make([]Thing, 0, len(b.changed))
	for t := range b.changed {
		things = append(things, t)
	}
	return next, things, nil
}

// join makes the instances of a node anew where a row behind them changed.
func (b *Builder) join(folded string, e *nodeEdit) error {
	n := e.entry
	if n.Node == nil {
		if len(n.services)+len(n.Checks) > 0 {
			return fmt.Errorf("node %q has registrations but no row", folded)
		}
		return nil
	}
	if dead, ok := b.tombstones.Get(Thing{NodeLevel, folded}.key()); ok {
		n.broad = max(n.broad, dead)
	}
	var shared []*catalog.Check
	own := map[string][]*catalog.Check{}
	for _, c := range n.Checks {
		if c.ServiceID == "" {
			shared = append(shared, c)
		} else if _, wanted := e.ids[c.ServiceID]; wanted || e.all {
			own[c.ServiceID] = append(own[c.ServiceID], c)
		}
	}
	n.Instances = make([]*Instance, len(n.services))
	for i, s := range n.services {
		if old := e.unchanged(s); old != nil {
			n.Instances[i] = old
			continue
		}
		n.Instances[i] = newInstance(folded, n, s, shared, own[s.ID])
	}
	return nil
}

// unchanged gives the instance as it was, if nothing behind it changed.
func (e *nodeEdit) unchanged(s *catalog.Service) *Instance {
	if _, touched := e.ids[s.ID]; touched || e.all || e.old == nil {
		return nil
	}
	i, found := find(e.old.services, s.ID, serviceID)
	if !found {
		return nil
	}
	return e.old.Instances[i]
}

func newInstance(folded string, n *NodeEntry, s *catalog.Service, shared, own []*catalog.Check) *Instance {
	inst := &Instance{Node: n.Node, Service: s, node: folded, index: max(n.broad, s.ModifyIndex)}
	if len(shared)+len(own) > 0 {
		inst.Checks = slices.Concat(shared, own)
	}
	for _, c := range own {
		inst.index = max(inst.index, c.ModifyIndex)
	}
	return inst
}

// regroup moves the instances of a node that changed into their services.
func (b *Builder) regroup(e *nodeEdit, services, mesh *groups) {
	var before []*Instance
	if e.old != nil {
		before = e.old.Instances
	}
	kept := make(map[*Instance]struct{}, len(e.entry.Instances))
	for _, inst := range e.entry.Instances {
		kept[inst] = struct{}{}
	}
	for _, inst := range before {
		if _, ok := kept[inst]; ok {
			delete(kept, inst)
			continue
		}
		b.touchInstance(inst)
		services.remove(catalog.Fold(inst.Service.Name), inst)
		mesh.remove(inst.Service.MeshName(), inst)
	}
	for inst := range kept {
		b.touchInstance(inst)
		services.add(catalog.Fold(inst.Service.Name), inst)
		mesh.add(inst.Service.MeshName(), inst)
	}
}

func (b *Builder) touchInstance(inst *Instance) {
	b.touch(Service, catalog.Fold(inst.Service.Name))
	if name := inst.Service.MeshName(); name != "" {
		b.touch(Mesh, name)
	}
}

func storeNode(nodes *iradix.Txn[*NodeEntry], ids *iradix.Txn[string], folded string, e *nodeEdit) {
	if e.old != nil && e.old.Node.ID != "" {
		id := []byte(catalog.Fold(e.old.Node.ID))
		if at, ok := ids.Get(id); ok && at == folded {
			ids.Delete(id)
		}
	}
	if e.entry.Node == nil {
		nodes.Delete([]byte(folded))
		return
	}
	nodes.Insert([]byte(folded), e.entry)
	if id := e.entry.Node.ID; id != "" {
		ids.Insert([]byte(catalog.Fold(id)), folded)
	}
}

// groups collects changes of instance lists, so that each list is written
// once however many of its instances changed.
type groups struct {
	tree  *iradix.Tree[*ServiceEntry]
	edits map[string]*groupEdit
}

type groupEdit struct {
	removed map[*Instance]struct{}
	added   []*Instance
}

func newGroups(tree *iradix.Tree[*ServiceEntry]) *groups {
	return &groups{tree: tree, edits: map[string]*groupEdit{}}
}

func (g *groups) edit(name string) *groupEdit {
	e, ok := g.edits[name]
	if !ok {
		e = &groupEdit{removed: map[*Instance]struct{}{}}
		g.edits[name] = e
	}
	return e
}

func (g *groups) add(name string, inst *Instance) {
	if name != "" {
		e := g.edit(name)
		e.added = append(e.added, inst)
	}
}

func (g *groups) remove(name string, inst *Instance) {
	if name != "" {
		g.edit(name).removed[inst] = struct{}{}
	}
}

func (g *groups) commit() *iradix.Tree[*ServiceEntry] {
	txn := g.tree.Txn()
	for name, e := range g.edits {
		old := get(g.tree, name)
		if next := e.apply(old); next != nil {
			txn.Insert([]byte(name), next)
		} else {
			txn.Delete([]byte(name))
		}
	}
	return txn.Commit()
}

// apply merges an edit into a list; nil when nothing is left.
func (e *groupEdit) apply(old *ServiceEntry) *ServiceEntry {
	next := &ServiceEntry{}
	if old != nil {
		next.index = old.index
		next.Instances = make([]*Instance, 0, len(old.Instances)+len(e.added))
	}
	slices.SortFunc(e.added, byNodeThenID)
	added := e.added
	if old != nil {
		for _, inst := range old.Instances {
			if _, gone := e.removed[inst]; gone {
				continue
			}
			for len(added) > 0 && byNodeThenID(added[0], inst) < 0 {
				next.Instances = append(next.Instances, added[0])
				added = added[1:]
			}
			next.Instances = append(next.Instances, inst)
		}
	}
	next.Instances = append(next.Instances, added...)
	for _, inst := range e.added {
		next.index = max(next.index, inst.index)
	}
	if len(next.Instances) == 0 {
		return nil
	}
	next.Name = next.Instances[0].Service.Name
	return next
}

func byNodeThenID(a, b *Instance) int {
	return cmp.Or(strings.Compare(a.node, b.node), strings.Compare(a.Service.ID, b.Service.ID))
}

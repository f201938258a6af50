package snapshot

import (
	"iter"

	iradix "github.com/hashicorp/go-immutable-radix/v2"

	"signpost/resolver/catalog"
	"signpost/resolver/query"
)

// Snapshot is the catalog at one index. All methods are safe for concurrent
// use, and what they return must not be changed.
type Snapshot struct {
	index      catalog.Index
	tx         string
	floor      catalog.Index
	nodes      *iradix.Tree[*NodeEntry]    // by folded name
	nodeIDs    *iradix.Tree[string]        // node ID to folded name
	services   *iradix.Tree[*ServiceEntry] // by folded name
	mesh       *iradix.Tree[*ServiceEntry] // by folded destination
	queries    *iradix.Tree[*QueryEntry]   // by ID
	queryNames *iradix.Tree[*QueryEntry]   // by folded name
	lists      [numKinds]catalog.Index     // of Nodes, Services, Checks, Queries
	tombstones *iradix.Tree[catalog.Index]
}

// NodeEntry is a node with all that is registered on it.
type NodeEntry struct {
	Node      *catalog.Node
	Instances []*Instance      // by service ID
	Checks    []*catalog.Check // all checks of the node, by check ID

	services   []*catalog.Service // by service ID, the rows behind Instances
	broad      catalog.Index      // of what all its instances share: the node, its own checks
	index      catalog.Index      // of the Node thing
	checkIndex catalog.Index      // of the NodeCheck thing
}

// Instance is one registered service joined with its node and its checks.
type Instance struct {
	Node    *catalog.Node
	Service *catalog.Service
	// Checks are those of the node as a whole, then the instance's own, each
	// in the order of their IDs.
	Checks []*catalog.Check

	node  string // folded name of the node, to sort by
	index catalog.Index
	memo  memo
}

// ServiceEntry is all instances under one name.
type ServiceEntry struct {
	Name      string      // as one of its instances has it
	Instances []*Instance // by folded node name, then service ID

	index catalog.Index
}

// QueryEntry is a prepared query, ready for execution.
type QueryEntry struct {
	*query.Prepared
	matched matchMemo
}

// Empty is the snapshot before anything was loaded.
func Empty() *Snapshot {
	return &Snapshot{
		nodes: iradix.New[*NodeEntry](), nodeIDs: iradix.New[string](),
		services: iradix.New[*ServiceEntry](), mesh: iradix.New[*ServiceEntry](),
		queries: iradix.New[*QueryEntry](), queryNames: iradix.New[*QueryEntry](),
		tombstones: iradix.New[catalog.Index](),
	}
}

// Index is the newest change that the snapshot contains.
func (s *Snapshot) Index() catalog.Index { return s.index }

// Transaction is the random id of the transaction that made Index. Two
// histories that gave the same index to different contents differ in it.
func (s *Snapshot) Transaction() string { return s.tx }

// Node finds a node by its name, without regard to case; nil if there is none.
func (s *Snapshot) Node(name string) *NodeEntry { return get(s.nodes, catalog.Fold(name)) }

// NodeByID finds a node by its ID or by a prefix of it that no other node's
// ID begins with, of at least two characters; nil if there is none.
func (s *Snapshot) NodeByID(id string) *NodeEntry {
	if len(id) < 2 {
		return nil
	}
	it := s.nodeIDs.Root().Iterator()
	it.SeekPrefix([]byte(catalog.Fold(id)))
	_, name, ok := it.Next()
	if !ok {
		return nil
	}
	if _, _, second := it.Next(); second {
		return nil
	}
	return get(s.nodes, name)
}

// Nodes walks all nodes in the order of their folded names.
func (s *Snapshot) Nodes() iter.Seq[*NodeEntry] { return walk(s.nodes) }

// NodeCount is the number of nodes.
func (s *Snapshot) NodeCount() int { return s.nodes.Len() }

// Service finds a service by name, without regard to case; nil if it has no
// instance.
func (s *Snapshot) Service(name string) *ServiceEntry { return get(s.services, catalog.Fold(name)) }

// Services walks all services in the order of their folded names.
func (s *Snapshot) Services() iter.Seq[*ServiceEntry] { return walk(s.services) }

// Mesh finds the mesh-capable instances for a name: native ones, and proxies
// whose destination it is; nil if there are none.
func (s *Snapshot) Mesh(name string) *ServiceEntry { return get(s.mesh, catalog.Fold(name)) }

// Query finds a prepared query by ID, without regard to case.
func (s *Snapshot) Query(id string) *QueryEntry { return get(s.queries, catalog.Fold(id)) }

// QueryNamed finds a prepared query by name, without regard to case.
func (s *Snapshot) QueryNamed(name string) *QueryEntry {
	return get(s.queryNames, catalog.Fold(name))
}

// Queries walks all prepared queries in the order of their IDs.
func (s *Snapshot) Queries() iter.Seq[*QueryEntry] { return walk(s.queries) }

// IndexOf tells when a thing last changed. It is at least 1.
func (s *Snapshot) IndexOf(t Thing) catalog.Index {
	at := max(1, s.floor)
	if dead, ok := s.tombstones.Get(t.key()); ok {
		at = max(at, dead)
	}
	return max(at, s.rowIndex(t))
}

// rowIndex is the greatest index among the rows of a thing, 0 if it has none.
func (s *Snapshot) rowIndex(t Thing) catalog.Index {
	switch t.Kind {
	case Nodes, Services, Checks, Queries:
		return s.lists[t.Kind]
	case Node, NodeLevel, NodeCheck:
		if e := get(s.nodes, t.Name); e != nil {
			return e.indexOf(t.Kind)
		}
	case Service:
		if e := get(s.services, t.Name); e != nil {
			return e.index
		}
	case Mesh:
		if e := get(s.mesh, t.Name); e != nil {
			return e.index
		}
	case Query:
		if e := get(s.queries, t.Name); e != nil {
			return e.ModifyIndex
		}
	case QueryName:
		if e := get(s.queryNames, t.Name); e != nil {
			return e.ModifyIndex
		}
	}
	return 0
}

func (e *NodeEntry) indexOf(kind Kind) catalog.Index {
	switch kind {
	case NodeLevel:
		return e.broad
	case NodeCheck:
		return e.checkIndex
	}
	return e.index
}

func get[T any](tree *iradix.Tree[T], key string) T {
	v, _ := tree.Get([]byte(key))
	return v
}

func walk[T any](tree *iradix.Tree[T]) iter.Seq[T] {
	return func(yield func(T) bool) {
		for it := tree.Root().Iterator(); ; {
			_, v, ok := it.Next()
			if !ok || !yield(v) {
				return
			}
		}
	}
}

// ServiceByID finds the registration with an ID on the node; nil if there is
// none.
func (e *NodeEntry) ServiceByID(id string) *catalog.Service {
	if i, found := find(e.services, id, serviceID); found {
		return e.services[i]
	}
	return nil
}

// HasService tells whether a service with the ID is registered on the node.
func (e *NodeEntry) HasService(id string) bool { return e.ServiceByID(id) != nil }

// Floor is the index up to which tombstones were forgotten: everything may
// have changed there.
func (s *Snapshot) Floor() catalog.Index { return s.floor }

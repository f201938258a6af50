package snapshot

import "signpost/resolver/catalog"

// Kind is a sort of thing that readers look at and wait for.
type Kind uint8

// The kinds. Names are folded; lists have the empty name.
const (
	Nodes     Kind = iota + 1 // the list of all nodes
	Services                  // the registrations of all services
	Checks                    // all checks
	Queries                   // all prepared queries
	Node                      // a node and what is registered on it, without checks
	NodeLevel                 // the checks of a node that are not of a service
	NodeCheck                 // every check on a node
	Service                   // a service: its instances, their nodes and checks
	Mesh                      // the same, of the mesh-capable instances for a name
	Session                   // a session by its ID
	Sessions                  // the list of all sessions
	Query                     // a prepared query by its ID
	QueryName                 // a prepared query by its name
	numKinds
)

// kindNames are the words of the tombstones table.
var kindNames = [numKinds]string{
	"", "nodes", "services", "checks", "queries", "node", "node_level", "node_checks",
	"service", "mesh", "session", "sessions", "query", "query_name",
}

func (k Kind) String() string { return kindNames[k] }

// KindNamed finds a kind by its word in the database.
func KindNamed(word string) (Kind, bool) {
	for k := Kind(1); k < numKinds; k++ {
		if kindNames[k] == word {
			return k, true
		}
	}
	return 0, false
}

// Thing is what a reader has looked at: found, or looked for in vain.
type Thing struct {
	Kind Kind
	Name string // folded; empty for lists
}

// Of makes a Thing; the name is folded here.
func Of(kind Kind, name string) Thing { return Thing{kind, catalog.Fold(name)} }

// key orders tombstones in their tree.
func (t Thing) key() []byte {
	b := make([]byte, 0, len(t.Name)+1)
	b = append(b, byte(t.Kind))
	return append(b, t.Name...)
}

package config

// kind is what a node of a file is.
type kind string

// The kinds of node, as faults name them.
const (
	object kind = "a block"
	list   kind = "a list"
	text   kind = "text"
	number kind = "a number"
	truth  kind = "true or false"
	null   kind = "null"
)

// node is one value of a file, the same for HCL and JSON.
type node struct {
	kind   kind
	text   string  // of text, number and truth
	items  []node  // of a list
	fields []field // of an object; a name may stand more than once
}

// field is a name in an object, with the value that was given to it.
type field struct {
	name  string
	at    place
	value node
}

// blocks gives the objects that a value stands for: HCL writes a repeated block
// also as a list of objects, and null is none. It is false for anything else.
func (n node) blocks() ([]node, bool) {
	switch n.kind {
	case object:
		return []node{n}, true
	case null:
		return nil, true
	case list:
		for _, item := range n.items {
			if item.kind != object {
				return nil, false
			}
		}
		return n.items, true
	default:
		return nil, false
	}
}

// maxDepth bounds the nesting of a file, checked before anything recurses.
const maxDepth = 32

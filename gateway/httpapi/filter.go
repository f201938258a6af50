package httpapi

import (
	"reflect"
	"strings"

	lru "github.com/hashicorp/golang-lru/v2"

	"signpost/gateway"
)

// Limits of filter expressions.
const (
	maxFilter      = 4096 // bytes
	maxFilterDepth = 32   // parentheses in each other
	keptFilters    = 256
)

// filters keeps expressions that were parsed. go-bexpr is of the version
// whose language the interface has: selectors are checked against the record
// and pass through lists, which later versions gave up.
// Source: reference, http conventions, section 8.
type filters struct {
	parsed *lru.Cache[filterKey, predicate]
}

type filterKey struct {
	record     reflect.Type
	expression string
}

func newFilters() *filters {
	cache, err := lru.New[filterKey, predicate](keptFilters)
	if err != nil {
		panic(err) // only for a size that is not positive
	}
	return &filters{parsed: cache}
}

// filterOf makes the filter that a request asks for; nil if it asks for none.
// record gives the fields that selectors name.
func filterOf[T, R any](c *call, record func(T) *R) (gateway.Filter[T], error) {
	expression := c.params.get("filter")
	if expression == "" {
		return nil, nil
	}
	keeps, err := c.door.filters.parse(expression, (*R)(nil))
	if err != nil {
		return nil, err
	}
	return func(v T) (bool, error) {
		keep, err := keeps(record(v))
		if err != nil {
			return false, badFilter("%s", err)
		}
		return keep, nil
	}, nil
}

func (f *filters) parse(text string, record any) (predicate, error) {
	key := filterKey{reflect.TypeOf(record), text}
	if p, ok := f.parsed.Get(key); ok {
		return p, nil
	}
	if len(text) > maxFilter {
		return nil, badFilter("longer than %d bytes", maxFilter)
	}
	e := expression{text: strings.Clone(text), record: record} // the text belongs to a request
	p, err := e.parse()
	if err != nil {
		return nil, err
	}
	f.parsed.Add(filterKey{key.record, e.text}, p)
	return p, nil
}

func badFilter(format string, args ...any) error {
	return invalid("Failed to create boolean expression evaluator: "+format, args...)
}

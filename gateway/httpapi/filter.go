package httpapi

import (
	"reflect"
	"strings"

	bexpr "github.com/hashicorp/go-bexpr"
	lru "github.com/hashicorp/golang-lru/v2"

	"signpost/gateway"
)

// Limits of filter expressions. The parser goes back over what is in
// parentheses four times per level, so that length alone does not bound its
// work: each byte counts as 4 to the power of its depth.
const (
	maxFilter      = 4096 // bytes
	maxFilterDepth = 4
	maxFilterWork  = 32 << 10
	keptFilters    = 256
)

// filters keeps expressions that were parsed. The parser is of the version
// whose language the interface has: selectors are checked against the record
// and pass through lists, which later versions gave up.
// Source: reference, http conventions, section 8.
type filters struct {
	parsed *lru.Cache[filterKey, *bexpr.Evaluator]
}

type filterKey struct {
	record     reflect.Type
	expression string
}

func newFilters() *filters {
	cache, err := lru.New[filterKey, *bexpr.Evaluator](keptFilters)
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
	evaluator, err := c.door.filters.parse(expression, (*R)(nil))
	if err != nil {
		return nil, err
	}
	return func(v T) (bool, error) {
		keep, err := evaluator.Evaluate(record(v))
		if err != nil {
			return false, badFilter("%s", err)
		}
		return keep, nil
	}, nil
}

func (f *filters) parse(expression string, record any) (*bexpr.Evaluator, error) {
	key := filterKey{reflect.TypeOf(record), expression}
	if evaluator, ok := f.parsed.Get(key); ok {
		return evaluator, nil
	}
	if err := checkFilter(expression); err != nil {
		return nil, err
	}
	evaluator, err := bexpr.CreateEvaluatorForType(expression, nil, record)
	if err != nil {
		return nil, badFilter("%s", err)
	}
	f.parsed.Add(filterKey{key.record, strings.Clone(expression)}, evaluator)
	return evaluator, nil
}

func badFilter(format string, args ...any) error {
	return invalid("Failed to create boolean expression evaluator: "+format, args...)
}

// checkFilter refuses expressions that would take the parser long, those with
// unbalanced parentheses among them.
func checkFilter(text string) error {
	if len(text) > maxFilter {
		return badFilter("longer than %d bytes", maxFilter)
	}
	depth, work := 0, 0
	var quote byte
	for i := range len(text) {
		switch b := text[i]; {
		case quote != 0:
			if b == quote {
				quote = 0
			}
		case b == '"' || b == '`':
			quote = b
		case b == '(':
			depth++
		case b == ')':
			depth--
		}
		if depth > maxFilterDepth || depth < 0 {
			return badFilter("1:%d (%d): parentheses must be balanced, and not deeper than %d", i+1, i, maxFilterDepth)
		}
		if work += 1 << (2 * depth); work > maxFilterWork {
			return badFilter("1:%d (%d): too much in parentheses within parentheses", i+1, i)
		}
	}
	if depth > 0 || quote != 0 {
		return badFilter("1:%d (%d): a parenthesis or a quote is not closed", len(text)+1, len(text))
	}
	return nil
}

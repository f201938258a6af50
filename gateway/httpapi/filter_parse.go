package httpapi

import (
	"strings"

	bexpr "github.com/hashicorp/go-bexpr"
)

// predicate tells whether a record is as an expression wants it.
type predicate func(record any) (bool, error)

// expression reads a filter: "and", "or", "not" and parentheses here, and the
// comparisons between them by go-bexpr. Its own grammar goes back over all
// that is in parentheses several times per level, so that twenty bytes can
// cost it a second; this reads every byte once.
//
//	or      = and { "or" and }
//	and     = not { "and" not }
//	not     = "not" not | "(" or ")" | comparison
type expression struct {
	text   string
	at     int // of the next byte
	depth  int
	record any // a nil pointer to the type that selectors are checked against
}

func (e *expression) parse() (predicate, error) {
	p, err := e.or()
	if err == nil && e.skipSpace() < len(e.text) {
		err = e.fault("expected \"and\", \"or\" or the end")
	}
	return p, err
}

func (e *expression) or() (predicate, error) {
	return e.chain("or", (*expression).and, true)
}

func (e *expression) and() (predicate, error) {
	return e.chain("and", (*expression).not, false)
}

// chain reads operands that a word joins. The first that is decisive ends the
// evaluation.
func (e *expression) chain(word string, operand func(*expression) (predicate, error), decisive bool) (predicate, error) {
	first, err := operand(e)
	if err != nil || !e.take(word) {
		return first, err
	}
	operands := []predicate{first}
	for more := true; more; more = e.take(word) {
		next, err := operand(e)
		if err != nil {
			return nil, err
		}
		operands = append(operands, next)
	}
	return func(record any) (bool, error) {
		for _, p := range operands {
			if is, err := p(record); err != nil || is == decisive {
				return is, err
			}
		}
		return !decisive, nil
	}, nil
}

func (e *expression) not() (predicate, error) {
	negated := false
	for e.take("not") {
		negated = !negated
	}
	p, err := e.operand()
	if err != nil || !negated {
		return p, err
	}
	return func(record any) (bool, error) {
		is, err := p(record)
		return !is && err == nil, err
	}, nil
}

func (e *expression) operand() (predicate, error) {
	if e.skipSpace() == len(e.text) || e.text[e.at] != '(' {
		return e.comparison()
	}
	if e.depth++; e.depth > maxFilterDepth {
		return nil, e.fault("nested deeper than %d levels", maxFilterDepth)
	}
	e.at++
	p, err := e.or()
	if err != nil {
		return nil, err
	}
	if e.skipSpace() == len(e.text) || e.text[e.at] != ')' {
		return nil, e.fault("expected \")\"")
	}
	e.at++
	e.depth--
	return p, nil
}

// comparison finds where one ends, and leaves the rest to go-bexpr.
func (e *expression) comparison() (predicate, error) {
	start := e.at
	e.term()
	switch {
	case e.take("is"):
		e.take("not")
		e.term()
	case e.take("=="), e.take("!="), e.take("contains"), e.take("matches"), e.take("in"):
		e.term()
	case e.take("not"):
		e.term()
		e.term()
	}
	leaf := e.text[start:e.at]
	evaluator, err := bexpr.CreateEvaluatorForType(leaf, nil, e.record)
	if err != nil { // once more for the place of the fault in the whole
		_, err = bexpr.CreateEvaluatorForType(strings.Map(blank, e.text[:start])+leaf, nil, e.record)
		return nil, badFilter("%s", err)
	}
	return evaluator.Evaluate, nil
}

// term passes over a selector or a value: up to a space, a parenthesis or a
// symbol, none of which counts within quotes.
func (e *expression) term() {
	var quote byte
	for e.skipSpace(); e.at < len(e.text); e.at++ {
		switch b := e.text[e.at]; {
		case quote != 0:
			if b == quote {
				quote = 0
			}
		case b == '"' || b == '`':
			quote = b
		case isSpace(b) || b == '(' || b == ')' || strings.HasPrefix(e.text[e.at:], "==") || strings.HasPrefix(e.text[e.at:], "!="):
			return
		}
	}
}

// take passes over a word or symbol if it is next.
func (e *expression) take(word string) bool {
	rest, ok := strings.CutPrefix(e.text[e.skipSpace():], word)
	isWord := word[0] >= 'a'
	if !ok || isWord && rest != "" && !isSpace(rest[0]) && rest[0] != '(' && rest[0] != ')' {
		return false
	}
	e.at += len(word)
	return true
}

func (e *expression) skipSpace() int {
	for e.at < len(e.text) && isSpace(e.text[e.at]) {
		e.at++
	}
	return e.at
}

func blank(r rune) rune {
	if r == '\n' {
		return r
	}
	return ' '
}

func isSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\r' || b == '\n' }

// fault is an error at the place that has been reached, in the form that
// go-bexpr gives its own.
func (e *expression) fault(format string, args ...any) error {
	line := 1 + strings.Count(e.text[:e.at], "\n")
	column := e.at - strings.LastIndexByte(e.text[:e.at], '\n')
	return badFilter("%d:%d (%d): "+format, append([]any{line, column, e.at}, args...)...)
}

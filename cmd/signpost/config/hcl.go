package config

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/hcl/ast"
	"github.com/hashicorp/hcl/hcl/parser"
	"github.com/hashicorp/hcl/hcl/scanner"
	"github.com/hashicorp/hcl/hcl/strconv"
	"github.com/hashicorp/hcl/hcl/token"
)

// hclReader turns one HCL version 1 file into nodes.
type hclReader struct{ source string }

// parseHCL reads a whole file. An error is a *Fault with the line.
func parseHCL(source string, src []byte) (node, error) {
	r := hclReader{source}
	// The parser does this too; the scanner alone would see other lines.
	src = bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n"))
	if err := r.scan(src); err != nil {
		return node{}, err
	}
	file, err := parser.Parse(src)
	if err != nil {
		return node{}, r.syntax(err)
	}
	top, ok := file.Node.(*ast.ObjectList)
	if !ok {
		return node{}, r.fault(token.Pos{Line: 1}, "no keys found")
	}
	return r.object(top)
}

// scan runs the scanner of the parser alone over the text, which recurses
// nowhere, and refuses what must not reach the parser: too deep nesting, and
// heredocs, which no key needs and whose reader panics on some.
func (r hclReader) scan(src []byte) error {
	var lexical error
	s := scanner.New(src)
	s.Error = func(pos token.Pos, problem string) {
		if lexical == nil {
			lexical = r.fault(pos, "%s", problem)
		}
	}
	for depth := 0; ; {
		tok := s.Scan()
		switch tok.Type {
		case token.EOF:
			return lexical
		case token.LBRACE, token.LBRACK:
			depth++
		case token.RBRACE, token.RBRACK:
			depth--
		case token.HEREDOC:
			return errors.Join(lexical, r.fault(tok.Pos, "heredoc text is not accepted, write it in quotes"))
		}
		if depth > maxDepth {
			return r.fault(tok.Pos, "nested deeper than %d levels", maxDepth)
		}
		if lexical != nil {
			return lexical
		}
	}
}

// syntax puts the parser's error into a fault. Two of its texts quote what was
// written, which may be a password, and are replaced.
func (r hclReader) syntax(err error) error {
	var at token.Pos
	problem := err.Error()
	var located *parser.PosError
	if errors.As(err, &located) {
		at, problem = located.Pos, located.Err.Error()
	}
	switch {
	case strings.Contains(problem, "Unknown token"):
		problem = "expected a value (text stands in quotes)"
	case strings.Contains(problem, "expected start of object"):
		problem = "expected = or { after the name"
	}
	return r.fault(at, "%s", problem)
}

func (r hclReader) fault(at token.Pos, format string, args ...any) *Fault {
	where := place{r.source, at.Line}
	return &Fault{Place: where.String(), Problem: fmt.Sprintf(format, args...)}
}

func (r hclReader) object(l *ast.ObjectList) (node, error) {
	n := node{kind: object}
	for _, item := range l.Items {
		f, err := r.item(item)
		if err != nil {
			return node{}, err
		}
		n.fields = append(n.fields, f)
	}
	return n, nil
}

// item reads `a = 1`, and `a "b" "c" { … }` as objects within objects.
func (r hclReader) item(item *ast.ObjectItem) (field, error) {
	if len(item.Keys) == 0 || len(item.Keys) > maxDepth {
		return field{}, r.fault(item.Pos(), "expected 1 to %d names before a block", maxDepth)
	}
	value, err := r.value(item.Val)
	if err != nil {
		return field{}, err
	}
	var f field
	for i := len(item.Keys) - 1; i >= 0; i-- {
		name, err := r.unquoted(item.Keys[i].Token)
		if err != nil {
			return field{}, err
		}
		f = field{name, place{r.source, item.Keys[i].Pos().Line}, value}
		value = node{kind: object, fields: []field{f}}
	}
	return f, nil
}

func (r hclReader) value(n ast.Node) (node, error) {
	switch n := n.(type) {
	case *ast.ObjectType:
		return r.object(n.List)
	case *ast.ListType:
		items := make([]node, 0, len(n.List))
		for _, child := range n.List {
			item, err := r.value(child)
			if err != nil {
				return node{}, err
			}
			items = append(items, item)
		}
		return node{kind: list, items: items}, nil
	case *ast.LiteralType:
		return r.literal(n.Token)
	default:
		return node{}, r.fault(n.Pos(), "expected a value")
	}
}

func (r hclReader) literal(t token.Token) (node, error) {
	switch t.Type {
	case token.NUMBER, token.FLOAT:
		return node{kind: number, text: t.Text}, nil
	case token.BOOL:
		return node{kind: truth, text: t.Text}, nil
	default:
		value, err := r.unquoted(t)
		return node{kind: text, text: value}, err
	}
}

// unquoted gives the text of a name or a string.
func (r hclReader) unquoted(t token.Token) (string, error) {
	if t.Type != token.STRING {
		return t.Text, nil
	}
	value, err := strconv.Unquote(t.Text)
	if err != nil || !utf8.ValidString(value) {
		return "", r.fault(t.Pos, "text with a broken escape")
	}
	return value, nil
}

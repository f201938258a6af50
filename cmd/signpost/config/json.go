package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// jsonReader turns one JSON file into nodes. It walks tokens and not a decoded
// map, which would have neither lines nor names that stand twice.
type jsonReader struct {
	source  string
	src     []byte
	decoder *json.Decoder
	counted int // bytes of src whose newlines are in line
	line    int // line of byte `counted`
}

// parseJSON reads a whole file. An error is a *Fault with the line.
func parseJSON(source string, src []byte) (node, error) {
	r := &jsonReader{source: source, src: src, decoder: json.NewDecoder(bytes.NewReader(src)), line: 1}
	r.decoder.UseNumber()
	var whole json.RawMessage
	if err := json.Unmarshal(src, &whole); err != nil {
		return node{}, r.syntax(err)
	}
	n, err := r.value(0)
	if err == nil && n.kind != object {
		err = r.fault("expected { at the top, not %s", n.kind)
	}
	return n, err
}

// syntax puts the decoder's error into a fault at its line.
func (r *jsonReader) syntax(err error) error {
	var located *json.SyntaxError
	if errors.As(err, &located) {
		r.count(int(located.Offset))
	}
	if strings.Contains(err.Error(), "exceeded max depth") { // the decoder's own bound, 10,000
		return r.fault("nested deeper than %d levels", maxDepth)
	}
	return r.fault("%s", err)
}

func (r *jsonReader) fault(format string, args ...any) *Fault {
	return &Fault{Place: r.at().String(), Problem: fmt.Sprintf(format, args...)}
}

// at gives the place of the token that was read last.
func (r *jsonReader) at() place {
	r.count(int(r.decoder.InputOffset()))
	return place{r.source, r.line}
}

// count moves the line counter on to a byte offset; it never goes back, so that
// all calls together read the text once.
func (r *jsonReader) count(offset int) {
	offset = min(offset, len(r.src))
	if offset > r.counted {
		r.line += bytes.Count(r.src[r.counted:offset], []byte("\n"))
		r.counted = offset
	}
}

func (r *jsonReader) value(depth int) (node, error) {
	t, err := r.decoder.Token()
	if err != nil {
		return node{}, r.syntax(err)
	}
	switch t := t.(type) {
	case json.Delim:
		if depth >= maxDepth {
			return node{}, r.fault("nested deeper than %d levels", maxDepth)
		}
		if t == '[' {
			return r.list(depth + 1)
		}
		return r.object(depth + 1)
	case string:
		return node{kind: text, text: t}, nil
	case json.Number:
		return node{kind: number, text: t.String()}, nil
	case bool:
		return node{kind: truth, text: fmt.Sprint(t)}, nil
	default:
		return node{kind: null}, nil
	}
}

func (r *jsonReader) list(depth int) (node, error) {
	n := node{kind: list}
	for r.decoder.More() {
		item, err := r.value(depth)
		if err != nil {
			return node{}, err
		}
		n.items = append(n.items, item)
	}
	return n, r.close()
}

func (r *jsonReader) object(depth int) (node, error) {
	n := node{kind: object}
	for r.decoder.More() {
		name, err := r.decoder.Token()
		if err != nil {
			return node{}, r.syntax(err)
		}
		f := field{name: fmt.Sprint(name), at: r.at()}
		if f.value, err = r.value(depth); err != nil {
			return node{}, err
		}
		n.fields = append(n.fields, f)
	}
	return n, r.close()
}

// close reads the bracket that ends a list or an object.
func (r *jsonReader) close() error {
	if _, err := r.decoder.Token(); err != nil {
		return r.syntax(err)
	}
	return nil
}

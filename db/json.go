package db

import (
	"encoding/json"
	"errors"
	"fmt"
)

// mustJSON encodes what is always encodable: our own structs, and maps that
// were decoded from JSON. Anything else is a programmer's error.
func mustJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("encode %T: %v", v, err))
	}
	return string(b)
}

// A nil map, list or pointer is NULL; an empty one is not.

func mapJSON[V any](m map[string]V) *string {
	if m == nil {
		return nil
	}
	s := mustJSON(m)
	return &s
}

func sliceJSON(list []string) *string {
	if list == nil {
		return nil
	}
	s := mustJSON(list)
	return &s
}

func pointerJSON[T any](p *T) *string {
	if p == nil {
		return nil
	}
	s := mustJSON(p)
	return &s
}

func notEmpty(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// readable decodes what is stored as far as it can be read: what has not the
// type that is expected of it counts as not given. Operators write JSON by
// hand, and one odd value must not keep a replica from all that follows it.
func readable(b []byte, into any) error {
	err := json.Unmarshal(b, into)
	if _, broken := errors.AsType[*json.SyntaxError](err); broken {
		return err
	}
	return nil
}

// UnmarshalJSON takes what it can read: a duration that is none ends the
// decoding of what holds it, and that must not be the whole row.
func (d *checkDetails) UnmarshalJSON(b []byte) error {
	type plain checkDetails
	return readable(b, (*plain)(d))
}

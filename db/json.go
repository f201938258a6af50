package db

import (
	"encoding/json"
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

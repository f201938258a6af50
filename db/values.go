package db

import (
	"encoding/json"

	lru "github.com/hashicorp/golang-lru/v2"
)

// Values lets rows with the same tags or metadata share them: instances of a
// service differ little in these, and there are many instances. What it gives
// out must not be changed. It is used by one goroutine.
type Values struct {
	lists *lru.Cache[string, []string]
	maps  *lru.Cache[string, map[string]string]
}

// mostValues is how many of each are remembered; others are not shared.
const mostValues = 20000

// NewValues makes an empty one.
func NewValues() *Values {
	lists, err := lru.New[string, []string](mostValues)
	if err != nil {
		panic(err) // for a size below one
	}
	maps, err := lru.New[string, map[string]string](mostValues)
	if err != nil {
		panic(err)
	}
	return &Values{lists: lists, maps: maps}
}

func (v *Values) list(text json.RawMessage) []string { return shared(v.lists, text) }

func (v *Values) pairs(text json.RawMessage) map[string]string { return shared(v.maps, text) }

// shared decodes a text, or gives what it was decoded to before. NULL is nil.
// The text comes from jsonb, so equal values have equal texts.
func shared[T any](known *lru.Cache[string, T], text json.RawMessage) (value T) {
	if len(text) == 0 || string(text) == "null" {
		return value
	}
	if value, ok := known.Get(string(text)); ok {
		return value
	}
	if readable(text, &value) == nil {
		known.Add(string(text), value)
	}
	return value
}

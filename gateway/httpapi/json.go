package httpapi

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
)

// plainByte tells which bytes stand for themselves in a JSON string as
// encoding/json writes it: <, > and & do not, and beyond ASCII it depends.
var plainByte = func() (plain [256]bool) {
	for b := byte(' '); b < 0x80; b++ {
		plain[b] = b != '"' && b != '\\' && b != '<' && b != '>' && b != '&'
	}
	return plain
}()

// appendString writes a string exactly as encoding/json would.
func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if !plainByte[s[i]] {
			return appendEscaped(b, s)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

func appendEscaped(b []byte, s string) []byte {
	escaped, _ := json.Marshal(s) // a string always can be
	return append(b, escaped...)
}

// appendField writes a string after its key, which is given with all its
// punctuation.
func appendField(b []byte, key, value string) []byte {
	return appendString(append(b, key...), value)
}

func appendBool(b []byte, key string, v bool) []byte {
	return strconv.AppendBool(append(b, key...), v)
}

func appendInt(b []byte, key string, v int) []byte {
	return strconv.AppendInt(append(b, key...), int64(v), 10)
}

func appendIndex[I ~uint64](b []byte, key string, v I) []byte {
	return strconv.AppendUint(append(b, key...), uint64(v), 10)
}

// appendStrings writes a list of strings; nil is null.
func appendStrings(b []byte, list []string) []byte {
	return appendList(b, list, appendString)
}

// appendList writes a list by one function for its elements; nil is null.
func appendList[T any](b []byte, list []T, one func([]byte, T) []byte) []byte {
	if list == nil {
		return append(b, "null"...)
	}
	b = append(b, '[')
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = one(b, v)
	}
	return append(b, ']')
}

// appendMap writes a map in the order of its keys; nil is null.
func appendMap[V any](b []byte, m map[string]V, one func([]byte, V) []byte) []byte {
	switch {
	case m == nil:
		return append(b, "null"...)
	case len(m) == 0:
		return append(b, "{}"...)
	}
	var few [8]string
	keys := slices.AppendSeq(few[:0], maps.Keys(m))
	slices.Sort(keys)
	for i, k := range keys {
		separator := byte(',')
		if i == 0 {
			separator = '{'
		}
		b = append(appendString(append(b, separator), k), ':')
		b = one(b, m[k])
	}
	return append(b, '}')
}

func appendPairs(b []byte, m map[string]string) []byte { return appendMap(b, m, appendString) }

// appendAny writes what has no form of its own here. Only values that always
// can be written are given to it.
func appendAny(b []byte, v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		return append(b, "null"...)
	}
	return append(b, text...)
}

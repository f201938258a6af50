package httpapi

import (
	"net/url"
	"strconv"
	"strings"

	"signpost/resolver/catalog"
)

// param is one pair of a query string, decoded.
type param struct{ key, value string }

// params are the pairs of a query string in their order.
type params []param

const maxParams = 1000

// parse appends the pairs of a query string. It allocates nothing but the
// list for values without escapes.
func (p params) parse(raw string) (params, error) {
	for raw != "" {
		var pair string
		pair, raw, _ = strings.Cut(raw, "&")
		if pair == "" {
			continue
		}
		key, value, _ := strings.Cut(pair, "=")
		key, keyErr := url.QueryUnescape(key)
		value, valueErr := url.QueryUnescape(value)
		if keyErr != nil || valueErr != nil || strings.Contains(pair, ";") || len(p) == maxParams {
			return p, catalog.Errorf(catalog.Invalid, "Invalid query string")
		}
		p = append(p, param{key, value})
	}
	return p, nil
}

// find gives the first value of a parameter, and whether it is there.
func (p params) find(key string) (string, bool) {
	for i := range p {
		if p[i].key == key {
			return p[i].value, true
		}
	}
	return "", false
}

func (p params) get(key string) string {
	value, _ := p.find(key)
	return value
}

// has tells whether a flag is set: its presence counts, not its value.
func (p params) has(key string) bool {
	_, ok := p.find(key)
	return ok
}

// all gives every value of a parameter; nil if there is none.
func (p params) all(key string) []string {
	var out []string
	for i := range p {
		if p[i].key == key {
			out = append(out, p[i].value)
		}
	}
	return out
}

// pairs reads the values of a parameter as key:value. Without a colon the
// value is empty; of equal keys the last wins. nil if there is none.
func (p params) pairs(key string) map[string]string {
	var out map[string]string
	for i := range p {
		if p[i].key != key {
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		k, v, _ := strings.Cut(p[i].value, ":")
		out[k] = v
	}
	return out
}

// truth reads a parameter that is true when empty, and else must be a
// boolean. Its error is that of strconv.
func (p params) truth(key string) (bool, error) {
	value, ok := p.find(key)
	if !ok || value == "" {
		return ok, nil
	}
	return strconv.ParseBool(value)
}

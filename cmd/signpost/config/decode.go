package config

import (
	"fmt"
	"strings"
	"time"
)

// decoder lays one source after the other over a Config.
type decoder struct {
	config  *Config
	found   *faults
	origins map[string]place // where the present value of a key was given
	seen    map[string]place // where the file being read gave a key
}

func newDecoder(c *Config, found *faults) *decoder {
	return &decoder{config: c, found: found, origins: map[string]place{}}
}

// file lays a whole file over the configuration.
func (d *decoder) file(top node) {
	d.seen = map[string]place{}
	d.fields("", top.fields)
}

func (d *decoder) fields(block string, fields []field) {
	for _, f := range fields {
		name := join(block, f.name)
		k, isKey := findKey(name)
		switch {
		case strings.Contains(f.name, "."):
			d.found.add(f.at, name, "unknown key (write nested blocks, not dots)")
		case isKey:
			d.key(k, f)
		case name == "limits":
			d.block(name, f, d.limits)
		case name == requestLimits:
			d.block(requestLimits, f, func(fields []field) { d.fields(rateLimit, fields) })
		case len(children(name)) > 0:
			d.block(name, f, func(fields []field) { d.fields(name, fields) })
		default:
			d.unknown(block, f, children(block))
		}
	}
}

// block hands the fields of a block, or of each one of a list of blocks, on.
func (d *decoder) block(name string, f field, each func([]field)) {
	blocks, ok := f.value.blocks()
	if !ok {
		d.found.add(f.at, name, "expected a block { … }, not %s", f.value.kind)
	}
	for _, b := range blocks {
		each(b.fields)
	}
}

// key sets one field; the maps among them are blocks with free names.
func (d *decoder) key(k key, f field) {
	switch target := k.field(d.config).(type) {
	case *map[string]time.Duration:
		d.origins[k.name] = f.at
		d.block(k.name, f, func(fields []field) {
			for _, pair := range fields {
				var value time.Duration
				if d.set(join(k.name, pair.name), &value, pair) {
					put(target, pair.name, value)
				}
			}
		})
	case *map[string]Peer:
		d.origins[k.name] = f.at
		d.block(k.name, f, func(fields []field) {
			for _, dc := range fields {
				d.peer(k.name, target, dc)
			}
		})
	default:
		d.set(k.name, target, f)
	}
}

// peer sets what a block says about one other datacenter.
func (d *decoder) peer(block string, peers *map[string]Peer, dc field) {
	name := strings.ToLower(dc.name)
	block = join(block, name)
	d.origins[block] = dc.at
	peer := (*peers)[name]
	d.block(block, dc, func(fields []field) {
		for _, f := range fields {
			switch f.name {
			case "addresses":
				d.set(join(block, f.name), &peer.Addresses, f)
			case "token":
				d.set(join(block, f.name), &peer.Token, f)
			default:
				d.unknown(block, f, []string{"addresses", "token"})
			}
		}
	})
	put(peers, name, peer)
}

// limits reads a block whose one child has two names. Where both stand, each
// alone must give the same.
func (d *decoder) limits(fields []field) {
	var first, second []field
	for _, f := range fields {
		if f.name == "request_limits" {
			second = append(second, f)
		} else {
			first = append(first, f)
		}
	}
	if !stands("rate_limit", first) || len(second) == 0 {
		d.fields("limits", fields)
		return
	}
	other := newDecoder(&Config{Limits: d.config.Limits}, d.found)
	other.seen = map[string]place{}
	d.fields("limits", first)
	before := len(*d.found)
	other.fields("limits", second)
	if len(*d.found) == before && other.config.Limits != d.config.Limits {
		d.found.add(second[0].at, requestLimits, "is another name of %s, which says something else", rateLimit)
	}
}

func stands(name string, fields []field) bool {
	for _, f := range fields {
		if f.name == name {
			return true
		}
	}
	return false
}

// set gives a field its value and remembers where from. It is false where
// there is none: null, a value that does not fit, or one given already.
func (d *decoder) set(name string, target any, f field) bool {
	if first, twice := d.seen[name]; twice {
		d.found.add(f.at, name, "given twice (first in line %d)", first.line)
		return false
	}
	if f.value.kind == null {
		return false
	}
	if err := assign(target, f.value); err != nil {
		d.found.add(f.at, name, "%s", err)
		return false
	}
	d.seen[name], d.origins[name] = f.at, f.at
	return true
}

// parse gives a key its value from the environment or the command line.
func (d *decoder) parse(k key, at place, value string) {
	if err := parse(k.field(d.config), value); err != nil {
		d.found.add(at, k.name, "%s", err)
		return
	}
	d.origins[k.name] = at
}

func (d *decoder) unknown(block string, f field, known []string) {
	hint := ""
	if near, ok := nearest(f.name, known); ok {
		hint = fmt.Sprintf(" (did you mean %q?)", near)
	} else if k, ok := elsewhere(f.name); ok {
		hint = fmt.Sprintf(" (did you mean %s?)", k)
	}
	name := f.name
	if shown(name) != `"`+name+`"` {
		name = shown(name)
	}
	d.found.add(f.at, join(block, name), "unknown key%s", hint)
}

// origin gives the place of a key, or of the nearest thing around it.
func (d *decoder) origin(name string) place {
	for name != "" {
		if at, ok := d.origins[name]; ok {
			return at
		}
		name = name[:max(strings.LastIndexByte(name, '.'), 0)]
	}
	return place{}
}

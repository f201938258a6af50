package dnsapi

import (
	"strings"

	"signpost/resolver/catalog"
)

// name is the name of a question, taken apart. Labels are in lower case and
// without escapes, so that a label may contain any byte, dots too.
//
//	v1.web.service.dc1.signpost.
//	------ ------- --- ---------
//	parts  route  where   zone
type name struct {
	zone  *zone    // nil: not ours
	route *route   // nil: no label says what is meant
	parts []string // what is left of the route's label
	where []string // what is right of it: the locality
	// implied: there is no label "service", but labels that begin with "_"
	// stand for it.
	implied bool
	apex    bool // the zone itself
}

// maxLabels is more than fit into the 255 bytes of a name.
const maxLabels = 128

// splitName gives the labels of a name in presentation form, folded and
// unescaped. The list is appended to dst.
func splitName(dst []string, text string) []string {
	text = catalog.Fold(strings.TrimSuffix(text, "."))
	if strings.IndexByte(text, '\\') >= 0 {
		return splitEscaped(dst, text)
	}
	for text != "" {
		label, rest, _ := strings.Cut(text, ".")
		dst = append(dst, label)
		text = rest
	}
	return dst
}

// splitEscaped is for names with \. and \123 in them. The final dot was taken
// off, even if it was an escaped one: a wire name has none of those.
func splitEscaped(dst []string, text string) []string {
	var label []byte
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '.':
			dst = append(dst, catalog.Fold(string(label)))
			label = label[:0]
			continue
		case c != '\\':
		case i+3 < len(text) && isDigit(text[i+1]) && isDigit(text[i+2]) && isDigit(text[i+3]):
			c = (text[i+1]-'0')*100 + (text[i+2]-'0')*10 + text[i+3] - '0'
			i += 3
		case i+1 < len(text):
			i++
			c = text[i]
		}
		label = append(label, c)
	}
	return append(dst, catalog.Fold(string(label)))
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// parse takes labels apart. They are scanned from the right, as a service may
// be named like any of the labels that have a meaning.
// Source: reference, DNS, section 2.
func (h *handler) parse(labels []string) name {
	n := name{zone: h.zoneOf(labels)}
	if n.zone == nil {
		return n
	}
	labels = labels[:len(labels)-len(n.zone.labels)]
	n.apex = len(labels) == 0
	for i := len(labels) - 1; i >= 0; i-- {
		if r, ok := h.routes[labels[i]]; ok {
			n.route, n.parts, n.where = r, labels[:i], labels[i+1:]
			return n
		}
		if strings.HasPrefix(labels[i], "_") {
			n.route, n.parts, n.where, n.implied = h.routes[labelService], labels[:i+1], labels[i+1:], true
			return n
		}
	}
	n.parts = labels
	return n
}

// locality tells whether the labels after the kind name this datacenter. An
// empty locality does, and so do its name and name.dc.
// Source: reference, DNS, section 2, "Locality part".
func (h *handler) locality(where []string) bool {
	if len(where) == 2 && where[1] == "dc" {
		where = where[:1]
	}
	return h.bareLocality(where)
}

// bareLocality is the locality of prepared queries, which knows no ".dc".
func (h *handler) bareLocality(where []string) bool {
	return len(where) == 0 || len(where) == 1 && where[0] == h.datacenter
}

func anyLocality([]string) bool { return true }

// rfc2782 takes _a._b apart; ok is false if the labels are not of that form.
func rfc2782(parts []string) (first, last string, ok bool) {
	if len(parts) < 2 || !strings.HasPrefix(parts[0], "_") || !strings.HasPrefix(parts[len(parts)-1], "_") {
		return "", "", false
	}
	return strings.Join(parts[:len(parts)-1], ".")[1:], parts[len(parts)-1][1:], true
}

// isHostName tells whether an address can be the target of a record: labels
// of letters, digits, dashes and underscores, with or without a final dot.
func isHostName(text string) bool {
	text = strings.TrimSuffix(text, ".")
	if text == "" || len(text) > 253 {
		return false
	}
	length := 0
	for i := range len(text) {
		switch c := text[i]; {
		case c == '.':
			if length == 0 {
				return false
			}
			length = 0
			continue
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', isDigit(c), c == '-', c == '_':
		default:
			return false
		}
		if length++; length > 63 {
			return false
		}
	}
	return length > 0
}

package httpapi

import (
	"net/http"
	"strconv"

	"signpost/gateway"
)

// family is one set of header names, as MIME writes them. The values of both
// families are the same. Source: reference, http conventions, sections 1 and 3.
type family struct {
	index, knownLeader, lastContact, consistency, backend, defaultPolicy string // of answers
	token, namespace                                                     string // of requests
}

var families = [...]family{familyOf("X-Service-"), familyOf("X-Consul-")}

func familyOf(prefix string) family {
	return family{
		index: prefix + "Index", knownLeader: prefix + "Knownleader", lastContact: prefix + "Lastcontact",
		consistency: prefix + "Effective-Consistency", backend: prefix + "Query-Backend",
		defaultPolicy: prefix + "Default-Acl-Policy",
		token:         prefix + "Token", namespace: prefix + "Namespace",
	}
}

// Values that many answers share. They are put into header maps as they are,
// which only ever read them.
var (
	valueJSON       = []string{"application/json"}
	valueText       = []string{"text/plain; charset=utf-8"}
	valueGzip       = []string{"gzip"}
	valueEncoding   = []string{"Accept-Encoding"}
	valueNosniff    = []string{"nosniff"}
	valueAllow      = []string{"allow"}
	valueBlocking   = []string{"blocking-query"}
	valueTrue       = []string{"true"}
	valueFalse      = []string{"false"}
	valueZero       = []string{"0"}
	valueOne        = []string{"1"}
	valueLeader     = []string{"leader"}
	valueStale      = []string{"stale"}
	valueConsistent = []string{"consistent"}
)

// commonHeaders are on every answer.
func (d *door) commonHeaders(h http.Header) {
	h["Vary"] = valueEncoding
	h["X-Content-Type-Options"] = valueNosniff
	for i := range d.families {
		h[d.families[i].defaultPolicy] = valueAllow
	}
}

// readHeaders are on the answers of reads, refusals included once the read
// has begun.
func (c *call) readHeaders(h http.Header) {
	index, contact := valueOne, valueZero
	if c.index > 1 {
		index = []string{strconv.FormatUint(uint64(c.index), 10)}
	}
	if ms := c.contact.Age.Milliseconds(); ms > 0 {
		contact = []string{strconv.FormatInt(ms, 10)}
	}
	known := valueFalse
	if c.contact.Known {
		known = valueTrue
	}
	consistency := effective(c.request.Consistency)
	for i := range c.door.families {
		f := &c.door.families[i]
		h[f.index], h[f.lastContact], h[f.knownLeader] = index, contact, known
		h[f.consistency], h[f.backend] = consistency, valueBlocking
	}
}

func effective(mode gateway.Consistency) []string {
	switch mode {
	case gateway.Stale:
		return valueStale
	case gateway.Consistent:
		return valueConsistent
	}
	return valueLeader
}

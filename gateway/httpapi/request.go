package httpapi

import (
	"math/rand/v2"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"signpost/gateway"
	"signpost/resolver/catalog"
)

// How long a read blocks. Source: reference, http conventions, section 5.
const (
	defaultWait = 300 * time.Second
	maxWait     = 600 * time.Second
)

func invalid(format string, args ...any) error {
	return catalog.Errorf(catalog.Invalid, format, args...)
}

// readCaller fills in what every request may say about its caller.
func (c *call) readCaller() error {
	r := c.gin.Request
	c.request.Token = c.token(r.Header)
	c.request.Source = source(r)
	namespace := c.header(r.Header, func(f *family) string { return f.namespace })
	if len(c.params) > 0 {
		c.pretty = c.params.has("pretty")
		c.request.Datacenter = c.params.get("datacenter")
		if c.request.Datacenter == "" {
			c.request.Datacenter = c.params.get("dc")
		}
		if ns := c.params.get("ns"); ns != "" {
			namespace = ns
		}
	}
	return checkNamespace(namespace)
}

func checkNamespace(name string) error {
	if name == "" || name == "default" {
		return nil
	}
	return invalid("Invalid namespace %q: this version has the namespace \"default\" only", name)
}

// token follows the precedence of the reference (section 2): parameter,
// header, bearer.
func (c *call) token(h http.Header) string {
	if token := c.params.get("token"); token != "" {
		return token
	}
	if token := c.header(h, func(f *family) string { return f.token }); token != "" {
		return token
	}
	authorization := h["Authorization"]
	if len(authorization) == 0 {
		return ""
	}
	words := strings.Fields(authorization[0])
	if len(words) < 2 || !strings.EqualFold(words[0], "Bearer") {
		return ""
	}
	return words[1]
}

// header gives a header of the request by any of its names.
func (c *call) header(h http.Header, name func(*family) string) string {
	for i := range c.door.families {
		if v := h[name(&c.door.families[i])]; len(v) > 0 && v[0] != "" {
			return v[0]
		}
	}
	return ""
}

// source is where the caller is, to sort by distance: what it says in
// X-Forwarded-For if that is an address, else its peer address.
func source(r *http.Request) netip.Addr {
	if forwarded := r.Header["X-Forwarded-For"]; len(forwarded) > 0 {
		first, _, _ := strings.Cut(forwarded[0], ",")
		if ip, err := netip.ParseAddr(strings.TrimSpace(first)); err == nil {
			return ip.Unmap()
		}
	}
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return peer.Addr().Unmap()
}

// readOptions fills in the parameters that reads have in common.
// Source: reference, http conventions, section 4.
func (c *call) readOptions() error {
	if err := checkCacheControl(c.gin.Request.Header["Cache-Control"]); err != nil {
		return err
	}
	if len(c.params) == 0 {
		return nil
	}
	if err := c.readConsistency(); err != nil {
		return err
	}
	return c.readBlocking()
}

func (c *call) readConsistency() error {
	p := c.params
	stale, consistent := p.has("stale"), p.has("consistent")
	if text := p.get("max_stale"); text != "" {
		limit, err := time.ParseDuration(text)
		if err != nil {
			return invalid("Invalid max_stale value %q", text)
		}
		if limit > 0 {
			stale, c.maxStale = true, limit
		}
	}
	switch {
	case stale && consistent:
		return invalid("Cannot specify ?stale with ?consistent, conflicting semantics.")
	case consistent && p.has("cached"):
		return invalid("Cannot specify ?cached with ?consistent, conflicting semantics.")
	case stale:
		c.request.Consistency = gateway.Stale
	case consistent:
		c.request.Consistency = gateway.Consistent
	}
	return nil
}

func (c *call) readBlocking() error {
	p, wait := c.params, defaultWait
	if text := p.get("wait"); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			return invalid("Invalid wait time")
		}
		if d > 0 {
			wait = min(d, maxWait)
		}
	}
	text := p.get("index")
	if text == "" {
		return nil
	}
	index, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return invalid("Invalid index")
	}
	if index == 0 || c.route.sort != watch {
		return nil
	}
	c.request.MinIndex = catalog.Index(index)
	c.request.Wait = wait + rand.N(wait/16+1) // so that readers do not come back all at once
	c.request.Key = c.key()
	return nil
}

// unkeyed are the parameters that do not change what is asked.
var unkeyed = []string{
	"index", "wait", "token", "pretty", "stale", "consistent", "leader", "cached", "max_stale", "dc", "datacenter", "ns",
}

// key names what is asked: readers with the same key share one evaluation.
func (c *call) key() string {
	p := make(params, 0, len(c.params))
	for _, pair := range c.params {
		if !slices.Contains(unkeyed, pair.key) {
			p = append(p, pair)
		}
	}
	slices.SortStableFunc(p, func(a, b param) int { return strings.Compare(a.key, b.key) })
	key := []byte(c.route.path)
	key = strconv.AppendQuote(key, catalog.Fold(c.rawName()))
	for _, pair := range p {
		key = strconv.AppendQuote(key, pair.key)
		key = strconv.AppendQuote(key, pair.value)
	}
	return string(key)
}

// checkCacheControl refuses numbers that are none. There is no cache here, so
// the header has no effect besides.
func checkCacheControl(values []string) error {
	for _, value := range values {
		for directive := range strings.SplitSeq(value, ",") {
			name, number, ok := strings.Cut(strings.ToLower(strings.TrimSpace(directive)), "=")
			if !ok || name != "max-age" && name != "stale-if-error" {
				continue
			}
			if _, err := strconv.ParseUint(number, 10, 32); err != nil {
				return invalid("Invalid Cache-Control header.")
			}
		}
	}
	return nil
}

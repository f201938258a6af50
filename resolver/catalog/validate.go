package catalog

import (
	"bytes"
	"net/netip"
	"regexp"
	"strings"
	"unicode/utf8"
)

// MaxName is the longest name of anything, in bytes.
const MaxName = 255

// Limits of metadata (reference, prepared queries, section 3).
const (
	maxMetaPairs = 64
	maxMetaKey   = 128
	maxMetaValue = 512
)

var metaKey = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

// KeyRule says which metadata keys are allowed.
type KeyRule bool

// The rules: filters may use any key, registrations not the reserved ones.
const (
	AnyKey        KeyRule = false
	NoReservedKey KeyRule = true
)

// ValidateMeta checks metadata pairs. Its error is the reason alone.
func ValidateMeta(meta map[string]string, rule KeyRule) error {
	if len(meta) > maxMetaPairs {
		return Errorf(Invalid, "Node metadata cannot contain more than %d key/value pairs", maxMetaPairs)
	}
	for k, v := range meta {
		if reason := badPair(k, v, rule); reason != "" {
			return Errorf(Invalid, "Couldn't load metadata pair ('%s', '%s'): %s", k, v, reason)
		}
	}
	return nil
}

func badPair(k, v string, rule KeyRule) string {
	switch {
	case k == "":
		return "Key cannot be blank"
	case !metaKey.MatchString(k):
		return "Key contains invalid characters"
	case len(k) > maxMetaKey:
		return "Key is too long (limit: 128 characters)"
	case rule == NoReservedKey && strings.HasPrefix(k, "consul-"):
		return "Key prefix 'consul-' is reserved for internal use"
	case len(v) > maxMetaValue:
		return "Value is too long (limit: 512 characters)"
	}
	return ""
}

var uuidForm = regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)

// IsUUID tells whether text has the form of a UUID, in either case.
func IsUUID(text string) bool { return uuidForm.MatchString(text) }

// ValidateName checks the name of something: not blank, not too long. What
// says which name is meant, as in "node name".
func ValidateName(what, name string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return Errorf(Invalid, "Invalid %s: must not be blank", what)
	case len(name) > MaxName:
		return Errorf(Invalid, "Invalid %s: longer than %d bytes", what, MaxName)
	}
	return nil
}

// ValidateText refuses JSON that Postgres cannot store as text: what is not
// UTF-8, and strings that hold NUL. An escaped backslash before "u0000" is
// text like any other.
func ValidateText(b []byte) error {
	if !utf8.Valid(b) {
		return Errorf(Invalid, "Request decode failed: the body is not valid UTF-8")
	}
	if bytes.IndexByte(b, 0) >= 0 || escapesNUL(b) {
		return Errorf(Invalid, "Request decode failed: text must not contain NUL")
	}
	return nil
}

func escapesNUL(b []byte) bool {
	for {
		at := bytes.IndexByte(b, '\\')
		if at < 0 {
			return false
		}
		b = b[at+1:]
		if bytes.HasPrefix(b, []byte("u0000")) {
			return true
		}
		if len(b) > 0 {
			b = b[1:] // the escaped character, a backslash perhaps
		}
	}
}

// Validate completes a registration with the defaults of the interface (IDs
// from names, weights, status) and tells what is wrong with it.
// Source: reference, catalog and ACL, section 1.2.
func (r *Registration) Validate() error {
	n := &r.Node
	switch {
	case n.Name == "":
		return Errorf(Invalid, "Must provide node")
	case n.Address == "" && !r.SkipNodeUpdate:
		return Errorf(Invalid, "Must provide address if SkipNodeUpdate is not set")
	case n.ID != "" && !IsUUID(n.ID):
		return Errorf(Invalid, "Bad node ID: %q is not a UUID", n.ID)
	}
	n.ID = Fold(n.ID)
	if err := ValidateName("node name", n.Name); err != nil {
		return err
	}
	if r.Service != nil {
		if err := r.Service.complete(n.Name); err != nil {
			return err
		}
	}
	for i := range r.Checks {
		if err := r.Checks[i].complete(n.Name); err != nil {
			return err
		}
	}
	return r.onePerCheck()
}

func (r *Registration) onePerCheck() error {
	seen := make(map[string]struct{}, len(r.Checks))
	for i := range r.Checks {
		if _, twice := seen[r.Checks[i].ID]; twice {
			return Errorf(Invalid, "check '%s' is given twice", r.Checks[i].ID)
		}
		seen[r.Checks[i].ID] = struct{}{}
	}
	return nil
}

func (s *Service) complete(node string) error {
	switch {
	case s.Name == "" && s.ID == "":
		return Errorf(Invalid, "Must provide service name (Service.Service)")
	case s.Name == "":
		return Errorf(Invalid, "Must provide service name (Service.Service) when service ID is provided")
	case s.ID == "":
		s.ID = s.Name
	}
	s.Node = node
	for what, name := range map[string]string{"service name": s.Name, "service ID": s.ID} {
		if err := ValidateName(what, name); err != nil {
			return err
		}
	}
	if unspecified(s.Address) {
		return Errorf(Invalid, "Invalid service address")
	}
	if s.Port < -1<<31 || s.Port > 1<<31-1 {
		return Errorf(Invalid, "Invalid service port %d", s.Port)
	}
	if err := ValidateMeta(s.Meta, NoReservedKey); err != nil {
		return Errorf(Invalid, "failed inserting service: Invalid Service Meta for node %s and serviceID %s: %s", node, s.ID, err)
	}
	return s.completeProxy()
}

func (s *Service) completeProxy() error {
	if s.Kind != KindConnectProxy {
		return nil
	}
	var faults []string
	if s.Port == 0 && s.SocketPath == "" {
		faults = append(faults, "Port or SocketPath must be set for a connect-proxy")
	}
	if s.Proxy == nil || s.Proxy.DestinationServiceName == "" {
		faults = append(faults, "Proxy.DestinationServiceName must be non-empty for Connect proxy services")
	}
	if len(faults) > 0 {
		return Errorf(Invalid, "%s", strings.Join(faults, "; "))
	}
	return nil
}

func unspecified(address string) bool {
	ip, err := netip.ParseAddr(strings.Trim(address, "[]"))
	return err == nil && ip.IsUnspecified()
}

func (c *Check) complete(node string) error {
	if c.ID == "" {
		c.ID = c.Name
	}
	if c.ID == "" {
		return Errorf(Invalid, "failed inserting check on node %q: a check needs an ID or a name", node)
	}
	if err := ValidateName("check ID", c.ID); err != nil {
		return err
	}
	if c.Node != "" && Fold(c.Node) != Fold(node) {
		return Errorf(Invalid, "Node '%s' for check '%s' doesn't match register request node '%s'", c.Node, c.ID, node)
	}
	c.Node = node
	if c.Status == "" {
		c.Status = Critical
	}
	return nil
}

package query

import (
	"time"

	"signpost/resolver/catalog"
)

// Validate tells what is wrong with a definition that a client sent: the
// checks that need nothing but the definition, in the order of the reference
// (prepared queries, section 3). A query may have neither name nor session.
func Validate(q *catalog.Query) error {
	s := &q.Service
	switch {
	case q.Token == Redacted:
		return invalid("Bad Token '%s', it looks like a query definition with a redacted token was submitted", Redacted)
	case s.Service == "":
		return invalid("Must provide a Service name to query")
	case s.SamenessGroup != "":
		return invalid("sameness-groups are an enterprise-only feature")
	case s.Failover.NearestN < 0:
		return invalid("Bad NearestN '%d', must be >= 0", s.Failover.NearestN)
	case len(s.Failover.Targets) > 0 && (s.Failover.NearestN != 0 || len(s.Failover.Datacenters) > 0):
		return invalid("Targets cannot be populated with NearestN or Datacenters")
	}
	if err := validateTTL(q.DNS.TTL); err != nil {
		return err
	}
	if err := catalog.ValidateMeta(s.NodeMeta, catalog.AnyKey); err != nil {
		return invalid("%s", err)
	}
	if q.IsTemplate() {
		return catalog.Errorf(catalog.Unsupported, "failed compiling template: templates are not supported by this version")
	}
	return nil
}

// Redacted stands where a token is that the reader may not see.
const Redacted = "<hidden>"

func validateTTL(text string) error {
	if text == "" {
		return nil
	}
	ttl, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return invalid("Bad DNS TTL '%s': %s", text, err)
	case ttl < 0:
		return invalid("DNS TTL '%d', must be >=0", ttl)
	}
	return nil
}

func invalid(format string, args ...any) error {
	return catalog.Errorf(catalog.Invalid, "Invalid prepared query: "+format, args...)
}

package catalog

// Query is a prepared query: a service lookup that is stored once and then
// executed by ID or by name. Source: spec, "Prepared query".
type Query struct {
	ID          string // a UUID in lower case, chosen by the server
	Name        string // unique without regard to case; may be empty
	Session     string // the query goes when this session ends; may be empty
	Token       string
	Template    Template
	Service     QueryService
	DNS         QueryDNS
	CreateIndex Index
	ModifyIndex Index
}

// Template makes a query answer for every name with its prefix.
type Template struct {
	Type            string // empty (no template) or "name_prefix_match"
	Regexp          string
	RemoveEmptyTags bool
}

// QueryService says which instances a query finds.
type QueryService struct {
	Service        string
	Namespace      string
	SamenessGroup  string
	Failover       Failover
	OnlyPassing    bool
	IgnoreCheckIDs []string
	Near           string
	Tags           []string // a leading "!" excludes
	NodeMeta       map[string]string
	ServiceMeta    map[string]string
	Connect        bool
	Peer           string
}

// Failover says where to look when nothing healthy is found here.
type Failover struct {
	NearestN    int
	Datacenters []string
	Targets     []FailoverTarget
}

// FailoverTarget is one datacenter or one cluster peer.
type FailoverTarget struct {
	Peer       string
	Datacenter string
}

// QueryDNS is how answers are served over DNS.
type QueryDNS struct {
	TTL string // a duration with a unit; empty: the server's own setting counts
}

// IsTemplate tells whether the query answers for a prefix.
func (q *Query) IsTemplate() bool { return q.Template.Type != "" }

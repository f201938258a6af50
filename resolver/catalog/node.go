package catalog

// Node is a machine that services run on. Its name is unique without regard
// to case and keeps the case it was first registered with.
// Source: reference, catalog and ACL, section 1.1.
type Node struct {
	Name            string
	ID              string // a UUID in lower case, or empty
	Address         string // an IP address or a host name; empty if never given
	TaggedAddresses map[string]string
	Meta            map[string]string
	Locality        *Locality
	CreateIndex     Index
	ModifyIndex     Index
}

// Locality is the region and zone of a node or a service.
type Locality struct {
	Region string
	Zone   string
}

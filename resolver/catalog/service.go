package catalog

// Service is one instance of a service, registered on a node.
// (Node, ID) identifies it; Name is what is looked up, without regard to case.
// Source: reference, catalog and ACL, section 1.1.
type Service struct {
	Node              string // name of its node, as the node was registered
	ID                string
	Name              string
	Kind              ServiceKind
	Tags              []string
	Address           string // empty: the node's address counts
	TaggedAddresses   map[string]ServiceAddress
	Meta              map[string]string
	Port              int
	SocketPath        string
	Weights           Weights
	EnableTagOverride bool
	Proxy             *Proxy // nil: nothing is configured
	Connect           Connect
	Locality          *Locality
	CreateIndex       Index
	ModifyIndex       Index
}

// ServiceKind tells a plain service (empty) from proxies and gateways.
type ServiceKind string

// The kinds that the catalog itself treats specially.
const (
	KindTypical      ServiceKind = ""
	KindConnectProxy ServiceKind = "connect-proxy"
)

// ServiceAddress is an address with a port, as tagged addresses have it.
type ServiceAddress struct {
	Address string
	Port    int
}

// Weights are the DNS SRV weights of an instance by its health, 0 to 65535.
// A registration without any gets DefaultWeights.
type Weights struct {
	Passing int
	Warning int
}

// DefaultWeights are those of a registration that gives none.
var DefaultWeights = Weights{Passing: 1, Warning: 1}

// Connect says how an instance takes part in the mesh.
type Connect struct {
	Native bool `json:",omitempty"`
}

// MeshName is the folded name under which the instance is found when only
// mesh-capable instances are asked for: its own if it is native, that of its
// destination if it is a proxy, else empty.
// The database computes the same in the function mesh_name.
func (s *Service) MeshName() string {
	switch {
	case s.Kind == KindConnectProxy && s.Proxy != nil:
		return Fold(s.Proxy.DestinationServiceName)
	case s.Connect.Native:
		return Fold(s.Name)
	}
	return ""
}

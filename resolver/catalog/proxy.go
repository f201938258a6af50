package catalog

// Proxy configures an instance of kind connect-proxy. The names of its fields
// are those of the interface, on the wire as in the database.
type Proxy struct {
	DestinationServiceName string            `json:",omitempty"`
	DestinationServiceID   string            `json:",omitempty"`
	LocalServiceAddress    string            `json:",omitempty"`
	LocalServicePort       int               `json:",omitempty"`
	LocalServiceSocketPath string            `json:",omitempty"`
	Mode                   string            // "", "transparent" or "direct"
	Config                 map[string]any    `json:",omitempty"`
	Upstreams              []Upstream        `json:",omitempty"`
	MeshGateway            MeshGateway       // always shown, {} when unset
	Expose                 Expose            // always shown, {} when unset
	TransparentProxy       *TransparentProxy `json:",omitempty"`
}

// Upstream is a service that a proxy reaches on behalf of its destination.
type Upstream struct {
	DestinationType      string         `json:",omitempty"`
	DestinationNamespace string         `json:",omitempty"`
	DestinationPeer      string         `json:",omitempty"`
	DestinationName      string         `json:",omitempty"`
	Datacenter           string         `json:",omitempty"`
	LocalBindAddress     string         `json:",omitempty"`
	LocalBindPort        int            `json:",omitempty"`
	LocalBindSocketPath  string         `json:",omitempty"`
	LocalBindSocketMode  string         `json:",omitempty"`
	Config               map[string]any `json:",omitempty"`
	MeshGateway          MeshGateway
	CentrallyConfigured  bool `json:",omitempty"`
}

// MeshGateway is the way traffic leaves a datacenter: "", none, local, remote.
type MeshGateway struct {
	Mode string `json:",omitempty"`
}

// Expose lists paths that a proxy passes through without the mesh.
type Expose struct {
	Checks bool         `json:",omitempty"`
	Paths  []ExposePath `json:",omitempty"`
}

// ExposePath is one such path.
type ExposePath struct {
	ListenerPort    int    `json:",omitempty"`
	Path            string `json:",omitempty"`
	LocalPathPort   int    `json:",omitempty"`
	Protocol        string `json:",omitempty"`
	ParsedFromCheck bool   `json:",omitempty"`
}

// TransparentProxy is the configuration of the transparent mode.
type TransparentProxy struct {
	OutboundListenerPort int  `json:",omitempty"`
	DialedDirectly       bool `json:",omitempty"`
}

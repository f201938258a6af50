package httpapi

import (
	"signpost/gateway"
	"signpost/resolver/catalog"
	"signpost/resolver/snapshot"
)

// The records that selectors of filters name fields of, endpoint by endpoint.
// Fields marked "-" are in the answer, but not selectable. Pointers in them
// are never nil: the evaluator follows them blindly.
// Source: reference, http conventions, section 8.

type nodeRecord struct {
	ID              string
	Node            string
	Address         string
	Datacenter      string
	TaggedAddresses map[string]string
	Meta            map[string]string
}

type serviceRecord struct {
	Kind              string
	ID                string
	Service           string
	Tags              []string
	Address           string
	TaggedAddresses   map[string]catalog.ServiceAddress
	Meta              map[string]string
	Port              int
	SocketPath        string
	Weights           catalog.Weights
	EnableTagOverride bool
	Proxy             catalog.Proxy
	Connect           catalog.Connect
	PeerName          string
}

type checkRecord struct {
	Node        string
	CheckID     string
	Name        string
	Status      string
	Notes       string
	Output      string
	ServiceID   string
	ServiceName string
	ServiceTags []string
	Type        string
}

type healthRecord struct {
	Node    nodeRecord
	Service serviceRecord
	Checks  []checkRecord
}

type flatRecord struct {
	ID                       string
	Node                     string
	Address                  string
	Datacenter               string
	TaggedAddresses          map[string]string
	NodeMeta                 map[string]string
	ServiceKind              string
	ServiceID                string
	ServiceName              string
	ServiceTags              []string
	ServiceAddress           string
	ServiceTaggedAddresses   map[string]catalog.ServiceAddress
	ServiceWeights           catalog.Weights
	ServiceMeta              map[string]string
	ServicePort              int
	ServiceSocketPath        string
	ServiceEnableTagOverride bool
	ServiceProxy             catalog.Proxy
	ServiceConnect           catalog.Connect
}

func (d *door) nodeRecord(n *snapshot.NodeEntry) *nodeRecord {
	r := d.nodeFields(n.Node)
	return &r
}

func (d *door) nodeFields(n *catalog.Node) nodeRecord {
	return nodeRecord{
		ID: n.ID, Node: n.Name, Address: n.Address, Datacenter: d.gateway.Datacenter,
		TaggedAddresses: n.TaggedAddresses, Meta: n.Meta,
	}
}

func serviceRecordOf(i *snapshot.Instance) *serviceRecord {
	r := serviceFields(i.Service)
	return &r
}

func serviceFields(s *catalog.Service) serviceRecord {
	return serviceRecord{
		Kind: string(s.Kind), ID: s.ID, Service: s.Name, Tags: s.Tags, Address: s.Address,
		TaggedAddresses: s.TaggedAddresses, Meta: s.Meta, Port: s.Port, SocketPath: s.SocketPath,
		Weights: s.Weights, EnableTagOverride: s.EnableTagOverride, Proxy: proxyFields(s.Proxy), Connect: s.Connect,
	}
}

func proxyFields(of *catalog.Proxy) catalog.Proxy {
	var p catalog.Proxy
	if of != nil {
		p = *of
	}
	if p.TransparentProxy == nil {
		p.TransparentProxy = &catalog.TransparentProxy{}
	}
	return p
}

func checkRecordOf(c gateway.CheckRecord) *checkRecord {
	r := checkFields(c.Check, c.Of)
	return &r
}

func checkFields(c *catalog.Check, of *catalog.Service) checkRecord {
	r := checkRecord{
		Node: c.Node, CheckID: c.ID, Name: c.Name, Status: string(c.Status), Notes: c.Notes,
		Output: c.Output, ServiceID: c.ServiceID, Type: c.Type,
	}
	if of != nil {
		r.ServiceName, r.ServiceTags = of.Name, of.Tags
	}
	return r
}

func (d *door) healthRecord(i *snapshot.Instance) *healthRecord {
	r := &healthRecord{Node: d.nodeFields(i.Node), Service: serviceFields(i.Service)}
	for _, c := range i.Checks {
		of := i.Service
		if c.ServiceID == "" {
			of = nil
		}
		r.Checks = append(r.Checks, checkFields(c, of))
	}
	return r
}

func (d *door) flatRecord(i *snapshot.Instance) *flatRecord {
	n, s := i.Node, i.Service
	return &flatRecord{
		ID: n.ID, Node: n.Name, Address: n.Address, Datacenter: d.gateway.Datacenter,
		TaggedAddresses: n.TaggedAddresses, NodeMeta: n.Meta,
		ServiceKind: string(s.Kind), ServiceID: s.ID, ServiceName: s.Name, ServiceTags: s.Tags,
		ServiceAddress: s.Address, ServiceTaggedAddresses: s.TaggedAddresses, ServiceWeights: s.Weights,
		ServiceMeta: s.Meta, ServicePort: s.Port, ServiceSocketPath: s.SocketPath,
		ServiceEnableTagOverride: s.EnableTagOverride, ServiceProxy: proxyFields(s.Proxy), ServiceConnect: s.Connect,
	}
}

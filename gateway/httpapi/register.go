package httpapi

import (
	"encoding/json"
	"strconv"

	"signpost/gateway"
	"signpost/resolver/catalog"
)

// Writes of the catalog. Source: reference, catalog and ACL, sections 1.2
// and 1.3.

// registrationBody is a registration as clients send it.
type registrationBody struct {
	Datacenter      string
	ID              string
	Node            string
	Address         string
	TaggedAddresses map[string]string
	NodeMeta        map[string]string
	Service         *serviceBody
	Check           *checkBody
	Checks          []checkBody
	SkipNodeUpdate  bool
	Locality        *catalog.Locality
	PeerName        string
}

// serviceBody is a service of a registration; what only the server gives out
// is ignored.
type serviceBody struct {
	Kind              catalog.ServiceKind
	ID                string
	Service           string
	Tags              []string
	Address           string
	TaggedAddresses   map[string]catalog.ServiceAddress
	Meta              map[string]string
	Port              int
	SocketPath        string
	Weights           *catalog.Weights // nil: the default; zeros stay
	EnableTagOverride bool
	Proxy             *catalog.Proxy
	Connect           catalog.Connect
	Locality          *catalog.Locality
	PeerName          string
	CreateIndex       uint64
	ModifyIndex       uint64
}

// checkBody is a check of a registration. ServiceName and ServiceTags come
// from the service and are ignored here.
type checkBody struct {
	Node        string
	CheckID     string
	Name        string
	Status      catalog.Status
	Notes       string
	Output      string
	ServiceID   string
	ServiceName string
	ServiceTags []string
	Type        string
	Interval    string
	Timeout     string
	ExposedPort int
	PeerName    string
	Definition  *definitionBody
	CreateIndex uint64
	ModifyIndex uint64
}

// definitionBody is the part of a registration in which unknown fields are
// ignored.
type definitionBody catalog.CheckDefinition

func (d *definitionBody) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, (*catalog.CheckDefinition)(d))
}

// PUT /v1/catalog/register: creates or updates a node, a service on it and
// checks. The datacenter is that of the body. Answer: true.
func register(c *call) error {
	var body registrationBody
	if err := decode(c, &body); err != nil {
		return err
	}
	r, err := body.registration()
	if err != nil {
		return err
	}
	c.request.Datacenter = body.Datacenter
	done, err := do(c, &gateway.CatalogRegister, r)
	c.body = strconv.AppendBool(nil, done)
	return err
}

func (b *registrationBody) registration() (catalog.Registration, error) {
	r := catalog.Registration{
		Node: catalog.Node{
			ID: b.ID, Name: b.Node, Address: b.Address, TaggedAddresses: b.TaggedAddresses,
			Meta: b.NodeMeta, Locality: b.Locality,
		},
		SkipNodeUpdate: b.SkipNodeUpdate,
	}
	imported := b.PeerName != ""
	if b.Service != nil {
		imported = imported || b.Service.PeerName != ""
		r.Service = b.Service.service()
	}
	if b.Check != nil {
		b.Checks = append(b.Checks, *b.Check)
	}
	for i := range b.Checks {
		imported = imported || b.Checks[i].PeerName != ""
		r.Checks = append(r.Checks, b.Checks[i].check())
	}
	if imported {
		return r, invalid("cannot register requests with PeerName in them")
	}
	return r, nil
}

func (b *serviceBody) service() *catalog.Service {
	s := &catalog.Service{
		ID: b.ID, Name: b.Service, Kind: b.Kind, Tags: b.Tags, Address: b.Address,
		TaggedAddresses: b.TaggedAddresses, Meta: b.Meta, Port: b.Port, SocketPath: b.SocketPath,
		Weights: catalog.DefaultWeights, EnableTagOverride: b.EnableTagOverride,
		Proxy: b.Proxy, Connect: b.Connect, Locality: b.Locality,
	}
	if b.Weights != nil {
		s.Weights = *b.Weights
	}
	return s
}

func (b *checkBody) check() catalog.Check {
	return catalog.Check{
		Node: b.Node, ID: b.CheckID, Name: b.Name, Status: b.Status, Notes: b.Notes, Output: b.Output,
		ServiceID: b.ServiceID, Type: b.Type, Interval: b.Interval, Timeout: b.Timeout,
		ExposedPort: b.ExposedPort, Definition: (*catalog.CheckDefinition)(b.Definition),
	}
}

// deregistrationBody names what to remove. Address was of use once.
type deregistrationBody struct {
	Datacenter string
	Node       string
	Address    string
	ServiceID  string
	CheckID    string
}

// PUT /v1/catalog/deregister: removes a service, or else a check, or else a
// node, whether it is there or not. Answer: true.
func deregister(c *call) error {
	var body deregistrationBody
	if err := decode(c, &body); err != nil {
		return err
	}
	for _, name := range []string{body.Node, body.ServiceID, body.CheckID} {
		if len(name) > catalog.MaxName {
			return invalid("Invalid name: longer than %d bytes", catalog.MaxName)
		}
	}
	c.request.Datacenter = body.Datacenter
	done, err := do(c, &gateway.CatalogDeregister, catalog.Deregistration{
		Node: body.Node, ServiceID: body.ServiceID, CheckID: body.CheckID,
	})
	c.body = strconv.AppendBool(nil, done)
	return err
}

package httpapi

import (
	"signpost/gateway"
	"signpost/resolver/catalog"
	"signpost/resolver/snapshot"
)

// Endpoints of the catalog. Source: reference, catalog and ACL, section 1.4.

// GET /v1/catalog/datacenters: a list of names.
func listDatacenters(c *call) error {
	return ask(c, &gateway.CatalogListDatacenters, gateway.None{}, encodeStrings)
}

// GET /v1/catalog/nodes?node-meta=&filter=: nodes in the order of their names.
func listNodes(c *call) error {
	p := gateway.NodesParams{Meta: c.params.pairs("node-meta")}
	var err error
	if p.Filter, err = filterOf(c, c.door.nodeRecord); err != nil {
		return err
	}
	return ask(c, &gateway.CatalogListNodes, p, func(c *call, b []byte, nodes []*snapshot.NodeEntry) []byte {
		return appendList(b, nodes, func(b []byte, n *snapshot.NodeEntry) []byte {
			return appendNode(b, n.Node, c.door.gateway.Datacenter)
		})
	})
}

// GET /v1/catalog/services?node-meta=&filter=: tags by the names of services.
func listServices(c *call) error {
	p := gateway.ServicesParams{NodeMeta: c.params.pairs("node-meta")}
	var err error
	if p.Filter, err = filterOf(c, c.door.flatRecord); err != nil {
		return err
	}
	return ask(c, &gateway.CatalogListServices, p, func(_ *call, b []byte, tags gateway.ServiceTags) []byte {
		return appendMap(b, tags, asEmpty.appendStrings)
	})
}

// GET /v1/catalog/service/:service?tag=&node-meta=&filter=: flat instances.
func catalogService(c *call) error { return catalogInstances(c, false) }

// GET /v1/catalog/connect/:service: the same of mesh-capable instances.
func catalogConnect(c *call) error { return catalogInstances(c, true) }

func catalogInstances(c *call, connect bool) error {
	p, err := c.serviceParams(connect)
	if err != nil {
		return err
	}
	if p.Filter, err = instanceFilter(c, c.door.flatRecord); err != nil {
		return err
	}
	return ask(c, &gateway.CatalogServiceNodes, p, func(c *call, b []byte, list []*snapshot.Instance) []byte {
		return c.door.instances(b, list, formCatalog)
	})
}

// serviceParams are those of all endpoints that list instances of a service.
func (c *call) serviceParams(connect bool) (gateway.ServiceParams, error) {
	name, err := c.name("service name")
	if err == nil && c.params.has("sg") {
		err = catalog.Errorf(catalog.Unsupported, "sameness groups are not supported")
	}
	return gateway.ServiceParams{
		Service: name, Connect: connect,
		Tags: c.params.all("tag"), NodeMeta: c.params.pairs("node-meta"),
	}, err
}

// instanceFilter is the filter of such an endpoint. No instance is imported
// from a peer, so that with the parameter peer none remains.
func instanceFilter[R any](c *call, record func(*snapshot.Instance) *R) (gateway.Filter[*snapshot.Instance], error) {
	filter, err := filterOf(c, record)
	if c.params.get("peer") != "" {
		filter = func(*snapshot.Instance) (bool, error) { return false, nil }
	}
	return filter, err
}

// GET /v1/catalog/node/:node?filter=: the node and its services by ID, or null.
func catalogNode(c *call) error {
	name, err := c.name("node name")
	if err != nil {
		return err
	}
	p := gateway.NodeParams{Node: name}
	if p.Filter, err = filterOf(c, serviceRecordOf); err != nil {
		return err
	}
	return ask(c, &gateway.CatalogNodeServices, p, encodeNodeServices)
}

func encodeNodeServices(c *call, b []byte, n *gateway.NodeServices) []byte {
	if n == nil {
		return append(b, "null"...)
	}
	b = appendNode(append(b, `{"Node":`...), n.Node, c.door.gateway.Datacenter)
	b = append(b, `,"Services":{`...)
	for i, inst := range n.Instances { // in the order of their IDs
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendString(b, inst.Service.ID), ':')
		b = appendService(b, inst.Service, asEmpty)
	}
	return append(b, "}}"...)
}

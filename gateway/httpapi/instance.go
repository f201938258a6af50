package httpapi

import (
	"signpost/resolver/catalog"
	"signpost/resolver/snapshot"
)

// The forms that an instance is remembered in.
const (
	formExecute snapshot.Form = iota // of query results: lists and maps as they were stored
	formHealth                       // of health endpoints: lists are never null
	formCatalog                      // of catalog endpoints: one flat record
)

// formsIn gives the function that writes each form.
func formsIn(datacenter string) [snapshot.NumForms]func(*snapshot.Instance) []byte {
	return [snapshot.NumForms]func(*snapshot.Instance) []byte{
		formExecute: func(i *snapshot.Instance) []byte { return snug(appendResult(roomy(), i, datacenter)) },
		formHealth:  func(i *snapshot.Instance) []byte { return snug(appendHealth(roomy(), i, datacenter)) },
		formCatalog: func(i *snapshot.Instance) []byte { return snug(appendFlat(roomy(), i, datacenter)) },
	}
}

// roomy is enough for most instances.
func roomy() []byte { return make([]byte, 0, 1024) }

// snug copies to a slice without room at its end, for keeping.
func snug(b []byte) []byte { return append(make([]byte, 0, len(b)), b...) }

// instances writes a list of instances in a form.
func (d *door) instances(b []byte, list []*snapshot.Instance, form snapshot.Form) []byte {
	b = append(b, '[')
	for i, inst := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, d.memory.Written(inst, form, d.forms[form])...)
	}
	return append(b, ']')
}

// nulls says what becomes of a list that is nil.
type nulls bool

const (
	asStored nulls = false // null
	asEmpty  nulls = true  // []
)

func (n nulls) appendStrings(b []byte, list []string) []byte {
	if list == nil && n == asEmpty {
		return append(b, "[]"...)
	}
	return appendStrings(b, list)
}

// appendResult is an element of an execution. Source: reference, prepared
// queries, section 10; the node has its metadata under both names that the
// interface uses.
func appendResult(b []byte, i *snapshot.Instance, datacenter string) []byte {
	b = openNode(append(b, `{"Node":`...), i.Node, datacenter)
	b = appendPairs(append(b, `,"NodeMeta":`...), i.Node.Meta)
	b = closeNode(b, i.Node)
	b = appendService(append(b, `,"Service":`...), i.Service, asStored)
	b = append(b, `,"Checks":`...)
	return append(appendChecks(b, i, asStored), '}')
}

// appendHealth is an element of the health endpoints of services.
// Source: reference, catalog and ACL, section 2.
func appendHealth(b []byte, i *snapshot.Instance, datacenter string) []byte {
	b = appendNode(append(b, `{"Node":`...), i.Node, datacenter)
	b = appendService(append(b, `,"Service":`...), i.Service, asEmpty)
	b = append(b, `,"Checks":`...)
	return append(appendChecks(b, i, asEmpty), '}')
}

// appendFlat is an element of the catalog endpoints of services.
// Source: reference, catalog and ACL, section 1.1.
func appendFlat(b []byte, i *snapshot.Instance, datacenter string) []byte {
	n, s := i.Node, i.Service
	b = appendField(b, `{"ID":`, n.ID)
	b = appendField(b, `,"Node":`, n.Name)
	b = appendField(b, `,"Address":`, n.Address)
	b = appendField(b, `,"Datacenter":`, datacenter)
	b = appendPairs(append(b, `,"TaggedAddresses":`...), n.TaggedAddresses)
	b = appendPairs(append(b, `,"NodeMeta":`...), n.Meta)
	b = appendField(b, `,"ServiceKind":`, string(s.Kind))
	b = appendField(b, `,"ServiceID":`, s.ID)
	b = appendField(b, `,"ServiceName":`, s.Name)
	b = asEmpty.appendStrings(append(b, `,"ServiceTags":`...), s.Tags)
	b = appendField(b, `,"ServiceAddress":`, s.Address)
	if len(s.TaggedAddresses) > 0 {
		b = appendMap(append(b, `,"ServiceTaggedAddresses":`...), s.TaggedAddresses, appendAddress)
	}
	b = appendWeights(append(b, `,"ServiceWeights":`...), s.Weights)
	b = append(b, `,"ServiceMeta":`...)
	if s.Meta == nil {
		b = append(b, "{}"...)
	} else {
		b = appendPairs(b, s.Meta)
	}
	b = appendInt(b, `,"ServicePort":`, s.Port)
	b = appendField(b, `,"ServiceSocketPath":`, s.SocketPath)
	b = appendBool(b, `,"ServiceEnableTagOverride":`, s.EnableTagOverride)
	b = appendProxy(append(b, `,"ServiceProxy":`...), s.Proxy)
	b = appendConnect(append(b, `,"ServiceConnect":`...), s.Connect)
	b = appendAny(append(b, `,"ServiceLocality":`...), s.Locality)
	return append(appendIndexes(b, s.CreateIndex, s.ModifyIndex), '}')
}

// appendNode is a node as most endpoints show it.
func appendNode(b []byte, n *catalog.Node, datacenter string) []byte {
	return closeNode(openNode(b, n, datacenter), n)
}

func openNode(b []byte, n *catalog.Node, datacenter string) []byte {
	b = appendField(b, `{"ID":`, n.ID)
	b = appendField(b, `,"Node":`, n.Name)
	b = appendField(b, `,"Address":`, n.Address)
	b = appendField(b, `,"Datacenter":`, datacenter)
	b = appendPairs(append(b, `,"TaggedAddresses":`...), n.TaggedAddresses)
	return appendPairs(append(b, `,"Meta":`...), n.Meta)
}

func closeNode(b []byte, n *catalog.Node) []byte {
	if n.Locality != nil {
		b = appendAny(append(b, `,"Locality":`...), n.Locality)
	}
	return append(appendIndexes(b, n.CreateIndex, n.ModifyIndex), '}')
}

// appendService is a service as it stands beside its node.
func appendService(b []byte, s *catalog.Service, n nulls) []byte {
	b = append(b, '{')
	if s.Kind != catalog.KindTypical {
		b = append(appendField(b, `"Kind":`, string(s.Kind)), ',')
	}
	b = appendField(b, `"ID":`, s.ID)
	b = appendField(b, `,"Service":`, s.Name)
	b = n.appendStrings(append(b, `,"Tags":`...), s.Tags)
	b = appendField(b, `,"Address":`, s.Address)
	if len(s.TaggedAddresses) > 0 {
		b = appendMap(append(b, `,"TaggedAddresses":`...), s.TaggedAddresses, appendAddress)
	}
	b = appendPairs(append(b, `,"Meta":`...), s.Meta)
	b = appendInt(b, `,"Port":`, s.Port)
	if s.SocketPath != "" {
		b = appendField(b, `,"SocketPath":`, s.SocketPath)
	}
	b = appendWeights(append(b, `,"Weights":`...), s.Weights)
	b = appendBool(b, `,"EnableTagOverride":`, s.EnableTagOverride)
	b = appendProxy(append(b, `,"Proxy":`...), s.Proxy)
	b = appendConnect(append(b, `,"Connect":`...), s.Connect)
	if s.Locality != nil {
		b = appendAny(append(b, `,"Locality":`...), s.Locality)
	}
	b = append(b, `,"PeerName":""`...)
	return append(appendIndexes(b, s.CreateIndex, s.ModifyIndex), '}')
}

func appendChecks(b []byte, i *snapshot.Instance, n nulls) []byte {
	if i.Checks == nil && n == asEmpty {
		return append(b, "[]"...)
	}
	return appendList(b, i.Checks, func(b []byte, c *catalog.Check) []byte {
		of := i.Service
		if c.ServiceID == "" {
			of = nil
		}
		return appendCheck(b, c, of, n)
	})
}

// appendCheck is a check with the name and tags of the service that it is
// about; of is nil for a check of a whole node.
func appendCheck(b []byte, c *catalog.Check, of *catalog.Service, n nulls) []byte {
	var name string
	var tags []string
	if of != nil {
		name, tags = of.Name, of.Tags
	}
	b = appendField(b, `{"Node":`, c.Node)
	b = appendField(b, `,"CheckID":`, c.ID)
	b = appendField(b, `,"Name":`, c.Name)
	b = appendField(b, `,"Status":`, string(c.Status))
	b = appendField(b, `,"Notes":`, c.Notes)
	b = appendField(b, `,"Output":`, c.Output)
	b = appendField(b, `,"ServiceID":`, c.ServiceID)
	b = appendField(b, `,"ServiceName":`, name)
	b = n.appendStrings(append(b, `,"ServiceTags":`...), tags)
	b = appendField(b, `,"Type":`, c.Type)
	b = appendField(b, `,"Interval":`, c.Interval)
	b = appendField(b, `,"Timeout":`, c.Timeout)
	b = appendInt(b, `,"ExposedPort":`, c.ExposedPort)
	b = append(b, `,"Definition":`...)
	if c.Definition == nil {
		b = append(b, "{}"...)
	} else {
		b = appendAny(b, c.Definition)
	}
	return append(appendIndexes(b, c.CreateIndex, c.ModifyIndex), '}')
}

func appendIndexes(b []byte, create, modify catalog.Index) []byte {
	b = appendIndex(b, `,"CreateIndex":`, create)
	return appendIndex(b, `,"ModifyIndex":`, modify)
}

func appendAddress(b []byte, a catalog.ServiceAddress) []byte {
	b = appendField(b, `{"Address":`, a.Address)
	return append(appendInt(b, `,"Port":`, a.Port), '}')
}

func appendWeights(b []byte, w catalog.Weights) []byte {
	b = appendInt(b, `{"Passing":`, w.Passing)
	return append(appendInt(b, `,"Warning":`, w.Warning), '}')
}

func appendProxy(b []byte, p *catalog.Proxy) []byte {
	if p == nil {
		return append(b, `{"Mode":"","MeshGateway":{},"Expose":{}}`...)
	}
	return appendAny(b, p)
}

func appendConnect(b []byte, c catalog.Connect) []byte {
	if !c.Native {
		return append(b, "{}"...)
	}
	return append(b, `{"Native":true}`...)
}

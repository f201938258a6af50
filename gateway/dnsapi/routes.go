package dnsapi

import (
	"github.com/miekg/dns"

	"signpost/resolver/snapshot"
)

// The labels that say what a name means.
const (
	labelService = "service"
	labelConnect = "connect"
	labelQuery   = "query"
	labelNode    = "node"
	labelAddr    = "addr"
)

// route is what is to be done with names that have its label.
type route struct {
	label string
	// local tells whether the labels after the kind name this datacenter;
	// nothing is known of others.
	local func(where []string) bool
	// draw looks instances up: at most limit of them, all if it is 0.
	draw func(t *task, limit int) ([]*snapshot.Instance, error)
	// types are the renderers by question type; others is for the rest.
	types  map[uint16]renderer
	others renderer
}

// renderer makes the reply of a task.
type renderer func(t *task) (reply, error)

// newRoutes is the table of all names. Source: reference, DNS, sections 2 and 3.
func (h *handler) newRoutes() map[string]*route {
	instances := map[uint16]renderer{
		dns.TypeA: instanceAddresses, dns.TypeAAAA: instanceAddresses,
		dns.TypeANY: instanceAddresses, dns.TypeTXT: instanceAddresses,
		dns.TypeSRV: instanceServers,
	}
	return map[string]*route{
		labelService: {label: labelService, local: h.locality, draw: drawService, types: instances, others: instanceAliases},
		labelConnect: {label: labelConnect, local: h.locality, draw: drawConnect, types: instances, others: instanceAliases},
		labelQuery:   {label: labelQuery, local: h.bareLocality, draw: drawQuery, types: instances, others: instanceAliases},
		labelNode: {label: labelNode, local: h.locality, others: nodeAliases, types: map[uint16]renderer{
			dns.TypeA: nodeAddress, dns.TypeAAAA: nodeAddress, dns.TypeANY: nodeAddress, dns.TypeTXT: nodeText,
		}},
		labelAddr: {label: labelAddr, local: anyLocality, others: literalAddress},
	}
}

func (r *route) renderer(qtype uint16) renderer {
	if f, ok := r.types[qtype]; ok {
		return f
	}
	return r.others
}

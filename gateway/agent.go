package gateway

import "signpost/resolver/catalog"

// AgentCheck is the check of the logical agent's node.
const AgentCheck = "serfHealth"

// AgentRegistration is the node that all replicas together appear as: what
// sessions, agent registrations and NS records default to. A node that is
// there is left as it is.
func (g *Gateway) AgentRegistration() catalog.Registration {
	return catalog.Registration{
		SkipNodeUpdate: true,
		Node: catalog.Node{
			Name: g.NodeName, Address: g.NodeAddress,
			TaggedAddresses: map[string]string{"lan": g.NodeAddress, "wan": g.NodeAddress},
		},
		Checks: []catalog.Check{{
			ID: AgentCheck, Name: "Serf Health Status", Status: catalog.Passing, Output: "Agent alive and reachable",
		}},
	}
}

package gateway

import "signpost/resolver/snapshot"

// Operations on the state of the service itself: every replica is as good as
// a leader, so each names itself. Source: reference, catalog and ACL, section 6.
var (
	StatusLeader = Read[None, string]{
		Operation: Operation{Name: "Status.Leader", Access: ExemptAccess},
		Look: func(g *Gateway, _ *snapshot.Snapshot, _ None, _ *Seen) (string, error) {
			return g.Advertise, nil
		},
	}
	StatusPeers = Read[None, []string]{
		Operation: Operation{Name: "Status.Peers", Access: ExemptAccess},
		Look: func(g *Gateway, _ *snapshot.Snapshot, _ None, _ *Seen) ([]string, error) {
			return []string{g.Advertise}, nil
		},
	}
)

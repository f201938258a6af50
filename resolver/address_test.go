package resolver

import (
	"testing"

	"signpost/resolver/catalog"
	"signpost/resolver/snapshot"
)

func TestAddressChoice(t *testing.T) {
	plain := &catalog.Node{Address: "10.0.0.1"}
	both := &catalog.Node{Address: "10.0.0.2", TaggedAddresses: map[string]string{
		"lan": "10.0.0.9", "lan_ipv4": "10.3.1.1", "lan_ipv6": "2001:db8:1::3",
	}}
	only4 := &catalog.Node{Address: "2001:db8::9", TaggedAddresses: map[string]string{"lan_ipv4": "10.3.1.4"}}
	tagged := map[string]catalog.ServiceAddress{"lan_ipv4": {Address: "10.4.0.4"}, "lan_ipv6": {Address: "2001:db8:4::6"}}
	wan := map[string]catalog.ServiceAddress{"wan": {Address: "198.51.100.1"}}
	for _, c := range []struct {
		name    string
		node    *catalog.Node
		service catalog.Service
		want    [3]string // by Family
		own     bool
	}{
		{"node address when the service has none", plain, catalog.Service{}, [3]string{"10.0.0.1", "10.0.0.1", "10.0.0.1"}, false},
		{"service address before node address", both, catalog.Service{Address: "10.9.9.9"}, [3]string{"10.9.9.9", "10.9.9.9", "10.9.9.9"}, true},
		{"tagged node addresses by family, IPv6 first", both, catalog.Service{}, [3]string{"2001:db8:1::3", "10.3.1.1", "2001:db8:1::3"}, false},
		{"the only tag, else the plain address", only4, catalog.Service{}, [3]string{"10.3.1.4", "10.3.1.4", "2001:db8::9"}, false},
		{"tagged service addresses before plain ones", plain, catalog.Service{Address: "10.9.9.9", TaggedAddresses: tagged}, [3]string{"2001:db8:4::6", "10.4.0.4", "2001:db8:4::6"}, true},
		{"other tags do not count", plain, catalog.Service{TaggedAddresses: wan}, [3]string{"10.0.0.1", "10.0.0.1", "10.0.0.1"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			inst := &snapshot.Instance{Node: c.node, Service: &c.service}
			for _, f := range []Family{AnyFamily, IPv4, IPv6} {
				address, own := InstanceAddress(inst, f)
				if address != c.want[f] || own != c.own {
					t.Errorf("family %d: got %q own=%v, want %q own=%v", f, address, own, c.want[f], c.own)
				}
			}
		})
	}
}

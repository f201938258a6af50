package catalog_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"signpost/resolver/catalog"
)

func registration() catalog.Registration {
	return catalog.Registration{Node: catalog.Node{Name: "n1", Address: "10.0.0.1"}}
}

func TestARegistrationIsCompleted(t *testing.T) {
	t.Parallel()
	r := registration()
	r.Node.ID = "2D906E16-71DF-1875-6449-7F5FBB6D8067"
	r.Service = &catalog.Service{Name: "web"}
	r.Checks = []catalog.Check{{Name: "alive"}, {ID: "c", Node: "N1", Status: "bogus"}}
	require.NoError(t, r.Validate())
	require.Equal(t, "2d906e16-71df-1875-6449-7f5fbb6d8067", r.Node.ID)
	require.Equal(t, "web", r.Service.ID)
	require.Equal(t, "n1", r.Service.Node)
	require.Equal(t, catalog.Check{Node: "n1", ID: "alive", Name: "alive", Status: catalog.Critical}, r.Checks[0])
	require.Equal(t, catalog.Status("bogus"), r.Checks[1].Status, "any word is stored")
}

func TestBadRegistrationsAreRefused(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", catalog.MaxName+1)
	for want, spoil := range map[string]func(*catalog.Registration){
		"Must provide node": func(r *catalog.Registration) { r.Node.Name = "" },
		"Must provide address if SkipNodeUpdate is not set": func(r *catalog.Registration) { r.Node.Address = "" },
		"Bad node ID":                                                             func(r *catalog.Registration) { r.Node.ID = "12" },
		"Invalid node name: must not be blank":                                    func(r *catalog.Registration) { r.Node.Name = " \t" },
		"Invalid node name: longer than 255":                                      func(r *catalog.Registration) { r.Node.Name = long },
		"Invalid service name: longer than 255":                                   func(r *catalog.Registration) { r.Service = &catalog.Service{Name: long, ID: "a"} },
		"Invalid service ID: longer than 255":                                     func(r *catalog.Registration) { r.Service = &catalog.Service{Name: "a", ID: long} },
		"Must provide service name (Service.Service) when service ID is provided": func(r *catalog.Registration) { r.Service = &catalog.Service{ID: "a"} },
		"Invalid service address":                                                 func(r *catalog.Registration) { r.Service = &catalog.Service{Name: "a", Address: "[::]"} },
		"Key contains invalid characters": func(r *catalog.Registration) {
			r.Service = &catalog.Service{Name: "a", Meta: map[string]string{"a b": "c"}}
		},
		"reserved for internal use": func(r *catalog.Registration) {
			r.Service = &catalog.Service{Name: "a", Meta: map[string]string{"consul-x": "c"}}
		},
		"Proxy.DestinationServiceName must be": func(r *catalog.Registration) {
			r.Service = &catalog.Service{Name: "a", Kind: catalog.KindConnectProxy, Port: 1}
		},
		"Port or SocketPath must be set":                                      func(r *catalog.Registration) { r.Service = &catalog.Service{Name: "a", Kind: catalog.KindConnectProxy} },
		"a check needs an ID or a name":                                       func(r *catalog.Registration) { r.Checks = []catalog.Check{{}} },
		"Node 'other' for check 'c' doesn't match register request node 'n1'": func(r *catalog.Registration) { r.Checks = []catalog.Check{{ID: "c", Node: "other"}} },
		"check 'c' is given twice":                                            func(r *catalog.Registration) { r.Checks = []catalog.Check{{ID: "c"}, {Name: "c"}} },
	} {
		r := registration()
		spoil(&r)
		err := r.Validate()
		require.ErrorContains(t, err, want)
		require.Equal(t, catalog.Invalid, catalog.CodeOf(err), want)
		require.NotContains(t, err.Error(), "\n", want)
	}
}

func TestMetadataLimits(t *testing.T) {
	t.Parallel()
	many := map[string]string{}
	for i := range 65 {
		many[strings.Repeat("k", i+1)] = ""
	}
	require.ErrorContains(t, catalog.ValidateMeta(many, catalog.AnyKey), "more than 64")
	require.ErrorContains(t, catalog.ValidateMeta(map[string]string{"": "v"}, catalog.AnyKey), "Key cannot be blank")
	require.ErrorContains(t, catalog.ValidateMeta(map[string]string{strings.Repeat("k", 129): "v"}, catalog.AnyKey), "Key is too long")
	require.ErrorContains(t, catalog.ValidateMeta(map[string]string{"k": strings.Repeat("v", 513)}, catalog.AnyKey), "Value is too long")
	require.NoError(t, catalog.ValidateMeta(map[string]string{"consul-x": strings.Repeat("v", 512)}, catalog.AnyKey))
}

func TestFoldingTouchesASCIIOnly(t *testing.T) { // not parallel: it counts allocations
	for in, want := range map[string]string{"": "", "web": "web", "WEB-1": "web-1", "ÄÖx": "ÄÖx", "İI": "İi", "aB\u212Ac": "ab\u212Ac"} {
		require.Equal(t, want, catalog.Fold(in))
	}
	require.Zero(t, testing.AllocsPerRun(100, func() { catalog.Fold("already-folded-and-rather-long-name") }))
}

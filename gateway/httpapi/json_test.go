package httpapi

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"signpost/resolver/catalog"
	"signpost/resolver/query"
	"signpost/resolver/snapshot"
)

// The wire as structs: what is appended by hand must be what encoding/json
// makes of these.

type wireNode struct {
	ID, Node, Address, Datacenter string
	TaggedAddresses, Meta         map[string]string
	NodeMeta                      *map[string]string `json:",omitempty"`
	Locality                      *catalog.Locality  `json:",omitempty"`
	CreateIndex, ModifyIndex      catalog.Index
}

type wireService struct {
	Kind                     string `json:",omitempty"`
	ID, Service              string
	Tags                     []string
	Address                  string
	TaggedAddresses          map[string]catalog.ServiceAddress `json:",omitempty"`
	Meta                     map[string]string
	Port                     int
	SocketPath               string `json:",omitempty"`
	Weights                  catalog.Weights
	EnableTagOverride        bool
	Proxy                    catalog.Proxy
	Connect                  catalog.Connect
	Locality                 *catalog.Locality `json:",omitempty"`
	PeerName                 string
	CreateIndex, ModifyIndex catalog.Index
}

type wireCheck struct {
	Node, CheckID, Name, Status, Notes, Output, ServiceID, ServiceName string
	ServiceTags                                                        []string
	Type, Interval, Timeout                                            string
	ExposedPort                                                        int
	Definition                                                         catalog.CheckDefinition
	CreateIndex, ModifyIndex                                           catalog.Index
}

type wireInstance struct {
	Node    wireNode
	Service wireService
	Checks  []wireCheck
}

type wireFlat struct {
	ID, Node, Address, Datacenter string
	TaggedAddresses, NodeMeta     map[string]string
	ServiceKind                   catalog.ServiceKind
	ServiceID, ServiceName        string
	ServiceTags                   []string
	ServiceAddress                string
	ServiceTaggedAddresses        map[string]catalog.ServiceAddress `json:",omitempty"`
	ServiceWeights                catalog.Weights
	ServiceMeta                   map[string]string
	ServicePort                   int
	ServiceSocketPath             string
	ServiceEnableTagOverride      bool
	ServiceProxy                  catalog.Proxy
	ServiceConnect                catalog.Connect
	ServiceLocality               *catalog.Locality
	CreateIndex, ModifyIndex      catalog.Index
}

func wireOf(i *snapshot.Instance, normal nulls) wireInstance {
	n, s := i.Node, i.Service
	w := wireInstance{
		Node: wireNode{
			ID: n.ID, Node: n.Name, Address: n.Address, Datacenter: "dc1", TaggedAddresses: n.TaggedAddresses, Meta: n.Meta,
			Locality: n.Locality, CreateIndex: n.CreateIndex, ModifyIndex: n.ModifyIndex,
		},
		Service: wireService{
			Kind: string(s.Kind), ID: s.ID, Service: s.Name, Tags: list(s.Tags, normal), Address: s.Address,
			TaggedAddresses: s.TaggedAddresses, Meta: s.Meta, Port: s.Port, SocketPath: s.SocketPath, Weights: s.Weights,
			EnableTagOverride: s.EnableTagOverride, Proxy: orZero(s.Proxy), Connect: s.Connect, Locality: s.Locality,
			CreateIndex: s.CreateIndex, ModifyIndex: s.ModifyIndex,
		},
	}
	if normal == asStored {
		w.Node.NodeMeta = &n.Meta
	} else {
		w.Checks = []wireCheck{}
	}
	for _, c := range i.Checks {
		k := wireCheck{
			Node: c.Node, CheckID: c.ID, Name: c.Name, Status: string(c.Status), Notes: c.Notes, Output: c.Output,
			ServiceID: c.ServiceID, ServiceTags: list(nil, normal), Type: c.Type, Interval: c.Interval, Timeout: c.Timeout,
			ExposedPort: c.ExposedPort, Definition: orZero(c.Definition), CreateIndex: c.CreateIndex, ModifyIndex: c.ModifyIndex,
		}
		if c.ServiceID != "" {
			k.ServiceName, k.ServiceTags = s.Name, list(s.Tags, normal)
		}
		w.Checks = append(w.Checks, k)
	}
	return w
}

func list(l []string, normal nulls) []string {
	if l == nil && normal == asEmpty {
		return []string{}
	}
	return l
}

func flatOf(i *snapshot.Instance) wireFlat {
	n, s := i.Node, i.Service
	meta := s.Meta
	if meta == nil {
		meta = map[string]string{}
	}
	return wireFlat{
		n.ID, n.Name, n.Address, "dc1", n.TaggedAddresses, n.Meta, s.Kind, s.ID, s.Name, list(s.Tags, asEmpty), s.Address,
		s.TaggedAddresses, s.Weights, meta, s.Port, s.SocketPath, s.EnableTagOverride, orZero(s.Proxy), s.Connect, s.Locality,
		s.CreateIndex, s.ModifyIndex,
	}
}

func TestRecordsAreWrittenAsEncodingJSONWould(t *testing.T) {
	t.Parallel()
	forms := formsIn("dc1")
	rapid.Check(t, func(t *rapid.T) {
		i := &snapshot.Instance{Node: rapid.Make[*catalog.Node]().Draw(t, "node"), Service: someService().Draw(t, "service")}
		i.Checks = rapid.OneOf(rapid.Just[[]*catalog.Check](nil), rapid.SliceOfN(rapid.Make[*catalog.Check](), 1, 3)).Draw(t, "checks")
		if i.Node == nil {
			i.Node = &catalog.Node{}
		}
		for at, c := range i.Checks {
			if c == nil {
				i.Checks[at] = &catalog.Check{}
			}
		}
		requireSame(t, wireOf(i, asStored), forms[formExecute](i))
		requireSame(t, wireOf(i, asEmpty), forms[formHealth](i))
		requireSame(t, flatOf(i), forms[formCatalog](i))
	})
}

// someService leaves out the free-form configuration of proxies, for which
// rapid has no values.
func someService() *rapid.Generator[*catalog.Service] {
	return rapid.Custom(func(t *rapid.T) *catalog.Service {
		return &catalog.Service{
			ID: text(t), Name: text(t), Kind: catalog.ServiceKind(text(t)), Address: text(t), SocketPath: text(t),
			Tags: rapid.Make[[]string]().Draw(t, "tags"), Meta: rapid.Make[map[string]string]().Draw(t, "meta"),
			TaggedAddresses: rapid.Make[map[string]catalog.ServiceAddress]().Draw(t, "addresses"),
			Port:            rapid.Int().Draw(t, "port"), Weights: rapid.Make[catalog.Weights]().Draw(t, "weights"),
			EnableTagOverride: rapid.Bool().Draw(t, "override"), Connect: rapid.Make[catalog.Connect]().Draw(t, "connect"),
			Proxy: &catalog.Proxy{
				DestinationServiceName: text(t), Mode: text(t), Config: rapid.SampledFrom([]map[string]any{nil, {"a": 1.5, "b": []any{"<"}}}).Draw(t, "config"),
				Expose: rapid.Make[catalog.Expose]().Draw(t, "expose"), TransparentProxy: rapid.Make[*catalog.TransparentProxy]().Draw(t, "transparent"),
			},
			Locality:    rapid.Make[*catalog.Locality]().Draw(t, "locality"),
			CreateIndex: rapid.Make[catalog.Index]().Draw(t, "created"), ModifyIndex: rapid.Make[catalog.Index]().Draw(t, "modified"),
		}
	})
}

func orZero[T any](p *T) T {
	if p == nil {
		return *new(T)
	}
	return *p
}

func text(t *rapid.T) string {
	return rapid.OneOf(rapid.Just(""), rapid.String(), rapid.StringMatching(`[a-z<>&"\\]*`)).Draw(t, "text")
}

func requireSame(t *rapid.T, want any, got []byte) {
	text, err := json.Marshal(want)
	require.NoError(t, err)
	require.Equal(t, string(text), string(got))
}

func TestStringsAreWrittenAsEncodingJSONWould(t *testing.T) {
	t.Parallel()
	for b := range 256 {
		for _, s := range []string{string([]byte{byte(b)}), "a" + string(rune(b)) + "z"} {
			want, err := json.Marshal(s)
			require.NoError(t, err)
			require.Equal(t, string(want), string(appendString(nil, s)))
		}
	}
	for _, s := range []string{"", "\u2028\u2029", "\ufffd", "😀", "a\xed\xa0\x80b"} {
		want, err := json.Marshal(s)
		require.NoError(t, err)
		require.Equal(t, string(want), string(appendString(nil, s)))
	}
}

func TestQueriesAreWrittenAsTheyWereStored(t *testing.T) {
	t.Parallel()
	type raftIndex struct{ CreateIndex, ModifyIndex catalog.Index }
	type definition struct {
		Service, Namespace, SamenessGroup string
		Failover                          catalog.Failover
		OnlyPassing                       bool
		IgnoreCheckIDs                    []string
		Near                              string
		Tags                              []string
		NodeMeta, ServiceMeta             map[string]string
		Connect                           bool
		Peer                              string
	}
	rapid.Check(t, func(t *rapid.T) {
		q := rapid.Make[catalog.Query]().Draw(t, "query")
		q.Service.Namespace = "default"
		requireSame(t, struct {
			ID, Name, Session, Token string
			Template                 catalog.Template
			Service                  definition
			DNS                      catalog.QueryDNS
			CreateIndex, ModifyIndex catalog.Index
			RaftIndex                raftIndex
		}{
			q.ID, q.Name, q.Session, q.Token, q.Template, definition(q.Service), q.DNS, q.CreateIndex, q.ModifyIndex,
			raftIndex{q.CreateIndex, q.ModifyIndex},
		}, appendQuery(nil, &snapshot.QueryEntry{Prepared: query.Prepare(&q)}))
	})
}

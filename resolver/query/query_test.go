package query_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"signpost/resolver/catalog"
	"signpost/resolver/query"
)

func check(id string, status catalog.Status) *catalog.Check {
	return &catalog.Check{ID: id, Status: status}
}

func TestHealthFollowsTheReference(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		checks               []*catalog.Check
		ignore               []string
		byDefault, ifPassing bool
	}{
		{nil, nil, true, true},
		{[]*catalog.Check{check("a", catalog.Passing)}, nil, true, true},
		{[]*catalog.Check{check("a", catalog.Warning)}, nil, true, false},
		{[]*catalog.Check{check("a", "bogus")}, nil, true, false},
		{[]*catalog.Check{check("a", catalog.Critical)}, nil, false, false},
		{[]*catalog.Check{check("a", catalog.Passing), check("b", catalog.Critical)}, []string{"b"}, true, true},
		{[]*catalog.Check{check("b", catalog.Critical)}, []string{"B"}, false, false},
	} {
		require.Equal(t, c.byDefault, query.Healthy(c.checks, false, c.ignore), "%v", c)
		require.Equal(t, c.ifPassing, query.Healthy(c.checks, true, c.ignore), "%v", c)
	}
}

func TestTagsFollowTheReference(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		want, have []string
		ok         bool
	}{
		{nil, nil, true},
		{[]string{"v1"}, []string{"V1", "x"}, true},
		{[]string{"v1", "v2"}, []string{"v1"}, false},
		{[]string{"!V1"}, []string{"v1"}, false},
		{[]string{"!v2"}, []string{"v1"}, true},
		{[]string{"!!x"}, []string{"x"}, true},
		{[]string{"!!x"}, []string{"!x"}, false},
		{[]string{""}, []string{"a"}, false},
		{[]string{""}, []string{""}, true},
		{[]string{"!"}, []string{""}, false},
	} {
		p := query.Prepare(&catalog.Query{Service: catalog.QueryService{Tags: c.want}})
		require.Equal(t, c.ok, p.Accepts(&catalog.Node{}, &catalog.Service{Tags: c.have}, nil), "%v", c)
	}
}

func TestMetadataMustBeThereExactly(t *testing.T) {
	t.Parallel()
	p := query.Prepare(&catalog.Query{Service: catalog.QueryService{
		NodeMeta: map[string]string{"rack": "a"}, ServiceMeta: map[string]string{"v": ""},
	}})
	node, service := &catalog.Node{Meta: map[string]string{"rack": "a"}}, &catalog.Service{Meta: map[string]string{"v": ""}}
	require.True(t, p.Accepts(node, service, nil))
	require.False(t, p.Accepts(&catalog.Node{Meta: map[string]string{"rack": "A"}}, service, nil))
	require.False(t, p.Accepts(node, &catalog.Service{}, nil), "an absent key is not an empty value")
}

func TestTTL(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{"0s": 0, "1500ms": 1500 * time.Millisecond, "10s": 10 * time.Second} {
		ttl, ok := query.Prepare(&catalog.Query{DNS: catalog.QueryDNS{TTL: text}}).TTL()
		require.True(t, ok)
		require.Equal(t, want, ttl)
	}
	for _, text := range []string{"", "-1s", "abc"} { // the last two by an operator's hand
		_, ok := query.Prepare(&catalog.Query{DNS: catalog.QueryDNS{TTL: text}}).TTL()
		require.False(t, ok, text)
	}
}

func TestBadDefinitionsAreRefused(t *testing.T) {
	t.Parallel()
	for want, spoil := range map[string]func(*catalog.Query){
		"Bad Token '<hidden>'":                 func(q *catalog.Query) { q.Token = "<hidden>" },
		"Must provide a Service name to query": func(q *catalog.Query) { q.Service.Service = "" },
		"Bad NearestN '-1', must be >= 0":      func(q *catalog.Query) { q.Service.Failover.NearestN = -1 },
		"Targets cannot be populated with": func(q *catalog.Query) {
			q.Service.Failover = catalog.Failover{NearestN: 1, Targets: make([]catalog.FailoverTarget, 1)}
		},
		"Key cannot be blank":                func(q *catalog.Query) { q.Service.NodeMeta = map[string]string{"": "x"} },
		"Bad DNS TTL 'abc'":                  func(q *catalog.Query) { q.DNS.TTL = "abc" },
		"DNS TTL '-5000000000', must be >=0": func(q *catalog.Query) { q.DNS.TTL = "-5s" },
		"sameness-groups":                    func(q *catalog.Query) { q.Service.SamenessGroup = "g" },
		"templates are not supported":        func(q *catalog.Query) { q.Template.Type = "name_prefix_match" },
	} {
		q := catalog.Query{Name: "q", Service: catalog.QueryService{Service: "web"}}
		require.NoError(t, query.Validate(&q))
		spoil(&q)
		require.ErrorContains(t, query.Validate(&q), want)
	}
	require.NoError(t, query.Validate(&catalog.Query{Service: catalog.QueryService{Service: "web"}}), "neither name nor session is needed")
}

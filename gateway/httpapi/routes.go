package httpapi

import (
	"net/http"
	"slices"
	"strings"

	"signpost/gateway"
)

// route is one line of the table.
type route struct {
	method string
	path   string // at most one name, ":" and its kind
	op     gateway.Operation
	sort   sort
	handle func(*call) error
}

// sort is what the endpoints of a route have in common.
type sort uint8

const (
	plain sort = iota // parameters of the caller alone: token, datacenter, pretty
	read              // and those of reads; the answer has the headers of reads
	watch             // a read that also blocks
	probe             // of the process itself: no parameters, answers before it is ready
)

// routes is every endpoint there is.
var routes = []route{
	{http.MethodPut, "/v1/catalog/register", gateway.CatalogRegister.Info(), plain, register},
	{http.MethodPut, "/v1/catalog/deregister", gateway.CatalogDeregister.Info(), plain, deregister},
	{http.MethodGet, "/v1/catalog/datacenters", gateway.CatalogListDatacenters.Info(), plain, listDatacenters},
	{http.MethodGet, "/v1/catalog/nodes", gateway.CatalogListNodes.Info(), watch, listNodes},
	{http.MethodGet, "/v1/catalog/services", gateway.CatalogListServices.Info(), watch, listServices},
	{http.MethodGet, "/v1/catalog/service/:service", gateway.CatalogServiceNodes.Info(), watch, catalogService},
	{http.MethodGet, "/v1/catalog/connect/:service", gateway.CatalogServiceNodes.Info(), watch, catalogConnect},
	{http.MethodGet, "/v1/catalog/node/:node", gateway.CatalogNodeServices.Info(), watch, catalogNode},

	{http.MethodGet, "/v1/health/service/:service", gateway.HealthServiceNodes.Info(), watch, healthService},
	{http.MethodGet, "/v1/health/connect/:service", gateway.HealthServiceNodes.Info(), watch, healthConnect},
	{http.MethodGet, "/v1/health/node/:node", gateway.HealthNodeChecks.Info(), watch, healthNode},
	{http.MethodGet, "/v1/health/checks/:service", gateway.HealthServiceChecks.Info(), watch, healthChecks},

	{http.MethodGet, "/v1/query", gateway.QueryList.Info(), watch, listQueries},
	{http.MethodPost, "/v1/query", gateway.QueryCreate.Info(), plain, createQuery},
	{http.MethodGet, "/v1/query/:query", gateway.QueryGet.Info(), watch, getQuery},
	{http.MethodPut, "/v1/query/:query", gateway.QueryUpdate.Info(), plain, updateQuery},
	{http.MethodDelete, "/v1/query/:query", gateway.QueryDelete.Info(), plain, deleteQuery},
	{http.MethodGet, "/v1/query/:query/execute", gateway.QueryExecute.Info(), read, executeQuery},

	{http.MethodGet, "/v1/status/leader", gateway.StatusLeader.Info(), plain, statusLeader},
	{http.MethodGet, "/v1/status/peers", gateway.StatusPeers.Info(), plain, statusPeers},

	{http.MethodGet, "/health", gateway.Operation{Name: "Process.Health", Access: gateway.ExemptAccess}, probe, processHealth},
	{http.MethodGet, "/ready", gateway.Operation{Name: "Process.Ready", Access: gateway.ExemptAccess}, probe, processReady},
}

// The routes of requests that the table has no line for.
var (
	unknownPath = route{op: gateway.Operation{Name: "None"}, sort: probe, handle: refusePath}
	wrongMethod = route{op: gateway.Operation{Name: "None"}, sort: probe, handle: refuseMethod}
	options     = route{op: gateway.Operation{Name: "None"}, sort: probe, handle: listMethods}
)

// withoutName is the route of the path whose last part, a name, is missing.
func (r *route) withoutName() (*route, bool) {
	at := strings.LastIndexByte(r.path, ':')
	if at < 0 || strings.Contains(r.path[at:], "/") {
		return nil, false
	}
	without := *r
	without.path, without.handle = r.path[:at], refuseNoName
	return &without, true
}

// paths lists the paths of the table, each once.
func paths() []string {
	var out []string
	for _, r := range routes {
		if !slices.Contains(out, r.path) {
			out = append(out, r.path)
		}
	}
	return out
}

// methodsOf lists the methods of a path as the header Allow has them.
func methodsOf(path string) string {
	allow := http.MethodOptions
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete} {
		if slices.ContainsFunc(routes, func(r route) bool { return r.path == path && r.method == method }) {
			allow += "," + method
		}
	}
	return allow
}

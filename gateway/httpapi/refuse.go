package httpapi

import (
	"net/http"
	"strings"

	"signpost/resolver/catalog"
)

// Answers to requests that are no operation.
// Source: reference, http conventions, section 9.

func refusePath(c *call) error {
	c.status = http.StatusNotFound
	if strings.Contains(c.gin.Request.URL.Path, "/v1/") {
		c.text = "Invalid URL path: not a recognized HTTP API endpoint\n"
	} else {
		c.text = "Invalid URL path: if attempting to use the HTTP API, ensure the path starts with '/v1/'\n"
	}
	return nil
}

// refuseMethod finds in the header Allow the methods that gin knows for the
// path, and puts them in order.
func refuseMethod(c *call) error {
	h := c.gin.Writer.Header()
	known := h.Get("Allow")
	allow := http.MethodOptions
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete} {
		if strings.Contains(known, method) {
			allow += "," + method
		}
	}
	h["Allow"] = []string{allow}
	c.status = http.StatusMethodNotAllowed
	c.text = "method " + c.gin.Request.Method + " not allowed"
	return nil
}

func listMethods(c *call) error {
	c.gin.Writer.Header()["Allow"] = []string{methodsOf(c.gin.FullPath())}
	return nil
}

func refuseNoName(c *call) error {
	what := map[string]string{
		"/v1/catalog/service/": "service name", "/v1/catalog/connect/": "service name", "/v1/catalog/node/": "node name",
		"/v1/health/service/": "service name", "/v1/health/connect/": "service name", "/v1/health/checks/": "service name",
		"/v1/health/node/": "node name", "/v1/query/": "query ID",
	}[c.route.path]
	return catalog.Errorf(catalog.Invalid, "Missing %s", what)
}

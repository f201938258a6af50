// Package shop is a sample catalog: an online shop of twelve services with
// sixty instances on twenty nodes, some of them sick, and queries over them.
// Each registration is a body of PUT /v1/catalog/register, each query one of
// POST /v1/query.
//
// `signpost dev --sample` loads it, through the HTTP door like anybody else.
package shop

import (
	_ "embed"
	"encoding/json"
	"fmt"
)

//go:embed catalog.json
var file []byte

// Catalog is the content of catalog.json.
type Catalog struct {
	Registrations []json.RawMessage `json:"registrations"`
	Queries       []json.RawMessage `json:"queries"`
}

// Load decodes the sample.
func Load() (Catalog, error) {
	var c Catalog
	if err := json.Unmarshal(file, &c); err != nil {
		return c, fmt.Errorf("decode the sample catalog: %w", err)
	}
	return c, nil
}

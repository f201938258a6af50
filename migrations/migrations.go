// Package migrations holds the schema: numbered pairs of SQL files, applied
// in order by package db. Each is additive, so that replicas of the version
// before go on working until they are replaced.
package migrations

import "embed"

// Files are the migrations, named NNNNNN_title.{up,down}.sql.
//
//go:embed *.sql
var Files embed.FS

// Newest is the version that this build's statements are written for. A
// database one version newer is served too, an older one is refused.
const Newest = 3

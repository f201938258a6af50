// Package db is the catalog in Postgres. It is the only package that speaks
// SQL, and each aggregate's statements stand in its own file.
//
// A Store commits writes, many in one transaction (group.go, store.go). Load
// and Changes read what was committed, for package replica, which turns it
// into snapshots. The engine below both, in migrations/, gives every changed
// row its index and writes the change log, whoever changes it.
//
// cmd owns the Store; package gateway knows it by its small interface.
package db

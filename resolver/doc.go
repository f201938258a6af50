// Package resolver answers questions from a snapshot: a snapshot and a
// request go in, an answer comes out. It does no I/O, keeps no state, and
// takes chance and time only as arguments.
//
// The doors of package gateway call it, each through an operation.
package resolver

// Package catalog is the vocabulary of Signpost: nodes, services, checks,
// sessions and prepared queries, the writes that change them, and the one
// error type that every layer speaks.
//
// Values are plain data. Whatever has been put into a snapshot is shared
// between goroutines and is never changed again. A nil list or map and an
// empty one are different: prepared queries and registrations are echoed as
// they were stored.
//
// Everything imports this package; it imports nothing of ours.
package catalog

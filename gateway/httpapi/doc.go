// Package httpapi is the HTTP door: it turns requests into operations of
// package gateway, and their answers into JSON.
//
// The table in routes.go says which method and path is which operation. A
// handler decodes the parameters of its endpoint, runs the operation and
// appends the answer to a buffer; everything that endpoints have in common
// (parameters of reads, blocking, headers, encoding, errors, the event of a
// request) happens in one place, call.serve.
//
// Records are written by appending to a buffer, straight from the catalog's
// types. An instance is written once for each of the three forms it is shown
// in, and remembered with it. Structs with the names of the wire exist only
// where something must be read: bodies, and the selectors of filters.
//
// Only this package knows gin. cmd makes the handler with New and the server
// with Server.
package httpapi

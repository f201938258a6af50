// Package dnsapi is the DNS door: it turns packets into operations of package
// gateway, and their answers into packets.
//
//	socket -> handle -> parse -> route by label -> render by type -> write -> socket
//	 udp.go   handler.go  name.go      routes.go      instances.go    writer.go
//	 tcp.go                                           node.go, …
//
// A handler returns a reply, a plain value. Flags, limits, truncation,
// compression, EDNS and negative answers are made in one place, the writer.
//
// Invariants: a packet costs no I/O but its own; no packet makes the process
// stop; a worker is used by one goroutine at a time, and what it hands out is
// valid until its next packet.
//
// cmd makes one Server and runs it. miekg/dns is known here only.
package dnsapi

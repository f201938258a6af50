// Command faults breaks what gateways stand on, under load, and checks the
// whole history of what clients were told.
//
//	faults ──▶ Postgres (private, durable), a database per fault
//	  ├─────▶ signpost serve, up to three, as processes
//	  └─────▶ writers, lookups over HTTP and DNS, blocked readers
//
// A fault is a function that breaks something while the load goes on. A run is
//
//	start on an empty database ──▶ warm up ──▶ the fault ──▶ recover ──▶ stop the writers ──▶ compare
//
// and a run with too little load is void, which counts as a failure. Each
// service has one writer, and each value it writes is greater than the last,
// so that every answer can be judged by itself (book.go):
//
//   - lost: acknowledged or seen, and not there in the end
//   - lied: "nothing was changed" of what is there; a refusal of what is right
//   - went back: an index or a value that a reader had fell
//   - missed: not seen in the end by a blocked reader, or by a gateway
//   - wrong: older than acknowledged through the same gateway (consistent
//     reads: through any), never written, half written, a wake-up for nothing
//   - failed reads: no answer from a gateway that runs
//
// Run by `make faults`; a short selection are this package's tests.
// docs/reliability.md says what was seen.
package main

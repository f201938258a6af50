// Package e2e_test holds whole gateways to the interface, from outside: over
// HTTP and DNS sockets, on a real Postgres.
//
// A fleet is n gateways in this process, as `signpost serve` runs them, over
// one database that belongs to the test. They end with the test, and nothing
// may be left of them: TestMain looks for goroutines. What needs processes
// (signals, exit statuses, a private Postgres) is tested in cmd/signpost.
package e2e_test

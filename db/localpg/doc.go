// Package localpg runs a private Postgres server from the binaries that are installed on this machine.
//
// Purpose: `signpost dev` and tests need a server of their own, without Docker and without touching the one
// that may run already.
//
// Invariants:
//   - Nobody but this account (and root) gets in: the server listens on a unix socket only, inside a
//     directory of mode 0700, and on no network address.
//   - As root the server runs under an unprivileged account, postgres or else nobody.
//   - The server never outlives the process that started it, not even one ended by SIGKILL (package child).
//   - One data directory has one server at a time: whoever works with it holds its lock (cluster).
//
// Called by cmd/signpost (dev) and by test/testdb.
package localpg

// Package config turns what the operator wrote into one validated Config.
//
// What is read, weakest first: the built-in defaults, the files of --config in
// their order, the environment (SIGNPOST_*), the command line. Each layer
// overrides the ones before it key by key. Files are HCL version 1 or JSON, by
// their ending; both become the same small tree of nodes, so that everything
// behind the two parsers is written once.
//
// Invariants:
//   - Every fault is reported, not only the first: each one is a *Fault with the
//     place it was found at, and Load returns all of them joined.
//   - A key that has no effect is a fault: unknown keys, and keys of features
//     that this version does not have (unsupported.go), never pass unnoticed.
//   - Nothing here prints a secret. Passwords and tokens have types of their
//     own (secret.go) that show as redacted, and faults do not quote them.
//   - Outside text is bounded before it is parsed: 2 MiB a file, 32 levels deep.
//
// Callers: the commands in cmd/signpost. Nothing else sees this package; the
// packages below get their own configuration values from the wiring.
package config

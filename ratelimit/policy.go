// Package ratelimit says how many operations may be asked of a gateway.
//
// So far it is the policy alone, which package config reads and validates;
// deciding by it, and the stores of what was spent, come with the limiter.
// Until then every mode but Disabled is refused at start.
package ratelimit

// Policy is the budget of read and write operations.
// Source: spec, "Rate-limit settings"; reference, rate limits, section 1.
type Policy struct {
	Mode      Mode
	ReadRate  float64 // operations per second; Unlimited or any negative number: no limit
	WriteRate float64
	Scope     Scope
}

// Mode is what happens to an operation over the limit.
type Mode = string

// The modes.
const (
	Disabled   Mode = "disabled"   // nothing is measured
	Permissive Mode = "permissive" // it is counted and logged, and goes on
	Enforcing  Mode = "enforcing"  // and it is refused
)

// Scope is who shares a budget.
type Scope = string

// The scopes.
const (
	Server  Scope = "server"  // each gateway has its own
	Cluster Scope = "cluster" // all replicas together have one
)

// Unlimited is the rate that nothing exceeds.
const Unlimited = -1.0

// Default is the policy when nothing is configured.
func Default() Policy {
	return Policy{Mode: Disabled, ReadRate: Unlimited, WriteRate: Unlimited, Scope: Server}
}

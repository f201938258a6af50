package main

import (
	"context"
	"syscall"
	"time"
)

// faults lists all of them, in the order of the table. Limits are those of
// docs/reliability.md.
func faults() []*fault {
	return []*fault{
		{name: "no fault", gateways: 3, noFailures: true, act: func(ctx context.Context, _ *run) error { return rest(ctx, 2*time.Second) }},
		{name: "listeners terminated", gateways: 3, act: repeatedly(endListeners, 10, 3, 300*time.Millisecond), noFailures: true},
		{name: "all backends terminated", gateways: 3, act: repeatedly(endAll, 10, 3, 500*time.Millisecond)},
		{name: "writers terminated, often", gateways: 2, act: repeatedly(endWriters, 400, 40, 25*time.Millisecond), noUnknown: true},
		{name: "commits cut off", gateways: 2, act: commitsCut, through: viaProxy, noUnknown: true},
		{name: "postgres restarted, fast", gateways: 2, act: restarted(func(ctx context.Context, p *postgres) error { return p.stop(ctx) })},
		{name: "postgres restarted, immediate", gateways: 2, act: restarted(bySignal(syscall.SIGQUIT))},
		{name: "postgres killed", gateways: 3, act: restarted(bySignal(syscall.SIGKILL))},
		{name: "postgres frozen", gateways: 2, act: frozen},
		{name: "one gateway cut off in silence", gateways: 2, act: partitioned, through: lastViaProxy, pause: 6500 * time.Millisecond},
		{name: "operator holds the write lock", gateways: 2, act: lockHeld, pause: 6500 * time.Millisecond},
		{name: "operator holds a row", gateways: 2, act: rowHeld, pause: 6500 * time.Millisecond},
		{name: "truncate", gateways: 3, act: emptied, floorMoves: true},
		{name: "bulk updates", gateways: 3, act: bulkUpdated, noFailures: true},
		{name: "writers in every row order", gateways: 2, act: everyOrder, noFailures: true},
		{name: "pg_dump", gateways: 2, act: dumped, noFailures: true},
		{name: "older dump restored", gateways: 3, act: restored, floorMoves: true},
		{name: "log trimmed past a sleeper", gateways: 3, act: trimmed, floorMoves: true},
		{name: "gateway killed", gateways: 3, act: gatewayKilled},
		{name: "gateway stopped", gateways: 3, act: gatewayStopped},
		{name: "gateways born together", gateways: 1, act: bornTogether},
	}
}

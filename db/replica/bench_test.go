package replica_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"signpost/resolver/catalog"
)

// BenchmarkRegistrations has 64 clients each change one service and one check
// of their own, on 1,000 nodes, and wait until the change is committed and
// can be read.
func BenchmarkRegistrations(b *testing.B) {
	m, _ := join(b, newDatabase(b), "one")
	for i := range 1000 {
		m.apply(b, registration(fmt.Sprint("node-", i), fmt.Sprint("web-", i), "web", 80, catalog.Passing))
	}
	var next, applyNs, reachNs atomic.Int64
	b.SetParallelism(32) // times GOMAXPROCS
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			i := int(next.Add(1))
			r := registration(fmt.Sprint("node-", i%1000), fmt.Sprint("web-", i%1000), "web", i%60000+1, catalog.Passing)
			r.Checks[0].Output = fmt.Sprint("run ", i)
			t0 := time.Now()
			out, err := m.store.Apply(context.Background(), r)
			if err != nil {
				b.Error(err)
				return
			}
			t1 := time.Now()
			applyNs.Add(int64(t1.Sub(t0)))
			if err := m.Reach(context.Background(), out.Index); err != nil {
				b.Error(err)
				return
			}
			reachNs.Add(int64(time.Since(t1)))
		}
	})
	b.StopTimer()
	s := m.store.Stats()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "writes/s")
	b.ReportMetric(float64(applyNs.Load())/float64(b.N)/1e6, "ms-commit")
	b.ReportMetric(float64(reachNs.Load())/float64(b.N)/1e6, "ms-visible")
	b.ReportMetric(float64(s.Writes.Load())/float64(s.Groups.Load()), "writes/group")
}

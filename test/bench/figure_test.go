package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPercentileInterpolatesBetweenNeighbours(t *testing.T) {
	t.Parallel()
	values := []float64{40, 10, 30, 20}
	require.InDelta(t, 25, median(values), 1e-9)
	require.InDelta(t, 10, percentile(values, 0), 1e-9)
	require.InDelta(t, 37, percentile(values, 0.9), 1e-9)
	require.InDelta(t, 40, percentile(values, 1), 1e-9)
	require.InDelta(t, 7, median([]float64{7}), 1e-9)
	require.Equal(t, []float64{40, 10, 30, 20}, values, "the values stay in the order of the turns")
}

func TestRatioIsTheMedianOfTheTurnsNotTheRatioOfMedians(t *testing.T) {
	t.Parallel()
	// A machine that got slower: each turn has both its sides in the same state.
	turns := []turn{{This: 200, Yardstick: 100}, {This: 20, Yardstick: 10}, {This: 3, Yardstick: 1}}
	r := relative("x", perSecond, turns, atLeast(1.6))
	require.InDelta(t, 2, r.Ratio, 1e-9)
	require.InDelta(t, 2, r.Low, 1e-9)
	require.InDelta(t, 3, r.High, 1e-9)
	require.InDelta(t, 16, r.Limit, 1e-9)
	require.True(t, r.Kept)
}

func TestPromisesHoldAtTheirBound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		p     promise
		value float64
		kept  bool
	}{
		{"at least, reached", atLeast(0.9), 0.9, true},
		{"at least, missed", atLeast(0.9), 0.89, false},
		{"at most, reached", atMost(3), 3, true},
		{"at most, missed", atMost(3), 3.1, false},
		{"none at all", atMost(0), 0, true},
		{"one too many", atMost(0), 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.kept, absolute("x", count, []float64{c.value}, c.p).Kept)
		})
	}
}

func TestValuesArePrintedInAUnitThatSuitsThem(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"1,234,568/s": perSecond.format(1234567.8),
		"999/s":       perSecond.format(999),
		"1.50 s":      seconds.format(1.5),
		"12.3 ms":     seconds.format(0.0123),
		"7.05 µs":     seconds.format(7.05e-6),
		"20.0 KB":     bytes.format(20 << 10),
		"600 MB":      bytes.format(600 << 20),
		"0":           count.format(0),
	} {
		require.Equal(t, want, got)
	}
}

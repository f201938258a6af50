package resolver

import (
	"math/rand/v2"
	"slices"
	"testing"

	"signpost/resolver/snapshot"
)

func instances(n int) []*snapshot.Instance {
	out := make([]*snapshot.Instance, n)
	for i := range out {
		out[i] = &snapshot.Instance{}
	}
	return out
}

func TestSampleGivesWhatIsAccepted(t *testing.T) {
	from := instances(100)
	rnd := rand.New(rand.NewPCG(1, 2)).IntN
	for _, accepted := range []int{0, 1, 2, 5, 50, 99, 100} {
		accept := func(inst *snapshot.Instance) bool { return slices.Index(from, inst) < accepted }
		for _, limit := range []int{0, 1, 3, 20, 60, 200} {
			want := accepted
			if limit > 0 {
				want = min(limit, accepted)
			}
			out := Sample(from, limit, rnd, accept)
			if len(out) != want {
				t.Fatalf("%d of %d accepted: got %d, want %d", limit, accepted, len(out), want)
			}
			for i, inst := range out {
				if !accept(inst) {
					t.Fatalf("%d of %d accepted: gave a refused instance", limit, accepted)
				}
				if slices.Contains(out[:i], inst) {
					t.Fatalf("%d of %d accepted: gave an instance twice", limit, accepted)
				}
			}
		}
	}
}

// Whether few or most are accepted, and whichever way the draw takes, every
// accepted instance comes as often as any other.
func TestSampleIsFair(t *testing.T) {
	const draws, limit = 30000, 3
	rnd := rand.New(rand.NewPCG(3, 4)).IntN
	for _, accepted := range []int{5, 20, 39} {
		from := instances(40)
		counts := make(map[*snapshot.Instance]int, 40)
		accept := func(inst *snapshot.Instance) bool { return slices.Index(from, inst) < accepted }
		for range draws {
			for _, inst := range Sample(from, limit, rnd, accept) {
				counts[inst]++
			}
		}
		expected := float64(draws*limit) / float64(accepted)
		chi := 0.0
		for _, inst := range from[:accepted] {
			d := float64(counts[inst]) - expected
			chi += d * d / expected
		}
		// Drawing without replacement only makes the sum smaller. 72.05 is
		// the 0.999 quantile at 39 degrees of freedom, above all used here.
		if chi > 72.05 {
			t.Errorf("%d accepted: chi-square %.1f", accepted, chi)
		}
	}
}

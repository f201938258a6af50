package resolver

import "signpost/resolver/snapshot"

// Sample draws, like Draw, from those instances that accept lets through.
// Asking for few of many costs by what is asked for, as long as at least half
// of the instances are let through.
func Sample(from []*snapshot.Instance, limit int, rnd Rand, accept func(*snapshot.Instance) bool) []*snapshot.Instance {
	if limit > 0 && 4*limit < len(from) {
		// Stopping at the limit and starting over when it is not reached both
		// treat all accepted instances alike, so that the draw stays fair.
		if out := filter(Draw(from, 2*limit, rnd), accept); len(out) >= limit {
			return out[:limit]
		}
	}
	return Draw(filter(from, accept), limit, rnd)
}

// filter shares the given list when everything is accepted, the usual case.
func filter(list []*snapshot.Instance, accept func(*snapshot.Instance) bool) []*snapshot.Instance {
	for i, inst := range list {
		if accept(inst) {
			continue
		}
		out := append([]*snapshot.Instance(nil), list[:i]...)
		for _, inst := range list[i+1:] {
			if accept(inst) {
				out = append(out, inst)
			}
		}
		return out
	}
	return list
}

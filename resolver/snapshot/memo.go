package snapshot

import (
	"sync"
	"sync/atomic"

	"signpost/resolver/catalog"
)

// Form is one way of writing an instance down, such as JSON for an endpoint.
type Form uint8

// NumForms is how many forms an instance can remember.
const NumForms = 3

type memo [NumForms]atomic.Pointer[[]byte]

// Memory remembers written forms of instances, up to a number of bytes, and
// forgets the oldest first. It is safe for concurrent use; a hit takes no
// lock.
type Memory struct {
	limit int

	mu    sync.Mutex
	bytes int
	queue []memorized
	head  int
}

type memorized struct {
	inst *Instance
	form Form
	size int
}

// NewMemory makes a Memory that holds at most limit bytes.
func NewMemory(limit int) *Memory { return &Memory{limit: limit} }

// Written gives the form of an instance, made by write when it is not
// remembered. The result must not be changed.
func (m *Memory) Written(inst *Instance, form Form, write func(*Instance) []byte) []byte {
	if b := inst.memo[form].Load(); b != nil {
		return *b
	}
	b := write(inst)
	if inst.memo[form].CompareAndSwap(nil, &b) {
		m.remember(memorized{inst, form, len(b)})
	}
	return b
}

func (m *Memory) remember(e memorized) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.queue = append(m.queue, e)
	m.bytes += e.size
	for m.bytes > m.limit {
		oldest := m.queue[m.head]
		m.queue[m.head] = memorized{}
		m.head++
		m.bytes -= oldest.size
		oldest.inst.memo[oldest.form].Store(nil)
	}
	if m.head > len(m.queue)/2 {
		m.queue = append(m.queue[:0], m.queue[m.head:]...)
		m.head = 0
	}
}

// matchMemo keeps what a query let through, for as long as the service it
// looks at stays the same.
type matchMemo [2]atomic.Pointer[matched]

type matched struct {
	from *ServiceEntry
	out  []*Instance
}

// Matches gives the instances that pass the filters of the query, in catalog
// order, or only the mesh-capable ones. The result must not be changed.
func (q *QueryEntry) Matches(s *Snapshot, mesh bool) []*Instance {
	mesh = mesh || q.Service.Connect
	from, slot := s.Service(q.Service.Service), &q.matched[0]
	if mesh {
		from, slot = s.Mesh(q.Service.Service), &q.matched[1]
	}
	if from == nil {
		return nil
	}
	if m := slot.Load(); m != nil && m.from == from {
		return m.out
	}
	m := &matched{from: from, out: q.filter(from.Instances)}
	slot.Store(m)
	return m.out
}

// filter shares the given list when everything passes, the usual case.
func (q *QueryEntry) filter(list []*Instance) []*Instance {
	for i, inst := range list {
		if q.accepts(inst) {
			continue
		}
		out := append([]*Instance(nil), list[:i]...)
		for _, inst := range list[i+1:] {
			if q.accepts(inst) {
				out = append(out, inst)
			}
		}
		return out
	}
	return list
}

func (q *QueryEntry) accepts(inst *Instance) bool {
	return q.Accepts(inst.Node, inst.Service, inst.Checks)
}

// Status sums up the checks of an instance: the worst of them, passing if
// there are none. Source: reference, catalog and ACL, section 2.
func (i *Instance) Status() catalog.Status {
	worst := catalog.Passing
	for _, c := range i.Checks {
		switch {
		case c.Status == catalog.Passing:
		case c.Status == catalog.Critical:
			return catalog.Critical
		case worst == catalog.Passing || c.Status == catalog.Warning:
			worst = c.Status
		}
	}
	return worst
}

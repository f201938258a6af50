package snapshot_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"signpost/resolver/catalog"
	"signpost/resolver/snapshot"
)

func node(name string, at catalog.Index) *catalog.Node {
	return &catalog.Node{Name: name, Address: "10.0.0.1", CreateIndex: at, ModifyIndex: at}
}

func service(node, id, name string, at catalog.Index) *catalog.Service {
	return &catalog.Service{Node: node, ID: id, Name: name, CreateIndex: at, ModifyIndex: at}
}

func publish(t *testing.T, b *snapshot.Builder, at catalog.Index) (*snapshot.Snapshot, []snapshot.Thing) {
	t.Helper()
	s, things, err := b.Publish(at, fmt.Sprint("tx ", at))
	require.NoError(t, err)
	return s, things
}

func TestASnapshotNeverChanges(t *testing.T) {
	t.Parallel()
	b := snapshot.NewBuilder(snapshot.Empty())
	b.PutService(service("N1", "w2", "Web", 2)) // before its node: any order will do
	b.PutService(service("N1", "w1", "web", 2))
	b.PutCheck(&catalog.Check{Node: "N1", ID: "c", ServiceID: "w1", ModifyIndex: 2})
	b.PutNode(node("N1", 2))
	first, _ := publish(t, b, 2)
	before := first.Service("WEB").Instances

	b = snapshot.NewBuilder(first)
	b.PutCheck(&catalog.Check{Node: "n1", ID: "c", ServiceID: "w1", Status: catalog.Critical, ModifyIndex: 3})
	second, things := publish(t, b, 3)
	require.Contains(t, things, snapshot.Of(snapshot.Service, "web"))
	require.Same(t, before[1], second.Service("web").Instances[1], "what did not change is shared")
	require.NotSame(t, before[0], second.Service("web").Instances[0])
	require.Empty(t, first.Service("web").Instances[0].Checks[0].Status, "the first snapshot is as it was")
	require.Equal(t, catalog.Critical, second.Service("web").Instances[0].Status())
	require.EqualValues(t, 3, second.IndexOf(snapshot.Of(snapshot.Service, "web")))
	require.EqualValues(t, 2, second.IndexOf(snapshot.Of(snapshot.Node, "n1")), "a check is not part of it")
	require.EqualValues(t, 1, second.IndexOf(snapshot.Of(snapshot.Service, "never seen")))
}

func TestAServiceWithoutItsNodeIsAnError(t *testing.T) {
	t.Parallel()
	b := snapshot.NewBuilder(snapshot.Empty())
	b.PutService(service("n1", "w1", "web", 2))
	_, _, err := b.Publish(2, "tx")
	require.ErrorContains(t, err, "n1")
}

func TestNodesAreFoundByUniquePrefixOfTheirID(t *testing.T) {
	t.Parallel()
	b := snapshot.NewBuilder(snapshot.Empty())
	for name, id := range map[string]string{"a": "aabb0000-0000-0000-0000-000000000000", "b": "aacc0000-0000-0000-0000-000000000000"} {
		n := node(name, 2)
		n.ID = id
		b.PutNode(n)
	}
	s, _ := publish(t, b, 2)
	require.Equal(t, "a", s.NodeByID("AABB").Node.Name)
	require.Nil(t, s.NodeByID("aa"), "two begin so")
	require.Nil(t, s.NodeByID("a"), "too short")
	require.Nil(t, s.NodeByID("ff"))
}

func TestTheFloorMovesEverything(t *testing.T) {
	t.Parallel()
	b := snapshot.NewBuilder(snapshot.Empty())
	gone := snapshot.Of(snapshot.Service, "gone")
	b.PutTombstone(gone, 5)
	s, _ := publish(t, b, 5)
	require.EqualValues(t, 5, s.IndexOf(gone))
	b = snapshot.NewBuilder(s)
	b.RaiseFloor(9)
	s, _ = publish(t, b, 9)
	require.EqualValues(t, 9, s.IndexOf(gone))
	require.EqualValues(t, 9, s.IndexOf(snapshot.Of(snapshot.Service, "other")))
}

func TestWrittenFormsAreRememberedWithinTheLimit(t *testing.T) {
	t.Parallel()
	b := snapshot.NewBuilder(snapshot.Empty())
	b.PutNode(node("n", 2))
	for i := range 10 {
		b.PutService(service("n", fmt.Sprint("s", i), "web", 2))
	}
	s, _ := publish(t, b, 2)
	memory, writes := snapshot.NewMemory(50), 0
	read := func(i int) {
		memory.Written(s.Service("web").Instances[i], 0, func(*snapshot.Instance) []byte { writes++; return make([]byte, 10) })
	}
	for range 3 {
		for i := range 5 {
			read(i)
		}
	}
	require.Equal(t, 5, writes, "five fit")
	read(5)
	read(0)
	require.Equal(t, 7, writes, "the oldest made room")
	read(5)
	require.Equal(t, 7, writes)
}

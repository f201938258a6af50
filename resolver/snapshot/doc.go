// Package snapshot is the whole catalog at one index, joined and ready for
// lookups.
//
// A Snapshot never changes. A Builder makes the next one from it and from the
// rows that changed; both share all that stayed the same, so that applying a
// change costs what changed. The same Builder makes the first one from a full
// load, in any order of rows, and the result is the same: equal rows give
// equal answers and equal indexes, whatever way they came.
//
// Invariant: the index of a Thing is the last index at which anything changed
// that a reader of this Thing can see. It is the greatest of the indexes of
// its rows, of its tombstone (something of it was removed), and of the floor
// (tombstones up to there were forgotten).
//
// db/replica builds snapshots; everything that answers reads them.
package snapshot

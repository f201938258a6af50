// Package replica keeps a whole catalog in memory, as near to Postgres as a
// notification is fast.
//
//	            LISTEN                    read the change log
//	Postgres ----------> listener --wake--> follower --publish--> Snapshot
//	                                          ^    '--> readers that wait
//	     ticks, writers, barriers ---wake-----'
//
// A notification is a hint, never the truth: the follower also reads each
// second, after every reconnect, and whenever somebody needs to know (a
// barrier). Each read is a round. A round that fails is repeated, after a
// reconnect if need be; a round that finds the log trimmed, a table emptied
// or history lost is followed by a full load.
//
//	         +--- reload wanted ----+
//	         v                      |
//	connect -> load -> round -> round -> …
//	   ^                  |
//	   '---- error -------'   (the old snapshot stays in use)
//
// Invariants: the published index never goes back; a snapshot holds whole
// transactions; whoever subscribed before a snapshot was published is told
// of it.
package replica

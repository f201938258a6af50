DROP PROCEDURE signpost.watch_table;
DROP FUNCTION signpost.trim_tombstones, signpost.trim_changes, signpost.raise_index, signpost.log_truncate, signpost.raise_floor;
DROP FUNCTION signpost.begin_write, signpost.find_or_abandon;
DROP TABLE signpost.tombstones, signpost.changes, signpost.state, signpost.abandoned;
DROP FUNCTION signpost.log_tombstones, signpost.stamp_update, signpost.stamp_insert,
    signpost.tx_id, signpost.tx_index, signpost.drawn_index, signpost.lock_before_write, signpost.write_lock;
DROP SEQUENCE signpost.index_seq;

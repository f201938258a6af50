-- The state engine: the write lock, the index, the change log and tombstones.
-- How they work together is told in docs/architecture.md, "State in Postgres".
-- Every function that runs for a caller with fewer rights is SECURITY DEFINER
-- with a pinned search_path; those that run once per row name the schema of
-- all they use instead, for to change the path costs ten microseconds.

-- What there is one of.
CREATE TABLE signpost.state (
    one        boolean PRIMARY KEY DEFAULT true CHECK (one),
    trimmed_to bigint  NOT NULL DEFAULT 0, -- changes up to here are gone from the log
    floor      bigint  NOT NULL DEFAULT 0, -- tombstones up to here are forgotten
    cluster_id uuid    NOT NULL DEFAULT gen_random_uuid()
);
INSERT INTO signpost.state DEFAULT VALUES;

-- Index 1 means "nothing yet" to clients, so the first change is 2.
CREATE SEQUENCE signpost.index_seq START 2;

-- The change log: one row per row that changed, in commit order. The newest
-- index is never trimmed.
CREATE TABLE signpost.changes (
    index bigint      NOT NULL,
    seq   bigint      GENERATED ALWAYS AS IDENTITY, -- order within a transaction
    tx    uuid        NOT NULL,                     -- random, one per transaction
    at    timestamptz NOT NULL DEFAULT now(),
    tbl   text        NOT NULL,
    op    text        NOT NULL CHECK (op IN ('put', 'delete', 'reload', 'floor')),
    row   jsonb       NOT NULL, -- put: the whole row; delete: its key
    PRIMARY KEY (index, seq)
);

-- Whatever was removed left a trace here, so that its index does not fall.
CREATE TABLE signpost.tombstones (
    kind  text   NOT NULL,
    name  text   NOT NULL,
    index bigint NOT NULL,
    PRIMARY KEY (kind, name)
);

-- Transactions whose commit was not answered and that were found missing: if
-- one still arrives, late, it must not happen after it was done again.
CREATE TABLE signpost.abandoned (
    tx uuid        PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT now()
);

-- Writers queue here before they touch any row: one order for all, no
-- deadlock, and the order of indexes is the order of commits. Whoever leaves
-- a transaction open is cut off after five seconds.
CREATE FUNCTION signpost.write_lock() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = signpost, pg_temp AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(8316291898211983220);
    PERFORM set_config('idle_in_transaction_session_timeout', '5s', true);
END $$;

CREATE FUNCTION signpost.lock_before_write() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = signpost, pg_temp AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(8316291898211983220);
    PERFORM set_config('idle_in_transaction_session_timeout', '5s', true);
    RETURN NULL;
END $$;

-- How a gateway begins: the lock, the name of the transaction, and planner
-- settings that keep its cached plans from scanning what they found empty.
-- From here on it waits for nobody for long, but lets go of the lock and tries
-- again: TRUNCATE has its table locked before its trigger can ask for the
-- lock, and whoever held rows without it would stop everybody.
CREATE FUNCTION signpost.begin_write(tx uuid) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = signpost, pg_temp AS $$
BEGIN
    PERFORM write_lock();
    IF EXISTS (SELECT FROM abandoned a WHERE a.tx = begin_write.tx) THEN
        RAISE EXCEPTION 'transaction % was abandoned', tx USING ERRCODE = 'serialization_failure';
    END IF;
    PERFORM set_config('signpost.tx', tx::text, true),
        set_config('enable_seqscan', 'off', true),
        set_config('enable_hashjoin', 'off', true),
        set_config('enable_mergejoin', 'off', true),
        set_config('plan_cache_mode', 'force_generic_plan', true),
        set_config('lock_timeout', '200ms', true),
        set_config('jit', 'off', true); -- what is switched off looks costly to it
END $$;

-- After a lost answer: the index that the transaction committed, or null if
-- it did not and now never will.
CREATE FUNCTION signpost.find_or_abandon(tx uuid, after bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = signpost, pg_temp AS $$
DECLARE
    found_at bigint;
BEGIN
    PERFORM write_lock();
    SELECT c.index INTO found_at FROM changes c
    WHERE c.index > after AND c.tx = find_or_abandon.tx LIMIT 1;
    IF found_at IS NULL THEN
        -- It may be there: the answer to this question can get lost as well.
        INSERT INTO abandoned VALUES (tx) ON CONFLICT DO NOTHING;
    END IF;
    RETURN found_at;
END $$;

-- The index of this transaction, or null if nothing has changed in it. The
-- transaction id guards against a setting left over from elsewhere.
CREATE FUNCTION signpost.drawn_index() RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    held pg_catalog.text := pg_catalog.current_setting('signpost.drawn', true);
BEGIN
    IF pg_catalog.split_part(held, ' ', 1) OPERATOR(pg_catalog.=) pg_catalog.pg_current_xact_id()::pg_catalog.text THEN
        RETURN pg_catalog.split_part(held, ' ', 2)::bigint;
    END IF;
    RETURN NULL;
END $$;

-- The same, drawn now if it was not yet. Only under the write lock.
CREATE FUNCTION signpost.tx_index() RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    drawn bigint := signpost.drawn_index();
    tx pg_catalog.text;
BEGIN
    IF drawn IS NOT NULL THEN
        RETURN drawn;
    END IF;
    drawn := pg_catalog.nextval('signpost.index_seq');
    tx := pg_catalog.current_setting('signpost.tx', true); -- a gateway names its transaction
    IF tx IS NULL OR tx OPERATOR(pg_catalog.=) '' THEN
        tx := pg_catalog.gen_random_uuid()::pg_catalog.text;
    END IF;
    PERFORM pg_catalog.set_config('signpost.drawn', pg_catalog.concat_ws(' ', pg_catalog.pg_current_xact_id(), drawn, tx), true);
    PERFORM pg_catalog.pg_notify('signpost_changes', drawn::pg_catalog.text);
    RETURN drawn;
END $$;

CREATE FUNCTION signpost.tx_id() RETURNS uuid
LANGUAGE sql STABLE AS $$
    SELECT pg_catalog.split_part(pg_catalog.current_setting('signpost.drawn', true), ' ', 3)::pg_catalog.uuid
$$;

-- Gives a row that really changed the index of its transaction. A row that
-- is written as it was keeps its index, whatever the statement says.
CREATE FUNCTION signpost.stamp_insert() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    NEW.modify_index := signpost.tx_index();
    NEW.create_index := NEW.modify_index;
    RETURN NEW;
END $$;

CREATE FUNCTION signpost.stamp_update() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    NEW.create_index := OLD.create_index;
    NEW.modify_index := OLD.modify_index;
    IF NEW IS DISTINCT FROM OLD THEN
        NEW.modify_index := signpost.tx_index();
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION signpost.log_tombstones() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = signpost, pg_temp AS $$
BEGIN
    INSERT INTO changes (index, tx, tbl, op, row)
    SELECT t.index, tx_id(), 'tombstones', 'put', to_jsonb(t) FROM new_rows t;
    RETURN NULL;
END $$;
CREATE TRIGGER log_insert AFTER INSERT ON signpost.tombstones REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION signpost.log_tombstones();
CREATE TRIGGER log_update AFTER UPDATE ON signpost.tombstones REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION signpost.log_tombstones();

-- Everything may look changed from here on: readers compare with the floor.
CREATE FUNCTION signpost.raise_floor(op text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = signpost, pg_temp AS $$
DECLARE
    at bigint := tx_index();
BEGIN
    UPDATE state SET floor = at;
    DELETE FROM tombstones;
    INSERT INTO changes (index, tx, tbl, op, row)
    VALUES (at, tx_id(), 'state', raise_floor.op, jsonb_build_object('floor', at));
    RETURN at;
END $$;

CREATE FUNCTION signpost.log_truncate() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = signpost, pg_temp AS $$
BEGIN
    PERFORM raise_floor('reload');
    RETURN NULL;
END $$;

-- A replica found that history was lost (a standby without the last commits
-- was promoted, a backup was restored): no index it has handed out may be
-- given again, and nobody may sleep on one. Returns the new floor.
CREATE FUNCTION signpost.raise_index(above bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = signpost, pg_temp AS $$
DECLARE
    now_at bigint;
BEGIN
    PERFORM write_lock();
    SELECT floor INTO now_at FROM state;
    IF now_at > above THEN
        RETURN now_at; -- another replica was here first
    END IF;
    PERFORM setval('index_seq', greatest(above, (SELECT last_value FROM index_seq)));
    RETURN raise_floor('floor');
END $$;

-- Drops the oldest changes, but never the newest index, and at most batch
-- rows: a bulk load may have logged millions under one index. The oldest go
-- first, so that whoever still finds a row of his index finds all after it.
-- Returns how many went.
CREATE FUNCTION signpost.trim_changes(keep interval, batch integer) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = signpost, pg_temp AS $$
DECLARE
    cut bigint;
    gone bigint;
BEGIN
    SELECT max(index) INTO cut
    FROM (SELECT index, at FROM changes ORDER BY index, seq LIMIT batch) oldest
    WHERE at < now() - keep;
    cut := least(cut, (SELECT max(index) - 1 FROM changes));
    IF cut IS NULL THEN
        RETURN 0;
    END IF;
    UPDATE state SET trimmed_to = cut WHERE trimmed_to < cut;
    DELETE FROM changes WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM changes WHERE index <= cut ORDER BY index, seq LIMIT batch));
    GET DIAGNOSTICS gone = ROW_COUNT;
    DELETE FROM abandoned WHERE at < now() - interval '1 day';
    RETURN gone;
END $$;

-- Forgets tombstones when there are too many, by raising the floor.
CREATE FUNCTION signpost.trim_tombstones(most bigint) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = signpost, pg_temp AS $$
BEGIN
    IF (SELECT count(*) FROM tombstones) <= most THEN
        RETURN false;
    END IF;
    PERFORM write_lock();
    PERFORM raise_floor('floor');
    RETURN true;
END $$;

-- Puts the engine's triggers on a table. A gateway holds the lock already, and
-- says so by the name of its transaction. Its functions log_<table>_put and
-- log_<table>_delete must exist.
CREATE PROCEDURE signpost.watch_table(tbl text) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TRIGGER a_lock BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON signpost.%I
        FOR EACH STATEMENT WHEN (coalesce(current_setting(''signpost.tx'', true), '''') = '''') EXECUTE FUNCTION signpost.lock_before_write()', tbl);
    EXECUTE format('CREATE TRIGGER b_stamp_insert BEFORE INSERT ON signpost.%I
        FOR EACH ROW EXECUTE FUNCTION signpost.stamp_insert()', tbl);
    EXECUTE format('CREATE TRIGGER b_stamp_update BEFORE UPDATE ON signpost.%I
        FOR EACH ROW EXECUTE FUNCTION signpost.stamp_update()', tbl);
    EXECUTE format('CREATE TRIGGER log_insert AFTER INSERT ON signpost.%I REFERENCING NEW TABLE AS new_rows
        FOR EACH STATEMENT WHEN (current_setting(''signpost.drawn'', true) <> '''') EXECUTE FUNCTION signpost.log_%s_put()', tbl, tbl);
    EXECUTE format('CREATE TRIGGER log_update AFTER UPDATE ON signpost.%I REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
        FOR EACH STATEMENT WHEN (current_setting(''signpost.drawn'', true) <> '''') EXECUTE FUNCTION signpost.log_%s_put()', tbl, tbl);
    EXECUTE format('CREATE TRIGGER log_delete AFTER DELETE ON signpost.%I REFERENCING OLD TABLE AS old_rows
        FOR EACH STATEMENT EXECUTE FUNCTION signpost.log_%s_delete()', tbl, tbl);
    EXECUTE format('CREATE TRIGGER log_truncate AFTER TRUNCATE ON signpost.%I
        FOR EACH STATEMENT EXECUTE FUNCTION signpost.log_truncate()', tbl);
END $$;

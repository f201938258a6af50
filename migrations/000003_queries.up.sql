-- Sessions and prepared queries. A session goes with its node, and takes its
-- queries along.

CREATE TABLE signpost.sessions (
    id           uuid   PRIMARY KEY,
    node         text   NOT NULL CONSTRAINT sessions_node REFERENCES signpost.nodes ON DELETE CASCADE ON UPDATE CASCADE,
    name         text   NOT NULL DEFAULT '',
    details      jsonb  NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(details) = 'object'), -- ttl, behaviour, checks and the rest
    create_index bigint NOT NULL DEFAULT 0,
    modify_index bigint NOT NULL DEFAULT 0
);
CREATE INDEX sessions_by_node ON signpost.sessions (node);

CREATE TABLE signpost.queries (
    id           uuid   PRIMARY KEY,
    name         text   NOT NULL DEFAULT '',
    session      uuid   CONSTRAINT queries_session REFERENCES signpost.sessions ON DELETE CASCADE,
    token        text   NOT NULL DEFAULT '',
    template     jsonb  NOT NULL CHECK (jsonb_typeof(template) = 'object'),
    service      jsonb  NOT NULL CHECK (jsonb_typeof(service) = 'object'),
    dns          jsonb  NOT NULL CHECK (jsonb_typeof(dns) = 'object'),
    create_index bigint NOT NULL DEFAULT 0,
    modify_index bigint NOT NULL DEFAULT 0
);
CREATE INDEX queries_by_session ON signpost.queries (session) WHERE session IS NOT NULL;
CREATE UNIQUE INDEX queries_folded_name ON signpost.queries (lower(name COLLATE "C")) WHERE name <> '';
CREATE UNIQUE INDEX queries_catch_all ON signpost.queries ((true)) WHERE name = '' AND template ->> 'Type' <> '';

CREATE FUNCTION signpost.log_sessions_put() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = signpost, pg_temp SET enable_nestloop = off SET enable_hashjoin = on SET jit = off AS $$
DECLARE
    at bigint := drawn_index();
BEGIN
    IF at IS NULL OR NOT EXISTS (SELECT FROM new_rows n WHERE n.modify_index = at) THEN RETURN NULL; END IF;
    IF TG_OP = 'UPDATE' THEN
        INSERT INTO changes (index, tx, tbl, op, row)
        SELECT at, tx_id(), 'sessions', 'delete', jsonb_build_object('id', o.id)
        FROM old_rows o LEFT JOIN new_rows n ON n.id = o.id WHERE n.id IS NULL;
        INSERT INTO tombstones
        SELECT DISTINCT 'session', o.id::text, at FROM old_rows o LEFT JOIN new_rows n ON n.id = o.id WHERE n.id IS NULL
        ON CONFLICT (kind, name) DO UPDATE SET index = excluded.index WHERE tombstones.index < excluded.index;
    END IF;
    INSERT INTO changes (index, tx, tbl, op, row)
    SELECT at, tx_id(), 'sessions', 'put', to_jsonb(n) FROM new_rows n WHERE n.modify_index = at;
    RETURN NULL;
END $$;

CREATE FUNCTION signpost.log_sessions_delete() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = signpost, pg_temp AS $$
DECLARE
    at bigint;
BEGIN
    IF NOT EXISTS (SELECT FROM old_rows) THEN RETURN NULL; END IF;
    at := tx_index();
    INSERT INTO changes (index, tx, tbl, op, row)
    SELECT at, tx_id(), 'sessions', 'delete', jsonb_build_object('id', o.id) FROM old_rows o;
    INSERT INTO tombstones
    SELECT 'sessions', '', at UNION SELECT 'session', o.id::text, at FROM old_rows o
    ON CONFLICT (kind, name) DO UPDATE SET index = excluded.index WHERE tombstones.index < excluded.index;
    RETURN NULL;
END $$;

CREATE FUNCTION signpost.log_queries_put() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = signpost, pg_temp SET enable_nestloop = off SET enable_hashjoin = on SET jit = off AS $$
DECLARE
    at bigint := drawn_index();
BEGIN
    IF at IS NULL OR NOT EXISTS (SELECT FROM new_rows n WHERE n.modify_index = at) THEN RETURN NULL; END IF;
    IF TG_OP = 'UPDATE' THEN
        INSERT INTO changes (index, tx, tbl, op, row)
        SELECT at, tx_id(), 'queries', 'delete', jsonb_build_object('id', o.id)
        FROM old_rows o LEFT JOIN new_rows n ON n.id = o.id WHERE n.id IS NULL;
        INSERT INTO tombstones
        SELECT DISTINCT gone.kind, gone.name, at
        FROM old_rows o LEFT JOIN new_rows n ON n.id = o.id
        CROSS JOIN LATERAL (VALUES
            ('query', o.id::text, n.id::text),
            ('query_name', lower(o.name COLLATE "C"), lower(n.name COLLATE "C"))
        ) AS gone(kind, name, now)
        WHERE gone.name <> '' AND gone.name IS DISTINCT FROM gone.now
        ON CONFLICT (kind, name) DO UPDATE SET index = excluded.index WHERE tombstones.index < excluded.index;
    END IF;
    INSERT INTO changes (index, tx, tbl, op, row)
    SELECT at, tx_id(), 'queries', 'put', to_jsonb(n) FROM new_rows n WHERE n.modify_index = at;
    RETURN NULL;
END $$;

CREATE FUNCTION signpost.log_queries_delete() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = signpost, pg_temp AS $$
DECLARE
    at bigint;
BEGIN
    IF NOT EXISTS (SELECT FROM old_rows) THEN RETURN NULL; END IF;
    at := tx_index();
    INSERT INTO changes (index, tx, tbl, op, row)
    SELECT at, tx_id(), 'queries', 'delete', jsonb_build_object('id', o.id) FROM old_rows o;
    INSERT INTO tombstones
    SELECT 'queries', '', at
    UNION SELECT 'query', o.id::text, at FROM old_rows o
    UNION SELECT 'query_name', lower(o.name COLLATE "C"), at FROM old_rows o WHERE o.name <> ''
    ON CONFLICT (kind, name) DO UPDATE SET index = excluded.index WHERE tombstones.index < excluded.index;
    RETURN NULL;
END $$;

CALL signpost.watch_table('sessions');
CALL signpost.watch_table('queries');

-- Who may use the schema may not, by that alone, write the change log, nor
-- hang the engine's functions on tables of their own: only those that run for
-- the writer of a row are for everybody.
REVOKE EXECUTE ON ALL ROUTINES IN SCHEMA signpost FROM PUBLIC;
GRANT EXECUTE ON FUNCTION signpost.tx_index, signpost.drawn_index TO PUBLIC;

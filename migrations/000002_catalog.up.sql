-- Nodes, services, checks. Names compare without case as lower(… COLLATE "C")
-- does, which folds ASCII only, like the gateways do.

CREATE TABLE signpost.nodes (
    name             text   PRIMARY KEY CHECK (name <> ''),
    id               text   NOT NULL DEFAULT '',
    address          text   NOT NULL DEFAULT '',
    tagged_addresses jsonb  CHECK (jsonb_typeof(tagged_addresses) = 'object'),
    meta             jsonb  CHECK (jsonb_typeof(meta) = 'object'),
    locality         jsonb  CHECK (jsonb_typeof(locality) = 'object'),
    create_index     bigint NOT NULL DEFAULT 0,
    modify_index     bigint NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX nodes_folded_name ON signpost.nodes (lower(name COLLATE "C"));
CREATE UNIQUE INDEX nodes_id ON signpost.nodes (id) WHERE id <> '';

CREATE TABLE signpost.services (
    node         text    NOT NULL CONSTRAINT services_node REFERENCES signpost.nodes ON DELETE CASCADE ON UPDATE CASCADE,
    id           text    NOT NULL CHECK (id <> ''),
    name         text    NOT NULL CHECK (name <> ''),
    kind         text    NOT NULL DEFAULT '',
    address      text    NOT NULL DEFAULT '',
    port         integer NOT NULL DEFAULT 0,
    tags         jsonb   CHECK (jsonb_typeof(tags) = 'array'),
    meta         jsonb   CHECK (jsonb_typeof(meta) = 'object'),
    details      jsonb   NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(details) = 'object'), -- weights, proxy, connect and the rest
    create_index bigint  NOT NULL DEFAULT 0,
    modify_index bigint  NOT NULL DEFAULT 0,
    PRIMARY KEY (node, id)
);
CREATE INDEX services_folded_name ON signpost.services (lower(name COLLATE "C"));

CREATE TABLE signpost.checks (
    node         text   NOT NULL CONSTRAINT checks_node REFERENCES signpost.nodes ON DELETE CASCADE ON UPDATE CASCADE,
    id           text   NOT NULL CHECK (id <> ''),
    name         text   NOT NULL DEFAULT '',
    status       text   NOT NULL DEFAULT 'critical',
    notes        text   NOT NULL DEFAULT '',
    output       text   NOT NULL DEFAULT '',
    service_id   text,  -- null: the check is about the whole node
    details      jsonb  NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(details) = 'object'), -- type, interval, definition and the rest
    create_index bigint NOT NULL DEFAULT 0,
    modify_index bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (node, id),
    CONSTRAINT checks_service FOREIGN KEY (node, service_id) REFERENCES signpost.services ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX checks_service_id ON signpost.checks (node, service_id);

-- The name under which an instance is found when only mesh-capable ones are
-- asked for; null if it is not one. The gateways compute the same. It has no
-- search_path of its own, so that the planner can put it into its callers.
CREATE FUNCTION signpost.mesh_name(kind text, name text, details jsonb) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN kind OPERATOR(pg_catalog.=) 'connect-proxy' THEN
            pg_catalog.lower((details OPERATOR(pg_catalog.->) 'Proxy' OPERATOR(pg_catalog.->>) 'DestinationServiceName') COLLATE pg_catalog."C")
        WHEN details OPERATOR(pg_catalog.->) 'Connect' OPERATOR(pg_catalog.->>) 'Native' OPERATOR(pg_catalog.=) 'true' THEN
            pg_catalog.lower(name COLLATE pg_catalog."C")
    END
$$;

-- The log_ functions write the change log and tombstones after a statement.
-- Removed rows are logged before new ones: a row whose key changed only in
-- case is both. The two transition tables of an update must never be joined
-- by nested loops, for the plan made for one row is kept for the bulk load
-- that comes later.

CREATE FUNCTION signpost.log_nodes_put() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = signpost, pg_temp SET enable_nestloop = off SET enable_hashjoin = on SET jit = off AS $$
DECLARE
    at bigint := drawn_index();
BEGIN
    IF at IS NULL OR NOT EXISTS (SELECT FROM new_rows n WHERE n.modify_index = at) THEN RETURN NULL; END IF;
    IF TG_OP = 'UPDATE' THEN
        INSERT INTO changes (index, tx, tbl, op, row)
        SELECT at, tx_id(), 'nodes', 'delete', jsonb_build_object('name', o.name)
        FROM old_rows o LEFT JOIN new_rows n ON n.name = o.name WHERE n.name IS NULL;
        INSERT INTO tombstones
        SELECT DISTINCT 'node', lower(o.name COLLATE "C"), at
        FROM old_rows o LEFT JOIN new_rows n ON n.name = o.name WHERE n.name IS NULL
        ON CONFLICT (kind, name) DO UPDATE SET index = excluded.index WHERE tombstones.index < excluded.index;
    END IF;
    INSERT INTO changes (index, tx, tbl, op, row)
    SELECT at, tx_id(), 'nodes', 'put', to_jsonb(n) FROM new_rows n WHERE n.modify_index = at;
    RETURN NULL;
END $$;

CREATE FUNCTION signpost.log_nodes_delete() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = signpost, pg_temp AS $$
DECLARE
    at bigint;
BEGIN
    IF NOT EXISTS (SELECT FROM old_rows) THEN RETURN NULL; END IF;
    at := tx_index();
    INSERT INTO changes (index, tx, tbl, op, row)
    SELECT at, tx_id(), 'nodes', 'delete', jsonb_build_object('name', o.name) FROM old_rows o;
    INSERT INTO tombstones
    SELECT 'nodes', '', at
    UNION SELECT 'node', lower(o.name COLLATE "C"), at FROM old_rows o
    ON CONFLICT (kind, name) DO UPDATE SET index = excluded.index WHERE tombstones.index < excluded.index;
    RETURN NULL;
END $$;

CREATE FUNCTION signpost.log_services_put() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = signpost, pg_temp SET enable_nestloop = off SET enable_hashjoin = on SET jit = off AS $$
DECLARE
    at bigint := drawn_index();
BEGIN
    IF at IS NULL OR NOT EXISTS (SELECT FROM new_rows n WHERE n.modify_index = at) THEN RETURN NULL; END IF;
    IF TG_OP = 'UPDATE' THEN
        INSERT INTO changes (index, tx, tbl, op, row)
        SELECT at, tx_id(), 'services', 'delete', jsonb_build_object('node', o.node, 'id', o.id)
        FROM old_rows o LEFT JOIN new_rows n ON n.node = o.node AND n.id = o.id WHERE n.id IS NULL;
        -- An instance may have left its name without leaving the table.
        INSERT INTO tombstones
        SELECT DISTINCT gone.kind, gone.name, at
        FROM old_rows o LEFT JOIN new_rows n ON n.node = o.node AND n.id = o.id
        CROSS JOIN LATERAL (VALUES
            ('node', lower(o.node COLLATE "C"), lower(n.node COLLATE "C")),
            ('service', lower(o.name COLLATE "C"), lower(n.name COLLATE "C")),
            ('mesh', mesh_name(o.kind, o.name, o.details), mesh_name(n.kind, n.name, n.details))
        ) AS gone(kind, name, now)
        WHERE (n.id IS NULL OR n.modify_index = at) AND gone.name <> '' AND gone.name IS DISTINCT FROM gone.now
        ON CONFLICT (kind, name) DO UPDATE SET index = excluded.index WHERE tombstones.index < excluded.index;
    END IF;
    INSERT INTO changes (index, tx, tbl, op, row)
    SELECT at, tx_id(), 'services', 'put', to_jsonb(n) FROM new_rows n WHERE n.modify_index = at;
    RETURN NULL;
END $$;

CREATE FUNCTION signpost.log_services_delete() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = signpost, pg_temp AS $$
DECLARE
    at bigint;
BEGIN
    IF NOT EXISTS (SELECT FROM old_rows) THEN RETURN NULL; END IF;
    at := tx_index();
    INSERT INTO changes (index, tx, tbl, op, row)
    SELECT at, tx_id(), 'services', 'delete', jsonb_build_object('node', o.node, 'id', o.id) FROM old_rows o;
    INSERT INTO tombstones
    SELECT 'services', '', at
    UNION SELECT 'node', lower(o.node COLLATE "C"), at FROM old_rows o
    UNION SELECT 'service', lower(o.name COLLATE "C"), at FROM old_rows o
    UNION SELECT 'mesh', m.name, at FROM old_rows o, mesh_name(o.kind, o.name, o.details) AS m(name) WHERE m.name <> ''
    ON CONFLICT (kind, name) DO UPDATE SET index = excluded.index WHERE tombstones.index < excluded.index;
    RETURN NULL;
END $$;

-- Leaves the tombstones of a check that is no longer where it was.
CREATE FUNCTION signpost.bury_check(node text, service_id text, at bigint) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = signpost, pg_temp AS $$
    INSERT INTO tombstones
    SELECT 'checks', '', at
    UNION SELECT 'node_checks', lower(bury_check.node COLLATE "C"), at
    UNION SELECT 'node_level', lower(bury_check.node COLLATE "C"), at WHERE bury_check.service_id IS NULL
    UNION SELECT 'service', lower(s.name COLLATE "C"), at FROM services s
        WHERE s.node = bury_check.node AND s.id = bury_check.service_id
    UNION SELECT 'mesh', m.name, at FROM services s, mesh_name(s.kind, s.name, s.details) AS m(name)
        WHERE s.node = bury_check.node AND s.id = bury_check.service_id AND m.name <> ''
    ON CONFLICT (kind, name) DO UPDATE SET index = excluded.index WHERE tombstones.index < excluded.index
$$;

CREATE FUNCTION signpost.log_checks_put() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = signpost, pg_temp SET enable_nestloop = off SET enable_hashjoin = on SET jit = off AS $$
DECLARE
    at bigint := drawn_index();
    gone record;
BEGIN
    IF at IS NULL OR NOT EXISTS (SELECT FROM new_rows n WHERE n.modify_index = at) THEN RETURN NULL; END IF;
    IF TG_OP = 'UPDATE' THEN
        INSERT INTO changes (index, tx, tbl, op, row)
        SELECT at, tx_id(), 'checks', 'delete', jsonb_build_object('node', o.node, 'id', o.id)
        FROM old_rows o LEFT JOIN new_rows n ON n.node = o.node AND n.id = o.id WHERE n.id IS NULL;
        -- A check may have left what it was about: rare, so one by one.
        FOR gone IN
            SELECT o.node, o.service_id
            FROM old_rows o LEFT JOIN new_rows n ON n.node = o.node AND n.id = o.id
            WHERE n.id IS NULL OR n.service_id IS DISTINCT FROM o.service_id
        LOOP
            PERFORM bury_check(gone.node, gone.service_id, at);
        END LOOP;
    END IF;
    INSERT INTO changes (index, tx, tbl, op, row)
    SELECT at, tx_id(), 'checks', 'put', to_jsonb(n) FROM new_rows n WHERE n.modify_index = at;
    RETURN NULL;
END $$;

CREATE FUNCTION signpost.log_checks_delete() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = signpost, pg_temp AS $$
DECLARE
    at bigint;
BEGIN
    IF NOT EXISTS (SELECT FROM old_rows) THEN RETURN NULL; END IF;
    at := tx_index();
    INSERT INTO changes (index, tx, tbl, op, row)
    SELECT at, tx_id(), 'checks', 'delete', jsonb_build_object('node', o.node, 'id', o.id) FROM old_rows o;
    INSERT INTO tombstones
    SELECT 'checks', '', at
    UNION SELECT 'node_checks', lower(o.node COLLATE "C"), at FROM old_rows o
    UNION SELECT 'node_level', lower(o.node COLLATE "C"), at FROM old_rows o WHERE o.service_id IS NULL
    UNION SELECT 'service', lower(s.name COLLATE "C"), at
        FROM old_rows o JOIN services s ON s.node = o.node AND s.id = o.service_id
    UNION SELECT 'mesh', m.name, at
        FROM old_rows o JOIN services s ON s.node = o.node AND s.id = o.service_id,
            mesh_name(s.kind, s.name, s.details) AS m(name) WHERE m.name <> ''
    ON CONFLICT (kind, name) DO UPDATE SET index = excluded.index WHERE tombstones.index < excluded.index;
    RETURN NULL;
END $$;

CALL signpost.watch_table('nodes');
CALL signpost.watch_table('services');
CALL signpost.watch_table('checks');

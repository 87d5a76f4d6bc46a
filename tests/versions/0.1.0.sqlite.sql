-- A file as uidring 0.1.0 leaves it: three worker ids, one of them leased and given back, one
-- tag and one series. It stays as it is when the schema gets further columns.
BEGIN IMMEDIATE;
PRAGMA application_id = 1969841266;
PRAGMA user_version = 4;
CREATE TABLE IF NOT EXISTS worker_node (
    id INTEGER PRIMARY KEY AUTOINCREMENT
        CHECK (id BETWEEN 1 AND 4398046511103),
    host_name TEXT NOT NULL
        CHECK (typeof(host_name) = 'text' AND length(host_name) BETWEEN 1 AND 255),
    port TEXT NOT NULL
        CHECK (typeof(port) = 'text' AND length(port) BETWEEN 1 AND 255),
    type INTEGER NOT NULL
        CHECK (typeof(type) = 'integer' AND type IN (1, 2)),
    launch_date INTEGER NOT NULL
        DEFAULT (CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER))
        CHECK (typeof(launch_date) = 'integer'),
    modified INTEGER NOT NULL
        DEFAULT (CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER))
        CHECK (typeof(modified) = 'integer'),
    created INTEGER NOT NULL
        DEFAULT (CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER))
        CHECK (typeof(created) = 'integer'),
    holder TEXT
        CHECK (holder IS NULL OR typeof(holder) = 'text'),
    reserved_until INTEGER
        CHECK (reserved_until IS NULL OR typeof(reserved_until) = 'integer'),
    lease_until INTEGER
        CHECK (lease_until IS NULL OR typeof(lease_until) = 'integer')
);
CREATE TABLE IF NOT EXISTS uidring_layout (
    id INTEGER PRIMARY KEY
        CHECK (id = 1),
    time_bits INTEGER NOT NULL
        CHECK (typeof(time_bits) = 'integer' AND time_bits BETWEEN 20 AND 61),
    worker_bits INTEGER NOT NULL
        CHECK (typeof(worker_bits) = 'integer' AND worker_bits BETWEEN 1 AND 42),
    sequence_bits INTEGER NOT NULL
        CHECK (typeof(sequence_bits) = 'integer' AND sequence_bits BETWEEN 1 AND 42),
    worker_first INTEGER NOT NULL
        CHECK (typeof(worker_first) = 'integer' AND worker_first IN (0, 1)),
    tick_ms INTEGER NOT NULL
        CHECK (typeof(tick_ms) = 'integer' AND tick_ms BETWEEN 1 AND 1000),
    epoch_ms INTEGER NOT NULL
        CHECK (typeof(epoch_ms) = 'integer'),
    ids_from INTEGER NOT NULL
        CHECK (typeof(ids_from) = 'integer' AND ids_from >= 1),
    ids_to INTEGER NOT NULL
        CHECK (typeof(ids_to) = 'integer' AND ids_to BETWEEN 0 AND 4398046511103),
    CHECK (time_bits + worker_bits + sequence_bits <= 63)
);
CREATE TABLE IF NOT EXISTS uidring_series (
    name TEXT NOT NULL PRIMARY KEY
        CHECK (typeof(name) = 'text' AND length(name) BETWEEN 1 AND 64),
    time_zone TEXT NOT NULL
        CHECK (typeof(time_zone) = 'text' AND length(time_zone) BETWEEN 1 AND 64),
    fiscal_year_from TEXT
        CHECK (fiscal_year_from IS NULL
            OR typeof(fiscal_year_from) = 'text' AND length(fiscal_year_from) = 5),
    gapless INTEGER NOT NULL
        CHECK (typeof(gapless) = 'integer' AND gapless IN (0, 1)),
    closed_before TEXT NOT NULL
        CHECK (typeof(closed_before) = 'text' AND length(closed_before) BETWEEN 10 AND 10),
    created INTEGER NOT NULL
        CHECK (typeof(created) = 'integer')
);
CREATE TABLE IF NOT EXISTS uidring_series_version (
    series TEXT NOT NULL,
    version INTEGER NOT NULL
        CHECK (typeof(version) = 'integer' AND version >= 1),
    pattern TEXT NOT NULL
        CHECK (typeof(pattern) = 'text' AND length(pattern) BETWEEN 1 AND 128),
    step INTEGER NOT NULL
        CHECK (typeof(step) = 'integer' AND step >= 1),
    first_number INTEGER NOT NULL
        CHECK (typeof(first_number) = 'integer' AND first_number >= 1),
    begins TEXT NOT NULL
        CHECK (typeof(begins) = 'text' AND length(begins) BETWEEN 10 AND 10),
    restart TEXT
        CHECK (restart IS NULL OR typeof(restart) = 'text' AND restart IN
            ('day', 'week', 'month', 'quarter', 'year', 'fiscal-year', 'never')),
    created INTEGER NOT NULL
        CHECK (typeof(created) = 'integer'),
    PRIMARY KEY (series, version)
);
CREATE TABLE IF NOT EXISTS uidring_series_counter (
    series TEXT NOT NULL,
    scope TEXT NOT NULL,
    period TEXT NOT NULL,
    begins TEXT NOT NULL,
    version INTEGER NOT NULL,
    last_number INTEGER NOT NULL
        CHECK (typeof(last_number) = 'integer' AND last_number >= 0),
    modified INTEGER NOT NULL
        CHECK (typeof(modified) = 'integer'),
    created INTEGER NOT NULL
        CHECK (typeof(created) = 'integer'),
    PRIMARY KEY (series, scope, period)
);
CREATE TABLE IF NOT EXISTS uidring_request (
    series TEXT NOT NULL,
    request TEXT NOT NULL,
    asked TEXT NOT NULL,
    answer TEXT NOT NULL,
    created INTEGER NOT NULL
        CHECK (typeof(created) = 'integer'),
    PRIMARY KEY (series, request)
);
CREATE INDEX IF NOT EXISTS uidring_request_created ON uidring_request (created);
CREATE TABLE IF NOT EXISTS uidring_segment (
    tag TEXT NOT NULL PRIMARY KEY
        CHECK (typeof(tag) = 'text' AND length(tag) BETWEEN 1 AND 128),
    last_number INTEGER NOT NULL
        CHECK (typeof(last_number) = 'integer' AND last_number >= 0),
    step INTEGER NOT NULL
        CHECK (typeof(step) = 'integer' AND step >= 1),
    max_step INTEGER
        CHECK (max_step IS NULL OR typeof(max_step) = 'integer' AND max_step >= step),
    description TEXT
        CHECK (description IS NULL OR typeof(description) = 'text' AND length(description) <= 256),
    modified INTEGER NOT NULL
        DEFAULT (CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER))
        CHECK (typeof(modified) = 'integer'),
    created INTEGER NOT NULL
        DEFAULT (CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER))
        CHECK (typeof(created) = 'integer')
);
COMMIT;
INSERT INTO uidring_layout
    (id, time_bits, worker_bits, sequence_bits, worker_first, tick_ms, epoch_ms, ids_from, ids_to)
    VALUES (1, 30, 20, 13, 0, 1000, 1767225600000, 1, 1048575);
INSERT INTO worker_node
    (id, host_name, port, type, launch_date, modified, created,
        holder, reserved_until, lease_until) VALUES
    (1, 'vm', '28978', 1, 1795720263126, 1795720263126, 1795720263126, NULL, NULL, NULL),
    (2, 'vm', '28983', 1, 1795720263138, 1795720263140, 1795720263138,
        NULL, 28494663, 1795720263140),
    (7, 'vm', '29001', 1, 1795720263150, 1795720263150, 1795720263150, NULL, NULL, NULL);
INSERT INTO uidring_series
    (name, time_zone, fiscal_year_from, gapless, closed_before, created) VALUES
    ('invoices', 'UTC', NULL, 0, '0000-01-01', 1795720275936);
INSERT INTO uidring_series_version
    (series, version, pattern, step, first_number, begins, created) VALUES
    ('invoices', 1, 'INV-{n:6}', 100, 1, '0000-01-01', 1795720275936);
INSERT INTO uidring_series_counter
    (series, scope, period, begins, version, last_number, modified, created) VALUES
    ('invoices', '', 'ever', '0000-01-01', 1, 2, 1795720275962, 1795720275958);
INSERT INTO uidring_segment
    (tag, last_number, step, max_step, description, modified, created) VALUES
    ('orders', 1000, 100, NULL, 'of the shop', 1795720275922, 1795720275896);

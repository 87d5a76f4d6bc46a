-- A database as uidring 0.1.0 leaves it: three worker ids, one of them leased and given back, one
-- tag and one series. It stays as it is when the schema gets further columns.
CREATE TABLE IF NOT EXISTS uidring_layout (
    id BIGINT PRIMARY KEY
        CHECK (id = 1),
    version BIGINT NOT NULL,
    last_worker BIGINT NOT NULL
        CHECK (last_worker BETWEEN 0 AND 4398046511103),
    time_bits BIGINT,
    worker_bits BIGINT,
    sequence_bits BIGINT,
    worker_first BIGINT,
    tick_ms BIGINT,
    epoch_ms BIGINT,
    ids_from BIGINT,
    ids_to BIGINT
) ENGINE = InnoDB;
INSERT IGNORE INTO uidring_layout (id, version, last_worker) VALUES (1, 4, 0);
CREATE TABLE IF NOT EXISTS uidring_worker_node (
    id BIGINT PRIMARY KEY
        CHECK (id BETWEEN 1 AND 4398046511103),
    host_name VARCHAR(255) NOT NULL,
    port VARCHAR(255) NOT NULL,
    type BIGINT NOT NULL
        CHECK (type IN (1, 2)),
    launch_date BIGINT NOT NULL,
    modified BIGINT NOT NULL,
    created BIGINT NOT NULL,
    holder VARCHAR(64),
    reserved_until BIGINT,
    lease_until BIGINT
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
CREATE TABLE IF NOT EXISTS uidring_series (
    name VARCHAR(64) PRIMARY KEY,
    time_zone VARCHAR(64) NOT NULL,
    fiscal_year_from VARCHAR(5),
    gapless BIGINT NOT NULL
        CHECK (gapless IN (0, 1)),
    closed_before VARCHAR(10) NOT NULL,
    created BIGINT NOT NULL
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
CREATE TABLE IF NOT EXISTS uidring_series_version (
    series VARCHAR(64) NOT NULL,
    version BIGINT NOT NULL
        CHECK (version >= 1),
    pattern VARCHAR(128) NOT NULL,
    step BIGINT NOT NULL
        CHECK (step >= 1),
    first_number BIGINT NOT NULL
        CHECK (first_number >= 1),
    begins VARCHAR(10) NOT NULL,
    restart VARCHAR(16)
        CHECK (restart IN ('day', 'week', 'month', 'quarter', 'year', 'fiscal-year', 'never')),
    created BIGINT NOT NULL,
    PRIMARY KEY (series, version)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
CREATE TABLE IF NOT EXISTS uidring_series_counter (
    series VARCHAR(64) NOT NULL,
    scope VARCHAR(64) NOT NULL,
    period VARCHAR(16) NOT NULL,
    begins VARCHAR(10) NOT NULL,
    version BIGINT NOT NULL,
    last_number BIGINT NOT NULL
        CHECK (last_number >= 0),
    modified BIGINT NOT NULL,
    created BIGINT NOT NULL,
    PRIMARY KEY (series, scope, period)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
CREATE TABLE IF NOT EXISTS uidring_request (
    series VARCHAR(64) NOT NULL,
    request VARCHAR(64) NOT NULL,
    asked TEXT NOT NULL,
    answer MEDIUMTEXT NOT NULL,
    created BIGINT NOT NULL,
    PRIMARY KEY (series, request),
    KEY (created)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
CREATE TABLE IF NOT EXISTS uidring_segment (
    tag VARCHAR(128) PRIMARY KEY
        CHECK (CHAR_LENGTH(tag) >= 1),
    last_number BIGINT NOT NULL
        CHECK (last_number >= 0),
    step BIGINT NOT NULL
        CHECK (step >= 1),
    max_step BIGINT,
    description VARCHAR(256),
    modified BIGINT NOT NULL,
    created BIGINT NOT NULL,
    CHECK (max_step >= step)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
UPDATE uidring_layout SET last_worker = 7, time_bits = 30, worker_bits = 20,
    sequence_bits = 13, worker_first = 0, tick_ms = 1000, epoch_ms = 1767225600000,
    ids_from = 1, ids_to = 1048575 WHERE id = 1;
INSERT INTO uidring_worker_node
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

-- Worker ids, tags and series in a PostgreSQL database, version 4. Tried on PostgreSQL 15.
-- According to the manuals, any version since 11 will do.
--
-- Like schema.sql and schema.mysql.sql on purpose: each is read and applied alone.
--
-- The first start of a `PostgresRegistry`, or the first tag of `PostgresSegments`, applies this
-- schema, if their user may create tables, and none of these tables is there, nor in another schema
-- of the database, unless the address names the one that is meant. By hand:
--
--     psql "$DATABASE_URL" -f schema.postgres.sql
--
-- Applying it again changes nothing. Do not apply it where a table has been lost: an empty one in
-- its place gives again what the lost one has given. For worker ids a user needs SELECT, INSERT and
-- UPDATE on uidring_layout and uidring_worker_node. For tags it needs SELECT and UPDATE on
-- uidring_segment, INSERT to create tags, DELETE to remove them, and SELECT on uidring_layout. For
-- series it needs SELECT and INSERT on uidring_series and uidring_series_version, UPDATE on
-- uidring_series, SELECT, INSERT and UPDATE on uidring_series_counter, DELETE there to prune,
-- SELECT, INSERT, UPDATE and DELETE on uidring_request, and SELECT on uidring_layout.
--
-- Only these tables know which ids and numbers have been given, and UIDs are unique because no (id,
-- tick) pair is given twice:
--
-- * Rows of uidring_worker_node may be deleted at any time; their ids are not given again. Whoever
--   holds a leased one takes another.
-- * Do not drop or rename a table while anybody uses it. Where one is missing, nothing is given.
--   Put it back, and all go on. Where all are missing, the next start makes new ones, and begins at
--   1.
-- * Do not change uidring_layout: it holds the largest id ever given, deleted rows included.
-- * A tag whose row in uidring_segment is deleted and made anew gives its numbers again. So does a
--   period whose row in uidring_series_counter is deleted, unless it is closed.
-- * The server must keep what it has committed, even through a power failure. A server is
--   refused if its fsync is off, or if a table or a part of it is UNLOGGED, or no table but a view.
-- * Do not restore an old copy of the database, nor promote a standby that lacks the last commits:
--   the ids and numbers given since would be given again. If nothing else is left, first stop all
--   generators. Then raise the counter above all of their ids, and delete the leased ids, because
--   the copy does not know how far they have been used:
--
--     UPDATE uidring_layout SET last_worker = 12345;
--     DELETE FROM uidring_worker_node WHERE lease_until IS NOT NULL;
--
--   And raise each tag's last_number above all numbers that were given. docs/operations/restore.md
--   shows how, step by step.
--
-- All times are milliseconds since 1970-01-01T00:00:00Z. To read one:  to_timestamp(launch_date /
-- 1000.0)

BEGIN;

-- Without this lock, two generators that start at once would both find no tables. 0x75696472,
-- "uidr".
SELECT pg_advisory_xact_lock(1969841266);

-- One row: the layout of the UIDs that these worker ids are for, and the largest id given. Each
-- start locks it. A generator of another layout is refused, because equal UIDs could come out of
-- unequal fields.
CREATE TABLE IF NOT EXISTS uidring_layout (
    -- Always 1: there is one row.
    id BIGINT PRIMARY KEY
        CHECK (id = 1),
    -- The version of this schema.
    version BIGINT NOT NULL,
    -- The largest worker id ever given; 0 before the first.
    last_worker BIGINT NOT NULL
        CHECK (last_worker BETWEEN 0 AND 4398046511103),
    -- The widths of the fields in bits; NULL before the first start, like the columns below.
    time_bits BIGINT,
    worker_bits BIGINT,
    sequence_bits BIGINT,
    -- 1 where the worker field is on top, 0 where the time field is.
    worker_first BIGINT,
    -- The length of a tick, the unit of the time field, in milliseconds.
    tick_ms BIGINT,
    -- When tick 0 begins, in milliseconds since 1970; negative if that is before 1970.
    epoch_ms BIGINT,
    -- The first and the last worker id that this registry gives: all of the layout but 0, unless
    -- other registries give some of them.
    ids_from BIGINT,
    ids_to BIGINT
);

INSERT INTO uidring_layout (id, version, last_worker) VALUES (1, 4, 0) ON CONFLICT (id) DO NOTHING;

-- One row for each worker id. For an id that is given once, only `id` matters for UIDs. For a
-- leased id, the last three columns matter too. The other columns tell people who took the id.
CREATE TABLE IF NOT EXISTS uidring_worker_node (
    -- The worker id, from uidring_layout.last_worker. A layout has at most 42 bits for it.
    id BIGINT PRIMARY KEY
        CHECK (id BETWEEN 1 AND 4398046511103),
    -- The machine, or the container, that the generator started on.
    host_name VARCHAR(255) NOT NULL,
    -- The port that a container platform gave; the process id where there is none.
    port VARCHAR(255) NOT NULL,
    -- 1: in a container. 2: directly on a machine.
    type BIGINT NOT NULL
        CHECK (type IN (1, 2)),
    -- When the generator started, in milliseconds since 1970.
    launch_date BIGINT NOT NULL,
    -- When the row was last changed, in milliseconds since 1970.
    modified BIGINT NOT NULL,
    -- When the row was written, in milliseconds since 1970.
    created BIGINT NOT NULL,
    -- For a leased id, who holds it: a random text of one generator. NULL after it was given back.
    holder VARCHAR(64),
    -- For a leased id, the last tick that any holder may use, counted from the layout's epoch. It
    -- only grows while the id is held, and the next holder of the id begins after it. NULL for an
    -- id that is given once.
    reserved_until BIGINT,
    -- For a leased id, when it may be given to another generator, in milliseconds since 1970. NULL
    -- for an id that is given once.
    lease_until BIGINT
);
-- A leased start takes the id whose ticks ended first.
CREATE INDEX IF NOT EXISTS uidring_worker_node_free
    ON uidring_worker_node (reserved_until, id, lease_until) WHERE reserved_until IS NOT NULL;
-- A start that checks its clock reads when the last one was.
CREATE INDEX IF NOT EXISTS uidring_worker_node_launched ON uidring_worker_node (launch_date);

-- One row for each series: a kind of document whose numbers people see. What stands here is never
-- changed, but for closed_before and revision.
CREATE TABLE IF NOT EXISTS uidring_series (
    -- The name: 1 to 64 characters, compared exactly.
    name VARCHAR(64) PRIMARY KEY,
    -- The time zone whose days count, by its IANA name.
    time_zone VARCHAR(64) NOT NULL,
    -- The day that fiscal years begin on, such as 04-06; NULL where nothing goes by them.
    fiscal_year_from VARCHAR(5),
    -- 1 where each number is counted in the transaction that uses it, 0 where processes take ranges
    -- of numbers.
    gapless BIGINT NOT NULL
        CHECK (gapless IN (0, 1)),
    -- Periods that end before this day are closed: they give no more numbers. A day is a text such
    -- as 2026-11-24.
    closed_before VARCHAR(10) NOT NULL,
    -- When the row was written, in milliseconds since 1970.
    created BIGINT NOT NULL,
    -- Larger after each change of its pattern: 0, and then when the last one was made, in
    -- milliseconds since 1970. A transaction that counts locks this row, and counts only where its
    -- program knows the last change.
    revision BIGINT NOT NULL DEFAULT 0
        CHECK (revision >= 0)
);

-- The patterns of a series, each from a day on. Rows are added, and never changed.
CREATE TABLE IF NOT EXISTS uidring_series_version (
    series VARCHAR(64) NOT NULL,
    -- Counted from 1.
    version BIGINT NOT NULL
        CHECK (version >= 1),
    -- How a number is written, such as SO{yyyy}{MM}{dd}-{n:6}.
    pattern VARCHAR(128) NOT NULL,
    -- How many numbers a process takes at once; fewer where the pattern has few.
    step BIGINT NOT NULL
        CHECK (step >= 1),
    -- The first number of each period.
    first_number BIGINT NOT NULL
        CHECK (first_number >= 1),
    -- The first day of this version.
    begins VARCHAR(10) NOT NULL,
    -- With what the number begins anew: day, week, month, quarter, year, fiscal-year or never; NULL
    -- for the finest period that the pattern shows.
    restart VARCHAR(16)
        CHECK (restart IN ('day', 'week', 'month', 'quarter', 'year', 'fiscal-year', 'never')),
    -- When the row was written, in milliseconds since 1970.
    created BIGINT NOT NULL,
    PRIMARY KEY (series, version)
);

-- One row for each period of each scope of a series. Nobody has had a number above last_number. A
-- row whose period is not closed must not be deleted: its numbers would be given again.
CREATE TABLE IF NOT EXISTS uidring_series_counter (
    series VARCHAR(64) NOT NULL,
    -- What counts by itself, such as a shop; empty where nothing was named.
    scope VARCHAR(64) NOT NULL,
    -- Such as 2026-11-24, 2026-W48, 2026-11, 2026-Q4, 2026, FY2026-04, FY2026-04-06, or
    -- ever.
    period VARCHAR(16) NOT NULL,
    -- The first day of the period; 0000-01-01 for ever.
    begins VARCHAR(10) NOT NULL,
    -- The version that writes these numbers.
    version BIGINT NOT NULL,
    -- The largest number given.
    last_number BIGINT NOT NULL
        CHECK (last_number >= 0),
    -- When numbers were last taken, in milliseconds since 1970.
    modified BIGINT NOT NULL,
    -- When the row was written, in milliseconds since 1970.
    created BIGINT NOT NULL,
    PRIMARY KEY (series, scope, period)
);

-- One row for each request with an Idempotency-Key that a service has answered within a day. A row
-- that is deleted makes the same request take further numbers. Older rows are deleted by the
-- service.
CREATE TABLE IF NOT EXISTS uidring_request (
    series VARCHAR(64) NOT NULL,
    -- Who asked, and with which key: a hash of both.
    request VARCHAR(64) NOT NULL,
    -- What was asked for, and what was answered.
    asked TEXT NOT NULL,
    answer TEXT NOT NULL,
    -- When the row was written, in milliseconds since 1970.
    created BIGINT NOT NULL,
    PRIMARY KEY (series, request)
);
CREATE INDEX IF NOT EXISTS uidring_request_created ON uidring_request (created);

-- One row for each pool of worker ids that are lent to the generators of others. They are apart
-- from the ids of uidring_worker_node, which are for UIDs.
CREATE TABLE IF NOT EXISTS uidring_pool (
    -- The name: 1 to 64 characters, compared exactly.
    name VARCHAR(64) PRIMARY KEY
        CHECK (CHAR_LENGTH(name) >= 1),
    -- The width of its ids in bits. The first id is 1: a generator without one takes 0.
    bits BIGINT NOT NULL
        CHECK (bits BETWEEN 1 AND 22),
    -- The largest id ever lent; 0 before the first.
    last_id BIGINT NOT NULL
        CHECK (last_id BETWEEN 0 AND 4194303),
    -- When the row was written, in milliseconds since 1970.
    created BIGINT NOT NULL
);

-- The last loan of each id of a pool. A row must not be deleted: only it knows who has the id, and
-- what the clock of the last holder has shown. A deleted id is not lent again.
CREATE TABLE IF NOT EXISTS uidring_loan (
    pool VARCHAR(64) NOT NULL,
    id BIGINT NOT NULL
        CHECK (id >= 1),
    -- The SHA-256 of the secret by which the holder renews and returns it.
    holder VARCHAR(64) NOT NULL,
    -- Where the holder runs.
    host VARCHAR(255) NOT NULL,
    -- When the id was lent, in milliseconds since 1970.
    since BIGINT NOT NULL,
    -- How long the lease is, from each renewal on, and the rest after it, in milliseconds.
    lease_ms BIGINT NOT NULL
        CHECK (lease_ms > 0),
    rest_ms BIGINT NOT NULL
        CHECK (rest_ms > 0),
    -- When the lease ends, or ended, and from when on the id may be lent again, in milliseconds
    -- since 1970.
    lease_until BIGINT NOT NULL,
    rests_until BIGINT NOT NULL,
    -- What the holder's own clock may show at the end of the lease, in milliseconds since 1970. The
    -- clock of the next holder shows more.
    clock_until BIGINT NOT NULL,
    -- 1 after the holder has returned it.
    is_returned BIGINT NOT NULL
        CHECK (is_returned IN (0, 1)),
    PRIMARY KEY (pool, id)
);
CREATE INDEX IF NOT EXISTS uidring_loan_rested ON uidring_loan (pool, rests_until, id);
CREATE INDEX IF NOT EXISTS uidring_loan_holder ON uidring_loan (pool, holder);

-- One row for each tag, whose numbers are counted up. Nobody has had a number above `last_number`.
CREATE TABLE IF NOT EXISTS uidring_segment (
    -- The name: 1 to 128 characters, compared exactly.
    tag VARCHAR(128) PRIMARY KEY
        CHECK (CHAR_LENGTH(tag) >= 1),
    -- The largest number given; one less than the first number before it is given. A process adds
    -- to it, and then has the numbers from the old value plus 1 to the new one for itself.
    last_number BIGINT NOT NULL
        CHECK (last_number >= 0),
    -- How many numbers a process takes at least. It may be changed at any time.
    step BIGINT NOT NULL
        CHECK (step >= 1),
    -- The most numbers that a process takes at once; NULL where the process decides.
    max_step BIGINT,
    -- What people want to know about the tag.
    description VARCHAR(256),
    -- When numbers were last taken, or the row was changed otherwise, in milliseconds since 1970.
    modified BIGINT NOT NULL,
    -- When the row was written, in milliseconds since 1970.
    created BIGINT NOT NULL,
    CHECK (max_step >= step)
);

COMMIT;

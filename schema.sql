-- Worker ids, tags and series in a SQLite file, version 4. Any SQLite since 3.8 reads it.
--
-- Like schema.postgres.sql and schema.mysql.sql on purpose: each is read and applied alone.
--
-- `SqliteRegistry::open` and `SqliteSegments::open` apply this schema to a file that has none of
-- its tables. By hand:
--
--     sqlite3 uidring.db < schema.sql
--
-- Applying it again changes nothing.
--
-- Only this file knows which ids and numbers have been given, and UIDs are unique because no (id,
-- tick) pair is given twice:
--
-- * Rows of worker_node may be deleted at any time; their ids are not given again. Whoever holds a
--   leased one takes another.
-- * Do not put the file into WAL mode: what is given would not be in the file alone. It is put back
--   to a rollback journal before anything is given; where another program has tables in it, nothing
--   is given in WAL mode but the gapless numbers that its own transactions count.
-- * Do not change sqlite_sequence: it holds the largest id ever given, deleted rows included. Nor
--   make worker_node anew, as a change of its columns does: its row there would be lost.
-- * A tag whose row in uidring_segment is deleted and made anew gives its numbers again. So does a
--   period whose row in uidring_series_counter is deleted, unless it is closed.
-- * Do not restore an old copy of the file, nor use a copy on a second machine: the ids and numbers
--   given since the copy was made would be given again. If only an old copy is left, first stop all
--   generators. Then raise the counter above all of their ids, and delete the leased ids, because
--   the copy does not know how far they have been used:
--
--     UPDATE sqlite_sequence SET seq = 12345 WHERE name = 'worker_node';
--     DELETE FROM worker_node WHERE lease_until IS NOT NULL;
--
--   And raise each tag's last_number above all numbers that were given. docs/operations/restore.md
--   shows how, step by step.
--
-- All times are milliseconds since 1970-01-01T00:00:00Z. To read one:  datetime(launch_date / 1000,
-- 'unixepoch')

BEGIN IMMEDIATE;

-- The version of this schema, in one row. Another program may have tables in this file, too:
-- uidring reads and writes none but its own, and leaves application_id and user_version alone.
CREATE TABLE IF NOT EXISTS uidring_schema (
    -- Always 1.
    id INTEGER PRIMARY KEY
        CHECK (id = 1),
    version INTEGER NOT NULL
        CHECK (typeof(version) = 'integer')
);
INSERT OR IGNORE INTO uidring_schema (id, version) VALUES (1, 4);

-- One row for each worker id. For an id that is given once, only `id` matters for UIDs. For a
-- leased id, the last three columns matter too. The other columns tell people who took the id.
CREATE TABLE IF NOT EXISTS worker_node (
    -- The worker id. AUTOINCREMENT: one more than any id ever given, never the id of a deleted row.
    -- The first is 1. A layout has at most 42 bits for it.
    id INTEGER PRIMARY KEY AUTOINCREMENT
        CHECK (id BETWEEN 1 AND 4398046511103),
    -- The machine, or the container, that the generator started on.
    host_name TEXT NOT NULL
        CHECK (typeof(host_name) = 'text' AND length(host_name) BETWEEN 1 AND 255),
    -- The port that a container platform gave; the process id where there is none.
    port TEXT NOT NULL
        CHECK (typeof(port) = 'text' AND length(port) BETWEEN 1 AND 255),
    -- 1: in a container. 2: directly on a machine.
    type INTEGER NOT NULL
        CHECK (typeof(type) = 'integer' AND type IN (1, 2)),
    -- When the generator started, in milliseconds since 1970.
    launch_date INTEGER NOT NULL
        DEFAULT (CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER))
        CHECK (typeof(launch_date) = 'integer'),
    -- When the row was last changed, in milliseconds since 1970.
    modified INTEGER NOT NULL
        DEFAULT (CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER))
        CHECK (typeof(modified) = 'integer'),
    -- When the row was written, in milliseconds since 1970.
    created INTEGER NOT NULL
        DEFAULT (CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER))
        CHECK (typeof(created) = 'integer'),
    -- For a leased id, who holds it: a random text of one generator. NULL after it was given back.
    holder TEXT
        CHECK (holder IS NULL OR typeof(holder) = 'text'),
    -- For a leased id, the last tick that any holder may use, counted from the layout's epoch. It
    -- only grows while the id is held, and the next holder of the id begins after it. NULL for an
    -- id that is given once.
    reserved_until INTEGER
        CHECK (reserved_until IS NULL OR typeof(reserved_until) = 'integer'),
    -- For a leased id, when it may be given to another generator, in milliseconds since 1970. NULL
    -- for an id that is given once.
    lease_until INTEGER
        CHECK (lease_until IS NULL OR typeof(lease_until) = 'integer'),
    -- As no id is there twice, these only make indexes: a leased start takes the id whose ticks
    -- ended first, and a start that checks its clock reads when the last one was.
    UNIQUE (reserved_until, id, lease_until),
    UNIQUE (launch_date, id)
);

-- The layout of the UIDs that these worker ids are for: at most one row, written by the first start
-- and never changed. A generator of another layout is refused, because equal UIDs could come out of
-- unequal fields.
CREATE TABLE IF NOT EXISTS uidring_layout (
    -- Always 1: there is one layout.
    id INTEGER PRIMARY KEY
        CHECK (id = 1),
    -- The width of the time field in bits.
    time_bits INTEGER NOT NULL
        CHECK (typeof(time_bits) = 'integer' AND time_bits BETWEEN 20 AND 61),
    -- The width of the worker field in bits.
    worker_bits INTEGER NOT NULL
        CHECK (typeof(worker_bits) = 'integer' AND worker_bits BETWEEN 1 AND 42),
    -- The width of the sequence field in bits.
    sequence_bits INTEGER NOT NULL
        CHECK (typeof(sequence_bits) = 'integer' AND sequence_bits BETWEEN 1 AND 42),
    -- 1 where the worker field is on top, 0 where the time field is.
    worker_first INTEGER NOT NULL
        CHECK (typeof(worker_first) = 'integer' AND worker_first IN (0, 1)),
    -- The length of a tick, the unit of the time field, in milliseconds.
    tick_ms INTEGER NOT NULL
        CHECK (typeof(tick_ms) = 'integer' AND tick_ms BETWEEN 1 AND 1000),
    -- When tick 0 begins, in milliseconds since 1970; negative if that is before 1970.
    epoch_ms INTEGER NOT NULL
        CHECK (typeof(epoch_ms) = 'integer'),
    -- The first and the last worker id that this file gives: all of the layout but 0, unless other
    -- registries give some of them.
    ids_from INTEGER NOT NULL
        CHECK (typeof(ids_from) = 'integer' AND ids_from >= 1),
    ids_to INTEGER NOT NULL
        CHECK (typeof(ids_to) = 'integer' AND ids_to BETWEEN 0 AND 4398046511103),
    CHECK (time_bits + worker_bits + sequence_bits <= 63)
);

-- One row for each series: a kind of document whose numbers people see. What stands here is never
-- changed, but for closed_before and revision.
CREATE TABLE IF NOT EXISTS uidring_series (
    -- The name: 1 to 64 characters, compared exactly.
    name TEXT NOT NULL PRIMARY KEY
        CHECK (typeof(name) = 'text' AND length(name) BETWEEN 1 AND 64),
    -- The time zone whose days count, by its IANA name.
    time_zone TEXT NOT NULL
        CHECK (typeof(time_zone) = 'text' AND length(time_zone) BETWEEN 1 AND 64),
    -- The day that fiscal years begin on, such as 04-06; NULL where nothing goes by them.
    fiscal_year_from TEXT
        CHECK (fiscal_year_from IS NULL
            OR typeof(fiscal_year_from) = 'text' AND length(fiscal_year_from) = 5),
    -- 1 where each number is counted in the transaction that uses it, 0 where processes take ranges
    -- of numbers.
    gapless INTEGER NOT NULL
        CHECK (typeof(gapless) = 'integer' AND gapless IN (0, 1)),
    -- Periods that end before this day are closed: they give no more numbers. A day is a text such
    -- as 2026-11-24.
    closed_before TEXT NOT NULL
        CHECK (typeof(closed_before) = 'text' AND length(closed_before) BETWEEN 10 AND 10),
    -- When the row was written, in milliseconds since 1970.
    created INTEGER NOT NULL
        CHECK (typeof(created) = 'integer'),
    -- Larger after each change of its pattern: 0, and then when the last one was made, in
    -- milliseconds since 1970. A transaction that counts locks this row, and counts only where its
    -- program knows the last change.
    revision INTEGER NOT NULL DEFAULT 0
        CHECK (typeof(revision) = 'integer' AND revision >= 0)
);

-- The patterns of a series, each from a day on. Rows are added, and never changed.
CREATE TABLE IF NOT EXISTS uidring_series_version (
    series TEXT NOT NULL,
    -- Counted from 1.
    version INTEGER NOT NULL
        CHECK (typeof(version) = 'integer' AND version >= 1),
    -- How a number is written, such as SO{yyyy}{MM}{dd}-{n:6}.
    pattern TEXT NOT NULL
        CHECK (typeof(pattern) = 'text' AND length(pattern) BETWEEN 1 AND 128),
    -- How many numbers a process takes at once; fewer where the pattern has few.
    step INTEGER NOT NULL
        CHECK (typeof(step) = 'integer' AND step >= 1),
    -- The first number of each period.
    first_number INTEGER NOT NULL
        CHECK (typeof(first_number) = 'integer' AND first_number >= 1),
    -- The first day of this version.
    begins TEXT NOT NULL
        CHECK (typeof(begins) = 'text' AND length(begins) BETWEEN 10 AND 10),
    -- With what the number begins anew: day, week, month, quarter, year, fiscal-year or never; NULL
    -- for the finest period that the pattern shows.
    restart TEXT
        CHECK (restart IS NULL OR typeof(restart) = 'text' AND restart IN
            ('day', 'week', 'month', 'quarter', 'year', 'fiscal-year', 'never')),
    -- When the row was written, in milliseconds since 1970.
    created INTEGER NOT NULL
        CHECK (typeof(created) = 'integer'),
    PRIMARY KEY (series, version)
);

-- One row for each period of each scope of a series. Nobody has had a number above last_number. A
-- row whose period is not closed must not be deleted: its numbers would be given again.
CREATE TABLE IF NOT EXISTS uidring_series_counter (
    series TEXT NOT NULL,
    -- What counts by itself, such as a shop; empty where nothing was named.
    scope TEXT NOT NULL,
    -- Such as 2026-11-24, 2026-W48, 2026-11, 2026-Q4, 2026, FY2026-04, FY2026-04-06, or
    -- ever.
    period TEXT NOT NULL,
    -- The first day of the period; 0000-01-01 for ever.
    begins TEXT NOT NULL,
    -- The version that writes these numbers.
    version INTEGER NOT NULL,
    -- The largest number given.
    last_number INTEGER NOT NULL
        CHECK (typeof(last_number) = 'integer' AND last_number >= 0),
    -- When numbers were last taken, in milliseconds since 1970.
    modified INTEGER NOT NULL
        CHECK (typeof(modified) = 'integer'),
    -- When the row was written, in milliseconds since 1970.
    created INTEGER NOT NULL
        CHECK (typeof(created) = 'integer'),
    PRIMARY KEY (series, scope, period)
);

-- One row for each request with an Idempotency-Key that a service has answered within a day. A row
-- that is deleted makes the same request take further numbers. Older rows are deleted by the
-- service.
CREATE TABLE IF NOT EXISTS uidring_request (
    series TEXT NOT NULL,
    -- Who asked, and with which key: a hash of both.
    request TEXT NOT NULL,
    -- What was asked for, and what was answered.
    asked TEXT NOT NULL,
    answer TEXT NOT NULL,
    -- When the row was written, in milliseconds since 1970.
    created INTEGER NOT NULL
        CHECK (typeof(created) = 'integer'),
    PRIMARY KEY (series, request)
);
CREATE INDEX IF NOT EXISTS uidring_request_created ON uidring_request (created);

-- One row for each pool of worker ids that are lent to the generators of others. They are apart
-- from the ids of worker_node, which are for UIDs.
CREATE TABLE IF NOT EXISTS uidring_pool (
    -- The name: 1 to 64 characters, compared exactly.
    name TEXT NOT NULL PRIMARY KEY
        CHECK (typeof(name) = 'text' AND length(name) BETWEEN 1 AND 64),
    -- The width of its ids in bits. The first id is 1: a generator without one takes 0.
    bits INTEGER NOT NULL
        CHECK (typeof(bits) = 'integer' AND bits BETWEEN 1 AND 22),
    -- The largest id ever lent; 0 before the first.
    last_id INTEGER NOT NULL
        CHECK (typeof(last_id) = 'integer' AND last_id BETWEEN 0 AND 4194303),
    -- When the row was written, in milliseconds since 1970.
    created INTEGER NOT NULL
        CHECK (typeof(created) = 'integer')
);

-- The last loan of each id of a pool. A row must not be deleted: only it knows who has the id, and
-- what the clock of the last holder has shown. A deleted id is not lent again.
CREATE TABLE IF NOT EXISTS uidring_loan (
    pool TEXT NOT NULL,
    id INTEGER NOT NULL
        CHECK (typeof(id) = 'integer' AND id >= 1),
    -- The SHA-256 of the secret by which the holder renews and returns it.
    holder TEXT NOT NULL
        CHECK (typeof(holder) = 'text' AND length(holder) BETWEEN 1 AND 64),
    -- Where the holder runs.
    host TEXT NOT NULL
        CHECK (typeof(host) = 'text' AND length(host) BETWEEN 1 AND 255),
    -- When the id was lent, in milliseconds since 1970.
    since INTEGER NOT NULL
        CHECK (typeof(since) = 'integer'),
    -- How long the lease is, from each renewal on, and the rest after it, in milliseconds.
    lease_ms INTEGER NOT NULL
        CHECK (typeof(lease_ms) = 'integer' AND lease_ms > 0),
    rest_ms INTEGER NOT NULL
        CHECK (typeof(rest_ms) = 'integer' AND rest_ms > 0),
    -- When the lease ends, or ended, and from when on the id may be lent again, in milliseconds
    -- since 1970.
    lease_until INTEGER NOT NULL
        CHECK (typeof(lease_until) = 'integer'),
    rests_until INTEGER NOT NULL
        CHECK (typeof(rests_until) = 'integer'),
    -- What the holder's own clock may show at the end of the lease, in milliseconds since 1970. The
    -- clock of the next holder shows more.
    clock_until INTEGER NOT NULL
        CHECK (typeof(clock_until) = 'integer'),
    -- 1 after the holder has returned it.
    is_returned INTEGER NOT NULL
        CHECK (typeof(is_returned) = 'integer' AND is_returned IN (0, 1)),
    PRIMARY KEY (pool, id)
);
CREATE INDEX IF NOT EXISTS uidring_loan_rested ON uidring_loan (pool, rests_until, id);
CREATE INDEX IF NOT EXISTS uidring_loan_holder ON uidring_loan (pool, holder);

-- One row for each tag, whose numbers are counted up. Nobody has had a number above `last_number`.
CREATE TABLE IF NOT EXISTS uidring_segment (
    -- The name: 1 to 128 characters, compared exactly.
    tag TEXT NOT NULL PRIMARY KEY
        CHECK (typeof(tag) = 'text' AND length(tag) BETWEEN 1 AND 128),
    -- The largest number given; one less than the first number before it is given. A process adds
    -- to it, and then has the numbers from the old value plus 1 to the new one for itself.
    last_number INTEGER NOT NULL
        CHECK (typeof(last_number) = 'integer' AND last_number >= 0),
    -- How many numbers a process takes at least. It may be changed at any time.
    step INTEGER NOT NULL
        CHECK (typeof(step) = 'integer' AND step >= 1),
    -- The most numbers that a process takes at once; NULL where the process decides.
    max_step INTEGER
        CHECK (max_step IS NULL OR typeof(max_step) = 'integer' AND max_step >= step),
    -- What people want to know about the tag.
    description TEXT
        CHECK (description IS NULL OR typeof(description) = 'text' AND length(description) <= 256),
    -- When numbers were last taken, or the row was changed otherwise, in milliseconds since 1970.
    modified INTEGER NOT NULL
        DEFAULT (CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER))
        CHECK (typeof(modified) = 'integer'),
    -- When the row was written, in milliseconds since 1970.
    created INTEGER NOT NULL
        DEFAULT (CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER))
        CHECK (typeof(created) = 'integer')
);

COMMIT;

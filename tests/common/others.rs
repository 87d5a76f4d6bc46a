//! Leaf's and tinyid's own servers, as far as a database sees them: their tables, and the
//! statements by which they take numbers.
#![allow(dead_code)] // each test program uses a part
#![allow(clippy::expect_used)]

#[cfg(any(feature = "mysql", feature = "postgres"))]
use crate::databases::Server;

/// The tables of Leaf and tinyid as a server has them, on PostgreSQL with its words for the same.
#[cfg(any(feature = "mysql", feature = "postgres"))]
pub fn tables(server: Server) -> [String; 2] {
    let [on_update, serial] = match server {
        Server::Postgres => ["", "BIGSERIAL"],
        Server::MySql => ["ON UPDATE CURRENT_TIMESTAMP", "BIGINT AUTO_INCREMENT"],
    };
    [LEAF, TINYID].map(|sql| sql.replace("{on update}", on_update).replace("{serial}", serial))
}

const LEAF: &str = "CREATE TABLE leaf_alloc (biz_tag VARCHAR(128) NOT NULL DEFAULT '', \
    max_id BIGINT NOT NULL DEFAULT 1, step INT NOT NULL, description VARCHAR(256) DEFAULT NULL, \
    update_time TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP {on update}, PRIMARY KEY (biz_tag))";
const TINYID: &str = "CREATE TABLE tiny_id_info (id {serial} PRIMARY KEY, \
    biz_type VARCHAR(63) NOT NULL DEFAULT '' UNIQUE, begin_id BIGINT NOT NULL DEFAULT 0, \
    max_id BIGINT NOT NULL DEFAULT 0, step INT DEFAULT 0, delta INT NOT NULL DEFAULT 1, \
    remainder INT NOT NULL DEFAULT 0, \
    create_time TIMESTAMP NOT NULL DEFAULT '2010-01-01 00:00:00', \
    update_time TIMESTAMP NOT NULL DEFAULT '2010-01-01 00:00:00', \
    version BIGINT NOT NULL DEFAULT 0)";

/// The same in a SQLite file.
pub const LEAF_IN_FILE: &str = "CREATE TABLE leaf_alloc (
    biz_tag VARCHAR(128) NOT NULL PRIMARY KEY, max_id BIGINT NOT NULL DEFAULT 1,
    step INT NOT NULL, description VARCHAR(256),
    update_time TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP);";
pub const TINYID_IN_FILE: &str = "CREATE TABLE tiny_id_info (
    id INTEGER PRIMARY KEY AUTOINCREMENT, biz_type VARCHAR(63) NOT NULL UNIQUE,
    begin_id BIGINT NOT NULL DEFAULT 0, max_id BIGINT NOT NULL DEFAULT 0, step INT DEFAULT 0,
    delta INT NOT NULL DEFAULT 1, remainder INT NOT NULL DEFAULT 0,
    create_time TIMESTAMP NOT NULL DEFAULT '2010-01-01',
    update_time TIMESTAMP NOT NULL DEFAULT '2010-01-01', version BIGINT NOT NULL DEFAULT 0);";

/// Which of the two servers takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Other {
    Leaf,
    TinyId,
}

/// Takes one segment of the tag `orders`, and returns the two ends of it: the row's before and
/// after. None if another was first.
#[cfg(feature = "sqlite")]
pub fn take_from_file(
    file: &mut rusqlite::Connection,
    other: Other,
) -> rusqlite::Result<Option<(u64, u64)>> {
    let row = |file: &rusqlite::Connection, sql: &str| {
        let columns = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        file.query_row(sql, [], columns)
    };
    let (before, after) = match other {
        Other::Leaf => {
            let file = file.transaction()?;
            let update = "UPDATE leaf_alloc SET max_id = max_id + step WHERE biz_tag = 'orders'";
            file.execute(update, [])?;
            let sql = "SELECT max_id, step, 0 FROM leaf_alloc WHERE biz_tag = 'orders'";
            let (end, step, _): (i64, i64, i64) = row(&file, sql)?;
            file.commit()?;
            (end - step, end)
        }
        Other::TinyId => {
            let sql = "SELECT max_id, step, version FROM tiny_id_info WHERE biz_type = 'orders'";
            let (before, step, version): (i64, i64, i64) = row(file, sql)?;
            // Others can be first.
            std::thread::sleep(std::time::Duration::from_micros(200));
            let update = "UPDATE tiny_id_info SET max_id = ?1, version = version + 1 \
                          WHERE max_id = ?2 AND version = ?3 AND biz_type = 'orders'";
            let after = before + step;
            if file.execute(update, [after, before, version])? != 1 {
                return Ok(None);
            }
            (before, after)
        }
    };
    Ok(Some((before.unsigned_abs(), after.unsigned_abs())))
}

/// What the client of a server runs to take `takes` segments of the tag `orders`. It prints each
/// segment when that is committed.
#[cfg(any(feature = "mysql", feature = "postgres"))]
pub fn script(server: Server, other: Other, takes: usize) -> String {
    let script = match (other, server) {
        (Other::Leaf, Server::Postgres) => LEAF_TAKES_ON_POSTGRES,
        (Other::Leaf, Server::MySql) => LEAF_TAKES_ON_MYSQL,
        (Other::TinyId, Server::Postgres) => TINYID_TAKES_ON_POSTGRES,
        (Other::TinyId, Server::MySql) => TINYID_TAKES_ON_MYSQL,
    };
    script.repeat(takes)
}

/// The two ends of each segment that a script has printed: the row's before and after.
pub fn printed(text: &str) -> Vec<(u64, u64)> {
    let ends = text.lines().filter_map(|line| {
        let mut words = line.strip_prefix("taken ")?.split(' ');
        Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
    });
    ends.collect()
}

const LEAF_TAKES_ON_POSTGRES: &str = "BEGIN;
UPDATE leaf_alloc SET max_id = max_id + step WHERE biz_tag = 'orders';
SELECT max_id - step AS before, max_id AS after FROM leaf_alloc WHERE biz_tag = 'orders' \\gset
COMMIT;
\\echo taken :before :after
";

const LEAF_TAKES_ON_MYSQL: &str = "BEGIN;
UPDATE leaf_alloc SET max_id = max_id + step WHERE biz_tag = 'orders';
SELECT max_id - step, max_id INTO @before, @after FROM leaf_alloc WHERE biz_tag = 'orders';
COMMIT;
SELECT CONCAT('taken ', @before, ' ', @after);
";

const TINYID_TAKES_ON_POSTGRES: &str = "
SELECT id, max_id, step, version FROM tiny_id_info WHERE biz_type = 'orders' \\gset
UPDATE tiny_id_info SET max_id = :max_id + :step, update_time = now(), version = version + 1 \
    WHERE id = :id AND max_id = :max_id AND version = :version AND biz_type = 'orders' \
    RETURNING CONCAT('taken ', :max_id, ' ', max_id);
";

const TINYID_TAKES_ON_MYSQL: &str = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
BEGIN;
SELECT id, max_id, step, version INTO @id, @max, @step, @version FROM tiny_id_info \
    WHERE biz_type = 'orders';
UPDATE tiny_id_info SET max_id = @max + @step, update_time = now(), version = version + 1 \
    WHERE id = @id AND max_id = @max AND version = @version AND biz_type = 'orders';
SELECT ROW_COUNT() INTO @changed;
COMMIT;
SELECT CONCAT(IF(@changed = 1, 'taken', 'missed'), ' ', @max, ' ', @max + @step);
";

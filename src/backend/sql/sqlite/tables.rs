//! Which tables a SQLite file holds: this library's, and those of others.
//!
//! A gapless series shares its file with the documents that it numbers. So this library reads and
//! writes its own tables alone, and keeps its version in one of them: `user_version` and
//! `application_id` are for whoever has the file, such as a program that counts its migrations
//! there. Files that an earlier uidring has made carry both as its marks, and have no such table.

use rusqlite::Connection;

use crate::backend::sql::columns::missing_tables;
use crate::backend::sql::{Error, Schema, VERSION, statements};

/// The marks of files that an earlier uidring has made: their `application_id`, and their
/// `user_version`, which is that of their schema.
const MARKS: (i64, i64) = (0x7569_6472, VERSION);

/// The table that has the version.
const OF_VERSION: &str = "uidring_schema";

/// Other programs may have a `worker_node`, too. Without AUTOINCREMENT, SQLite gives the ids of
/// deleted rows again. Comments may have the word, too.
macro_rules! is_our_worker_node {
    () => {
        "(name = 'worker_node' AND sql LIKE '%KEY AUTOINCREMENT%BETWEEN 1 AND 4398046511103%')"
    };
}

pub(crate) use is_our_worker_node;

/// How many of this library's tables there are, and whether one has the version.
const OURS: &str = concat!(
    "SELECT count(*), count(CASE name WHEN 'uidring_schema' THEN 1 END) FROM sqlite_master \
     WHERE type = 'table' AND (name IN ('uidring_schema', 'uidring_layout', 'uidring_series', \
     'uidring_series_version', 'uidring_series_counter', 'uidring_request', 'uidring_segment', \
     'uidring_pool', 'uidring_loan') OR ",
    is_our_worker_node!(),
    ")"
);

/// What else there is. A newer uidring may have further tables, all of this prefix.
const OTHERS: &str = concat!(
    "SELECT count(*) FROM sqlite_master WHERE tbl_name NOT LIKE 'uidring\\_%' ESCAPE '\\' \
     AND tbl_name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND tbl_name NOT IN \
     (SELECT name FROM sqlite_master WHERE ",
    is_our_worker_node!(),
    ")"
);

/// What a file is to a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It has nothing in it, or not the tables that are somebody else's to make.
    Empty,
    /// It has tables of others, and none of this library's.
    Others,
    /// It has the tables of the schema.
    Ours {
        /// Whether one of them has the version. A file without it has that of [`MARKS`].
        has_version: bool,
    },
}

/// Looks at the file without writing to it. `db` is in a transaction, so that the file is seen
/// either before another process has made the tables or after.
pub fn state(db: &Connection, schema: &Schema) -> Result<State, Error> {
    let Schema { sql, version: known, witness, .. } = schema;
    if sql.is_empty() {
        let is_there = number(db, witness)? == 1;
        return Ok(if is_there { State::Ours { has_version: false } } else { State::Empty });
    }
    let two = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?));
    let (ours, of_version) = db.query_row(OURS, [], two)?;
    if ours == 0 {
        // Those of an earlier uidring are lost, and with them what was given.
        if number(db, "PRAGMA application_id")? == MARKS.0 {
            return Err(Error::IncompatibleTables(None));
        }
        return Ok(if holds_others(db)? { State::Others } else { State::Empty });
    }
    if of_version > 0 {
        let sql = format!("SELECT ifnull(max(version), 0) FROM {OF_VERSION} WHERE id = 1");
        match number(db, &sql)? {
            0 => {
                return Err(Error::problem(format!(
                    "its table {OF_VERSION} has lost its row; put back what was there"
                )));
            }
            version if version == *known => {}
            version => return Err(Error::other_version(version, *known)),
        }
    }
    if number(db, witness)? == 1 {
        Ok(State::Ours { has_version: of_version > 0 })
    } else {
        let mut missing = Vec::new();
        for table in schema.tables {
            let sql = format!("SELECT count(*) FROM sqlite_master WHERE name = '{table}'");
            if number(db, &sql)? == 0 {
                missing.push(*table);
            }
        }
        Err(missing_tables(schema, &missing).unwrap_or(Error::IncompatibleTables(None)))
    }
}

/// Whether the file holds something of others.
pub fn holds_others(db: &Connection) -> Result<bool, Error> {
    Ok(number(db, OTHERS)? > 0)
}

/// Makes the tables, if nobody else has one of their names.
pub fn make(db: &Connection, schema: &Schema) -> Result<(), Error> {
    let names: Vec<String> = schema.tables.iter().map(|table| format!("'{table}'")).collect();
    let taken = format!("SELECT count(*) FROM sqlite_master WHERE name IN ({})", names.join(", "));
    // Another process may have made them meanwhile.
    if number(db, &taken)? > 0 && number(db, OURS)? == 0 {
        return Err(Error::IncompatibleTables(None));
    }
    Ok(db.execute_batch(schema.sql)?)
}

/// Gives a file of an earlier uidring the table with the version, and takes the marks away: a
/// program that counts its migrations in `user_version` would leave out as many. Where others have
/// tables, the numbers may be theirs by now, and are left.
pub fn take_over(db: &mut Connection, schema: &Schema) -> Result<(), Error> {
    // No other table: one that is missing has been lost.
    let of_version = statements(schema.sql);
    let of_version = of_version.split(";\n").filter(|statement| statement.contains(OF_VERSION));
    let of_version: Vec<&str> = of_version.collect();
    let transaction = db.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let marks = (
        number(&transaction, "PRAGMA application_id")?,
        number(&transaction, "PRAGMA user_version")?,
    );
    transaction.execute_batch(&of_version.join(";"))?;
    if marks == MARKS && !holds_others(&transaction)? {
        transaction.execute_batch("PRAGMA application_id = 0; PRAGMA user_version = 0")?;
    }
    Ok(transaction.commit()?)
}

fn number(db: &Connection, sql: &str) -> Result<i64, Error> {
    Ok(db.query_row(sql, [], |row| row.get(0))?)
}

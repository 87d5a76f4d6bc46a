//! An open SQLite file, during a call.

use std::cell::Cell;
use std::time::Duration;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, MAIN_DB, OpenFlags, ToSql, params_from_iter};

use super::Sqlite;
use super::diagnosis::READ_ONLY;
#[cfg(unix)]
use super::file_lock::FileLock;
use super::tables::{self, State};
use crate::backend::sql::{Access, Error, Row, Schema, Session, Value};
use crate::sync::sleep;

thread_local! {
    /// How much longer the file that this thread has open may wait for locks. A call opens one file
    /// and closes it. Before its version 0.41, rusqlite takes a handler without a state of its own.
    pub static LEFT: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// Waits a little for a lock, as long as there is time left. SQLite's own waiting sleeps up to
/// 100 ms at a time, while a start holds the lock for a few: the last of 64 starts at once would
/// wait several times as long.
pub fn wait(tries: i32) -> bool {
    sleep_if_left(Duration::from_millis(tries.clamp(1, 10).unsigned_abs().into()))
}

/// The same for what needs the file alone. Each waits for a time of its own, and longer with each
/// try, so that those who keep one another from it do not meet for ever.
fn wait_apart(tries: i32) -> bool {
    let most = 10 * u64::from(tries.clamp(1, 30).unsigned_abs());
    sleep_if_left(Duration::from_millis(fastrand::u64(1..=most)))
}

/// Sleeps for no longer than the call has time left. `false` if it has none.
fn sleep_if_left(pause: Duration) -> bool {
    let left = LEFT.get();
    if left.is_zero() {
        return false;
    }
    let pause = pause.min(left);
    LEFT.set(left.saturating_sub(pause));
    sleep(pause);
    true
}

/// An open file, during a call.
pub struct SqliteSession<'a> {
    /// Closed before the lock ends.
    pub db: Connection,
    #[cfg(unix)]
    pub lock: Option<FileLock>,
    #[cfg(not(unix))]
    pub lock: Option<()>,
    /// Whether it stands in for a file without the tables.
    pub is_in_memory: bool,
    pub file: &'a Sqlite,
    pub schema: &'a Schema,
}

impl SqliteSession<'_> {
    pub fn state(&mut self) -> Result<State, Error> {
        tables::state(&*self.db.transaction()?, self.schema)
    }

    /// Whether the tables are not there and could be made. Nothing is written.
    pub fn is_to_be_created(&mut self) -> Result<bool, Error> {
        let state = self.state()?;
        if !matches!(state, State::Empty | State::Others) {
            return Ok(false);
        }
        // Whoever uses the tags of Leaf or tinyid there asks for no others.
        let tags = "SELECT count(*) FROM sqlite_master WHERE type = 'table' \
                    AND name IN ('leaf_alloc', 'tiny_id_info')";
        let count = self.db.query_row(tags, [], |row| row.get::<_, i64>(0))?;
        if count > 0 && self.schema.tables.contains(&"uidring_segment") {
            return Ok(false);
        }
        if self.lock.is_none() || self.db.is_readonly(MAIN_DB)? {
            return Err(Error::problem(READ_ONLY));
        }
        if state == State::Others && self.is_in_wal_mode()? {
            // It is refused.
            self.leave_wal_mode()?;
        }
        Ok(true)
    }

    /// Whether the file is in WAL mode.
    pub fn is_in_wal_mode(&self) -> Result<bool, Error> {
        let mode: String = self.db.query_row("PRAGMA journal_mode", [], |row| row.get(0))?;
        Ok(mode == "wal")
    }

    /// Puts the file from WAL mode back to a rollback journal. That needs the file for itself, so
    /// each try has a connection of its own: two that wait for each other's end would wait for
    /// ever.
    pub fn leave_wal_mode(&mut self) -> Result<(), Error> {
        if tables::holds_others(&self.db)? {
            return Err(Error::problem(
                "it is in WAL mode, so that what is given could be lost with its file -wal, and it \
                 has tables of another program, whose choice that is; have that program run PRAGMA \
                 journal_mode = DELETE, or use a file of its own",
            ));
        }
        for tries in 1.. {
            self.db = Connection::open_in_memory()?;
            let db = self.file.open_connection(OpenFlags::empty())?;
            let mode = db.query_row("PRAGMA journal_mode = DELETE", [], |row| row.get(0));
            match mode {
                Ok::<String, _>(mode) if mode != "wal" => {
                    self.db = db;
                    return Ok(());
                }
                Err(error) if error.sqlite_error_code() != Some(ErrorCode::DatabaseBusy) => {
                    return Err(error.into());
                }
                _ => {}
            }
            drop(db);
            if !wait_apart(tries) {
                break;
            }
        }
        Err(Error::problem(
            "it is in WAL mode, so that what is given could be lost with its file -wal, and a \
             program that has it open keeps it so, as Litestream does; end that program, or have \
             it run PRAGMA journal_mode = DELETE",
        ))
    }

    pub fn check(&mut self) -> Result<(), Error> {
        match self.state()? {
            State::Ours { .. } => Ok(()),
            State::Empty => Err(Error::MissingTables(None)),
            State::Others => Err(Error::UnrelatedTables),
        }
    }
}

impl Session for SqliteSession<'_> {
    fn begin(&mut self, access: Access) -> Result<(), Error> {
        self.check()?;
        // The write lock before the first read: a reader that asks for it later can be refused
        // without a wait.
        if access == Access::Read {
            return Ok(self.db.execute_batch("BEGIN")?);
        }
        loop {
            self.db.execute_batch("BEGIN IMMEDIATE")?;
            if self.is_in_memory {
                return Ok(());
            }
            if self.lock.is_none() {
                return Err(Error::problem(READ_ONLY));
            }
            // Nobody can change that while this transaction lasts.
            if access == Access::Define || !self.is_in_wal_mode()? {
                return Ok(());
            }
            self.db.execute_batch("ROLLBACK")?;
            self.leave_wal_mode()?;
            // The connection is a new one, so the file may be another one by now.
            self.check()?;
        }
    }

    fn commit(&mut self) -> Result<(), Error> {
        Ok(self.db.execute_batch("COMMIT")?)
    }

    fn roll_back(&mut self) -> Result<(), Error> {
        Ok(self.db.execute_batch("ROLLBACK")?)
    }

    fn create_tables(&mut self) -> Result<(), Error> {
        tables::make(&self.db, self.schema)
    }

    /// A transaction in a file makes no tables.
    fn check_may_create(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn rows(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Row>, Error> {
        let mut statement = self.db.prepare(sql)?;
        let columns = statement.column_count();
        let mut rows = statement.query(params_from_iter(values))?;
        let mut all = Vec::new();
        while let Some(row) = rows.next()? {
            let value = |column| value(row.get_ref(column)?);
            all.push((0..columns).map(value).collect::<Result<Row, Error>>()?);
        }
        Ok(all)
    }

    fn write(&mut self, sql: &str, values: &[Value]) -> Result<u64, Error> {
        Ok(self.db.execute(sql, params_from_iter(values))? as u64)
    }

    fn end(self) {}
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
        Ok(match self {
            Value::Null => rusqlite::types::Null.into(),
            Value::Int(number) => (*number).into(),
            Value::Text(text) => text.as_str().into(),
        })
    }
}

/// The schema's checks allow numbers and texts alone.
fn value(value: ValueRef<'_>) -> Result<Value, Error> {
    match value {
        ValueRef::Null => Ok(Value::Null),
        ValueRef::Integer(number) => Ok(Value::Int(number)),
        ValueRef::Text(text) => Ok(Value::Text(String::from_utf8_lossy(text).into_owned())),
        ValueRef::Real(_) | ValueRef::Blob(_) => Err(Error::IncompatibleTables(None)),
    }
}

//! SQLite: connecting, durability, and what its errors mean.
//!
//! The file has a rollback journal, SQLite's default, and no write-ahead log: a generator hardly
//! ever writes, and a log would save it no syncs, as the last process to close the file moves the
//! log into it. At rest the file is all there is. With a log, another program that has the file
//! open keeps in the log what was given meanwhile, and whoever loses the log or copies the file
//! alone gives it again. So a file that somebody has put into WAL mode is put back before it is
//! written to: a setting of the file is changed there, and nothing that it holds. Where others have
//! tables in it, the mode is theirs to choose, and nothing is given in the other one. Series are
//! defined there all the same, as the transactions that count gapless numbers are theirs, too.
//!
//! On a Unix, SQLite's locks belong to the process, so each call takes one more: see `file_lock`.

#[cfg(unix)]
mod file_lock;
#[cfg(unix)]
mod mounts;
mod tables;

pub use tables::HAS_WORKERS;

use std::cell::Cell;
use std::fs;
use std::io;
use std::path::{self, Path, PathBuf};
use std::time::Duration;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, MAIN_DB, OpenFlags, ToSql, params_from_iter};

use super::{Access, Database, Deadline, Dialect, Error, Row, Schema, Session, Value, now};
#[cfg(unix)]
use crate::backend::address::ON_NETWORK;
use crate::support::flat_error::Told;
use crate::sync::sleep;
#[cfg(unix)]
use file_lock::FileLock;
#[cfg(unix)]
use mounts::Mounts;
use tables::State;

/// In which files tables are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    /// In those that have nothing in them.
    Nothing,
    /// In those that hold tables of others, too.
    Others,
}

/// A SQLite file.
#[derive(Clone, Debug)]
pub struct Sqlite {
    /// Absolute, so that a program may change its directory between two calls.
    path: PathBuf,
    /// Whether a file without tables of this library is stood in for by one in memory.
    is_trial: bool,
    /// Whether whoever named it has permitted a network file system.
    may_be_on_network: bool,
}

impl Sqlite {
    /// The file `path`. Nothing is looked at yet.
    pub fn at(path: &Path) -> Result<Sqlite, Error> {
        // SQLite would keep the tables in memory.
        if path.as_os_str().is_empty() {
            return Err(Error::problem("the path is empty; give the path of a file"));
        }
        if path == Path::new(":memory:") {
            let problem = "a store in memory forgets what it gave; give the path of a file";
            return Err(Error::problem(problem));
        }
        let path = path::absolute(path)
            .map_err(|error| Error::problem(format!("{error}; give an absolute path")))?;
        Ok(Sqlite { path, is_trial: false, may_be_on_network: false })
    }

    /// The file for a trial. Where the tables would be made in it, each call gets one in memory
    /// that has them.
    pub fn for_trial(self) -> Sqlite {
        Sqlite { is_trial: true, ..self }
    }

    /// The file, also where it is on a network file system.
    pub fn on_network(self) -> Sqlite {
        Sqlite { may_be_on_network: true, ..self }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the file and its tables, `beside` those of others if it may. Nothing is written where
    /// they are there. Fails where calls with this `access` would. Returns whether it made them.
    pub fn create(
        &self,
        schema: &Schema,
        access: Access,
        beside: Beside,
        deadline: &Deadline,
    ) -> Result<bool, Error> {
        let mut file = self.open(schema, deadline, OpenFlags::SQLITE_OPEN_CREATE)?;
        let state = file.state()?;
        // In a transaction of its own, and harmless where another process has just done the same.
        let makes = state == State::Empty || (state == State::Others && beside == Beside::Others);
        if makes {
            file.make_tables()?;
        }
        file.check()?;
        // Said now, and not by the call that writes later.
        if file.lock.is_none() || file.db.is_readonly(MAIN_DB)? {
            return Err(Error::problem(READ_ONLY));
        }
        if state == (State::Ours { has_version: false }) {
            tables::take_over(&mut file.db, schema)?;
        }
        if access == Access::Write && file.has_log()? {
            file.leave_log()?;
        }
        Ok(makes)
    }

    fn open<'a>(
        &'a self,
        schema: &'a Schema,
        deadline: &Deadline,
        create: OpenFlags,
    ) -> Result<File<'a>, Error> {
        self.look(!create.is_empty() || self.is_trial)?;
        LEFT.set(deadline.timeout);
        if self.is_trial && fs::metadata(&self.path).map_or(true, |found| found.len() == 0) {
            return Ok(self.in_memory(schema)?);
        }
        let lock = self.lock()?;
        let db = self.connection(create)?;
        let mut file = File { db, lock, is_in_memory: false, place: self, schema };
        if self.is_trial && !schema.sql.is_empty() && file.is_to_be_made()? {
            return Ok(self.in_memory(schema)?);
        }
        Ok(file)
    }

    /// A file in memory with the tables of the schema. It ends with the call.
    fn in_memory<'a>(&'a self, schema: &'a Schema) -> Result<File<'a>, rusqlite::Error> {
        let db = Connection::open_in_memory()?;
        db.execute_batch(schema.sql)?;
        Ok(File { db, lock: None, is_in_memory: true, place: self, schema })
    }

    /// Waits for the lock that keeps out other copies of this library in this process. `None` where
    /// this user may not write to the folder: then no copy here can write to the file.
    #[cfg(unix)]
    fn lock(&self) -> Result<Option<FileLock>, Error> {
        let mut tries = 0;
        loop {
            tries += 1;
            let error = match FileLock::try_take(&self.path) {
                Ok(Some(lock)) => return Ok(Some(lock)),
                Ok(None) if wait(tries) => continue,
                Ok(None) => return Err(Error::Locked),
                Err(error) => error,
            };
            return match error.kind() {
                // Another user's call ends soon, unless it was killed.
                io::ErrorKind::ResourceBusy if tries < 20 && wait(tries) => continue,
                io::ErrorKind::PermissionDenied
                | io::ErrorKind::ReadOnlyFilesystem
                | io::ErrorKind::ResourceBusy => Ok(None),
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    Err(Error::Full(error.into()))
                }
                io::ErrorKind::Unsupported => Err(Error::Unusable {
                    problem: "its file system has no locks; put the file on another, or use a \
                              server"
                        .into(),
                    source: Some(error.into()),
                }),
                _ => Err(Error::Other(error.into())),
            };
        }
    }

    /// Elsewhere the locks of SQLite belong to the open file.
    #[cfg(not(unix))]
    #[allow(clippy::unnecessary_wraps, clippy::unused_self, reason = "as on Unix")]
    fn lock(&self) -> Result<Option<()>, Error> {
        Ok(Some(()))
    }

    fn connection(&self, create: OpenFlags) -> Result<Connection, Error> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | create;
        #[allow(unused_mut, reason = "rusqlite's busy_handler takes &self before its version 0.41")]
        let mut db = Connection::open_with_flags(&self.path, flags)?;
        db.busy_handler(Some(wait))?;
        // EXTRA: with FULL, a power failure can bring back the journal of a committed transaction,
        // and undo it. `fullfsync` is for macOS, where a sync alone leaves data in the disk's
        // cache. SQLite rolls a journal back before it reads this, so a power failure can bring
        // that journal back, too. The next writer syncs the folder before it changes the file.
        db.execute_batch("PRAGMA synchronous = EXTRA; PRAGMA fullfsync = ON;")?;
        Ok(db)
    }

    fn problem_of_place(&self, found: Option<&fs::Metadata>) -> Option<String> {
        problem_of_place(&self.path, found, self.may_be_on_network)
    }

    /// Refuses a path that SQLite would refuse with fewer words, or not at all: a device such as
    /// `/dev/null` takes every row and keeps none.
    fn look(&self, create: bool) -> Result<(), Error> {
        let problem = match fs::metadata(&self.path) {
            Ok(found) if found.is_file() => match self.problem_of_place(Some(&found)) {
                Some(problem) => problem,
                None => return Ok(()),
            },
            Ok(found) if found.is_dir() => "it is a directory; give the path of a file".into(),
            Ok(_) => "it is not a regular file; give the path of one".into(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => match self.path.parent() {
                Some(parent) if !parent.exists() => {
                    format!("the directory {} does not exist; make it first", parent.display())
                }
                _ if create => match self.problem_of_place(None) {
                    Some(problem) => problem,
                    None => return Ok(()),
                },
                _ => {
                    "there is no such file; see that the path is right and that nobody has removed \
                      it"
                    .into()
                }
            },
            Err(error) => {
                format!("{error}; see that the path is right and that this user may follow it")
            }
        };
        Err(Error::problem(problem))
    }
}

/// What is wrong with where the file lies, or with how it can be found.
///
/// On a network file system, the locks of machines may not keep each other out: with NFS' `nolock`
/// none does. Nothing tells whether they do, so that is for whoever knows to permit.
///
/// SQLite keeps the journal of a file beside its name. After a crash, whoever comes by the name of
/// the crashed program undoes with its journal what those who came by another name have committed
/// meanwhile.
#[cfg(unix)]
fn problem_of_place(
    path: &Path,
    found: Option<&fs::Metadata>,
    may_be_on_network: bool,
) -> Option<String> {
    use std::os::unix::fs::MetadataExt as _;
    let mounts = Mounts::of_process();
    if found.is_some_and(|found| found.nlink() > 1) {
        return Some(
            "it has a second name, by a hard link; SQLite keeps its journal beside one name alone, \
             so that after a crash a program that comes by the other could undo what was given; \
             stop all programs, and remove the other name: if a file that ends in -journal lies \
             beside one of them, keep that one"
                .to_owned(),
        );
    }
    if found.is_some() && mounts.are_at(path) {
        return Some(
            "it is mounted by itself, without its folder, where SQLite keeps its journal, so that \
             after a crash a program that uses it from another place could undo what was given \
             here; mount the folder that it lies in"
                .to_owned(),
        );
    }
    let kind = if may_be_on_network { None } else { mounts.network_of(path) }?;
    Some(format!(
        "it is on a network file system, {kind}, whose locks need not keep programs of several \
         machines apart, so that both could give the same ids; put it on a disk of this machine, \
         or use a server; or, if programs of one machine alone have it open, or you know that the \
         locks hold, name it by sqlite:{path}{ON_NETWORK}",
        path = path.display()
    ))
}

#[cfg(not(unix))]
fn problem_of_place(_: &Path, _: Option<&fs::Metadata>, _: bool) -> Option<String> {
    None
}

impl Database for Sqlite {
    const TABLES: &'static str = include_str!("../../../../schema.sql");
    const DIALECT: Dialect = Dialect {
        now: now::SQLITE,
        greatest: "MAX",
        // A transaction that writes has the whole file.
        for_update: "",
        turn: None,
        columns: "SELECT name FROM pragma_table_info(?)",
        tables: "SELECT name FROM sqlite_master WHERE type = 'table' AND name IN ({names})",
    };
    /// A file that vanishes, or is emptied, must not be made anew: it is the only memory.
    const MAKES_TABLES: bool = false;
    const MAKES_AT_ONCE: bool = true;

    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn connect<'a>(
        &'a self,
        schema: &'a Schema,
        deadline: &'a Deadline,
    ) -> Result<impl Session + 'a, Error> {
        self.open(schema, deadline, OpenFlags::empty())
    }
}

thread_local! {
    /// How much longer the file that this thread has open may wait for locks. A call opens one file
    /// and closes it. Before its version 0.41, rusqlite takes a handler without a state of its own.
    static LEFT: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// Waits a little for a lock, as long as there is time left. SQLite's own waiting sleeps up to
/// 100 ms at a time, while a start holds the lock for a few: the last of 64 starts at once would
/// wait several times as long.
fn wait(tries: i32) -> bool {
    let left = LEFT.get();
    if left.is_zero() {
        return false;
    }
    let pause = Duration::from_millis(tries.clamp(1, 10).unsigned_abs().into()).min(left);
    LEFT.set(left.saturating_sub(pause));
    sleep(pause);
    true
}

const READ_ONLY: &str =
    "it cannot be written; give this user the right to write to the file and to its directory";

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Error {
        // Our SQL is good, so what is wrong with it is that tables or columns are not there.
        let is_sql = matches!(error, rusqlite::Error::SqlInputError { .. });
        let code = error.sqlite_error_code();
        let source = Box::new(Told::new(error));
        let problem = match code {
            _ if is_sql => return foreign_tables(Some(source)),
            Some(ErrorCode::Unknown | ErrorCode::TypeMismatch) => {
                return foreign_tables(Some(source));
            }
            Some(ErrorCode::NotADatabase) => {
                let problem = "it is not a SQLite database";
                return Error::ForeignFile { problem, source: Some(source) };
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => return Error::Locked,
            Some(ErrorCode::DiskFull) => return Error::Full(source),
            Some(ErrorCode::CannotOpen) => {
                "it cannot be opened; give this user the right to read and write the file and to \
                 write to its directory"
            }
            Some(ErrorCode::ReadOnly) => READ_ONLY,
            Some(ErrorCode::DatabaseCorrupt) => {
                "it is damaged; let the sqlite3 shell's .recover write what it holds to a new \
                 file, and see that sqlite_sequence there is not below any worker id given"
            }
            _ => return Error::Other(source),
        };
        Error::Unusable { problem: problem.into(), source: Some(source) }
    }
}

fn foreign_tables(source: Option<super::Cause>) -> Error {
    Error::ForeignTables(source)
}

/// An open file, during a call.
struct File<'a> {
    /// Closed before the lock ends.
    db: Connection,
    #[cfg(unix)]
    lock: Option<FileLock>,
    #[cfg(not(unix))]
    lock: Option<()>,
    /// Whether it stands in for a file without the tables.
    is_in_memory: bool,
    place: &'a Sqlite,
    schema: &'a Schema,
}

impl File<'_> {
    fn state(&mut self) -> Result<State, Error> {
        tables::state(&*self.db.transaction()?, self.schema)
    }

    /// Whether the tables are not there and could be made. Nothing is written.
    fn is_to_be_made(&mut self) -> Result<bool, Error> {
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
        if state == State::Others && self.has_log()? {
            // It is refused.
            self.leave_log()?;
        }
        Ok(true)
    }

    /// Whether the file is in WAL mode.
    fn has_log(&self) -> Result<bool, Error> {
        let mode: String = self.db.query_row("PRAGMA journal_mode", [], |row| row.get(0))?;
        Ok(mode == "wal")
    }

    /// Puts the file from WAL mode back to a rollback journal. That needs the file for itself, so
    /// each try has a connection of its own: two that wait for each other's end would wait for
    /// ever.
    fn leave_log(&mut self) -> Result<(), Error> {
        if tables::holds_others(&self.db)? {
            return Err(Error::problem(
                "it is in WAL mode, so that what is given could be lost with its file -wal, and it \
                 has tables of another program, whose choice that is; have that program run PRAGMA \
                 journal_mode = DELETE, or use a file of its own",
            ));
        }
        for tries in 1.. {
            self.db = Connection::open_in_memory()?;
            let db = self.place.connection(OpenFlags::empty())?;
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
            if !wait(tries) {
                break;
            }
        }
        Err(Error::problem(
            "it is in WAL mode, so that what is given could be lost with its file -wal, and a \
             program that has it open keeps it so, as Litestream does; end that program, or have \
             it run PRAGMA journal_mode = DELETE",
        ))
    }

    fn check(&mut self) -> Result<(), Error> {
        match self.state()? {
            State::Ours { .. } => Ok(()),
            State::Empty => Err(Error::NoTables(None)),
            State::Others => Err(Error::OthersTables),
        }
    }
}

impl Session for File<'_> {
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
            if access == Access::Define || !self.has_log()? {
                return Ok(());
            }
            self.db.execute_batch("ROLLBACK")?;
            self.leave_log()?;
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

    fn make_tables(&mut self) -> Result<(), Error> {
        tables::make(&self.db, self.schema)
    }

    /// A transaction in a file makes no tables.
    fn try_out_tables(&mut self) -> Result<(), Error> {
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
        ValueRef::Real(_) | ValueRef::Blob(_) => Err(foreign_tables(None)),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    /// No one outside can see this, and a power failure is hard to come by: a transaction is only
    /// durable with the journal gone for good when it is committed.
    #[test]
    fn a_commit_is_on_the_disk_when_it_returns() {
        let dir = tempfile::tempdir().unwrap();
        let database = Sqlite::at(&dir.path().join("uidring.db")).unwrap();
        let schema = Schema { sql: "", version: 1, tables: &[], witness: "" };
        let deadline = Deadline::after(Duration::ZERO);
        let file = database.open(&schema, &deadline, OpenFlags::SQLITE_OPEN_CREATE).unwrap();
        let extra = 3;
        assert_eq!(file.db.query_row("PRAGMA synchronous", [], |row| row.get(0)), Ok(extra));
        assert_eq!(file.db.query_row("PRAGMA fullfsync", [], |row| row.get(0)), Ok(1));
        assert_eq!(
            file.db.query_row("PRAGMA journal_mode", [], |row| row.get(0)),
            Ok("delete".to_owned())
        );
    }

    #[test]
    fn a_full_disk_is_called_so() {
        let full = rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_FULL), None);
        assert!(matches!(full.into(), Error::Full(_)));
    }
}

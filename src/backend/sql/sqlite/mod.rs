//! SQLite: the file, and how to open it.
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

mod diagnosis;
#[cfg(unix)]
mod file_lock;
mod location;
#[cfg(any(unix, windows))]
mod place;
mod session;
mod tables;

pub(crate) use tables::is_our_worker_node;

use std::fs;
#[cfg(unix)]
use std::io;
use std::path::{self, Path, PathBuf};

use rusqlite::{Connection, MAIN_DB, OpenFlags};

use super::{Access, Database, Deadline, Dialect, Error, Schema, Session, now};
use diagnosis::READ_ONLY;
#[cfg(unix)]
use file_lock::FileLock;
use session::{LEFT, SqliteSession, wait};
use tables::State;

/// Which files tables are made in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileSharing {
    /// In those that have nothing in them.
    Exclusive,
    /// In those that hold tables of others, too.
    Shared,
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

    /// Makes the file and its tables, beside those of others if `sharing` permits it. Nothing is
    /// written where they are there. Fails where calls with this `access` would. Returns whether it
    /// made them.
    pub fn create(
        &self,
        schema: &Schema,
        access: Access,
        sharing: FileSharing,
        deadline: &Deadline,
    ) -> Result<bool, Error> {
        let mut file = self.open(schema, deadline, OpenFlags::SQLITE_OPEN_CREATE)?;
        let state = file.state()?;
        // In a transaction of its own, and harmless where another process has just done the same.
        let makes =
            state == State::Empty || (state == State::Others && sharing == FileSharing::Shared);
        if makes {
            file.create_tables()?;
        }
        file.check()?;
        // Said now, and not by the call that writes later.
        if file.lock.is_none() || file.db.is_readonly(MAIN_DB)? {
            return Err(Error::problem(READ_ONLY));
        }
        if state == (State::Ours { has_version: false }) {
            tables::take_over(&mut file.db, schema)?;
        }
        if access == Access::Write && file.is_in_wal_mode()? {
            file.leave_wal_mode()?;
        }
        Ok(makes)
    }

    fn open<'a>(
        &'a self,
        schema: &'a Schema,
        deadline: &Deadline,
        create: OpenFlags,
    ) -> Result<SqliteSession<'a>, Error> {
        let create_file = !create.is_empty() || self.is_trial;
        location::check(&self.path, self.may_be_on_network, create_file)?;
        LEFT.set(deadline.timeout);
        if self.is_trial && fs::metadata(&self.path).map_or(true, |found| found.len() == 0) {
            return Ok(self.in_memory(schema)?);
        }
        let lock = self.lock()?;
        let db = self.open_connection(create)?;
        let mut file = SqliteSession { db, lock, is_in_memory: false, file: self, schema };
        if self.is_trial && !schema.sql.is_empty() && file.is_to_be_created()? {
            return Ok(self.in_memory(schema)?);
        }
        Ok(file)
    }

    /// A file in memory with the tables of the schema. It ends with the call.
    fn in_memory<'a>(&'a self, schema: &'a Schema) -> Result<SqliteSession<'a>, rusqlite::Error> {
        let db = Connection::open_in_memory()?;
        db.execute_batch(schema.sql)?;
        Ok(SqliteSession { db, lock: None, is_in_memory: true, file: self, schema })
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

    fn open_connection(&self, create: OpenFlags) -> Result<Connection, Error> {
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
}

impl Database for Sqlite {
    const TABLES: &'static str = include_str!("../../../../schema.sql");
    const DIALECT: Dialect = Dialect {
        now: now::SQLITE,
        greatest: "MAX",
        // A transaction that writes has the whole file.
        for_update: "",
        advisory_lock: None,
        columns: "SELECT name FROM pragma_table_info(?)",
        tables: "SELECT name FROM sqlite_master WHERE type = 'table' AND name IN ({names})",
    };
    /// A file that vanishes, or is emptied, must not be made anew: it is the only memory.
    const CREATES_TABLES: bool = false;
    const CREATES_ATOMICALLY: bool = true;

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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::time::Duration;

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
}

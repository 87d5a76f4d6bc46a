//! Worker ids from a SQLite file.
//!
//! One durable transaction gives an id. The file has a rollback journal, SQLite's default, and no
//! write-ahead log: a generator hardly ever writes, and a log would save it no syncs, as the last
//! process to close the file moves the log into it. At rest the file is all there is.

use std::fs;
use std::io;
use std::ops::RangeInclusive;
use std::path::{self, Path, PathBuf};
use std::time::{Duration, SystemTime};

use rusqlite::{
    Connection, ErrorCode, OpenFlags, OptionalExtension, Row, Transaction, TransactionBehavior,
    params,
};

use super::host::{Host, WorkerKind};
use super::table::{
    self, Free, NO_LAYOUT, Partition, Tables, Tenancy, Terms, Worker, WorkerLease, from_unix_ms,
    tick_ms, unix_ms, whole_ms,
};
use super::{Lease, Request, WorkerRegistry};
use crate::layout::Layout;
use crate::registry::RegistryError;
use crate::sync::sleep;

/// The tables, to be applied by hand too.
const SCHEMA: &str = include_str!("../../schema.sql");
/// `application_id` and `user_version` of [`SCHEMA`].
const APPLICATION: i64 = 0x7569_6472;
const VERSION: i64 = 1;

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);

/// Worker ids from a SQLite file, for all processes of one machine.
///
/// Every start of a generator inserts a row into the table `worker_node` and uses its autoincrement
/// key as worker id. The first is 1.
///
/// ```no_run
/// use uidring::UidGenerator;
/// use uidring::registry::SqliteRegistry;
///
/// let uids = UidGenerator::builder().registry(SqliteRegistry::open("uidring.db")?).build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantees
///
/// * No worker id is given twice: not to two processes or threads that ask at once, not after a
///   crash at any instant, not after a power failure (where the disk keeps what it has
///   acknowledged), not when rows are deleted.
/// * The ids fit the layout that the file was first used with. Another layout is refused.
/// * A call that fails uses nothing up.
///
/// They rest on the file: putting back an old copy of it, or using a copy on a second machine,
/// gives ids again. So does a network file system whose locks do not work; machines that share a
/// registry need a server.
///
/// # Cost
///
/// A start is one transaction with five syncs of the disk, a few milliseconds on most. The file is
/// open during a call only: a running generator holds no file, no lock and no connection, and a
/// `fork` inherits none, unless another thread is in the middle of a call. SQLite may then not work
/// in the child, so a program that forks should do so when its generators have been built.
#[derive(Clone, Debug)]
pub struct SqliteRegistry {
    /// Absolute, so that a program may change its directory between two ids.
    path: PathBuf,
    timeout: Duration,
    terms: Terms,
}

type Fault = table::Fault<rusqlite::Error>;

impl SqliteRegistry {
    /// The registry in the file `path`, which is made if it does not exist.
    ///
    /// The tables are made too, by the file `schema.sql`; many processes may do so at once. The
    /// directory must exist.
    ///
    /// # Errors
    ///
    /// [`RegistryError::Open`] says what is wrong with the file and what to do,
    /// [`RegistryError::Full`] that the disk is full, [`RegistryError::Locked`] that others have
    /// kept the file locked for five seconds, [`RegistryError::Storage`] that the disk failed.
    pub fn open(path: impl AsRef<Path>) -> Result<SqliteRegistry, RegistryError> {
        let registry = SqliteRegistry::at(path.as_ref())?;
        registry.create().map_err(|fault| registry.explain("make the tables of", fault))?;
        Ok(registry)
    }

    /// The registry in the file `path`, which exists. Nothing is written, and a file that may only
    /// be read will do for reading.
    ///
    /// # Errors
    ///
    /// As [`open`](SqliteRegistry::open); [`RegistryError::Open`] also when there is no such file.
    pub fn open_existing(path: impl AsRef<Path>) -> Result<SqliteRegistry, RegistryError> {
        let registry = SqliteRegistry::at(path.as_ref())?;
        registry.read(|_| Ok(()))?;
        Ok(registry)
    }

    /// Sets how long a call waits while others have the file locked: five seconds unless set. A
    /// start holds the lock for milliseconds.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> SqliteRegistry {
        SqliteRegistry { timeout, ..self }
    }

    /// Sets the host name and the port that the rows show, in place of those found.
    ///
    /// They inform those who read the table. Worker ids do not depend on them.
    #[must_use]
    pub fn with_host(mut self, name: &str, port: &str) -> SqliteRegistry {
        self.terms.host = Some(Host::new(name, port));
        self
    }

    /// Gives ids for a time: when a generator has reserved no seconds for `duration`, another may
    /// have its id, from a second after those reserved. Ids are given back at a clean stop, and
    /// recycled, those free for longest first.
    ///
    /// Uniqueness does not rest on the duration. A shorter one recycles sooner and writes more
    /// often; an idle generator writes twice in it.
    #[must_use]
    pub fn leased(mut self, duration: Duration) -> SqliteRegistry {
        self.terms.leased(duration);
        self
    }

    /// Gives the ids of one part of the worker field only: of `of` equal parts the one with the
    /// number `index`, from 0. So can machines that each have a file of their own share one layout:
    /// each is given an index for ever.
    ///
    /// The file remembers its part, and refuses another.
    ///
    /// # Errors
    ///
    /// [`RegistryError::Partition`] when `index` is not below `of`, or there are more parts than
    /// any layout has ids.
    pub fn partition(mut self, index: u64, of: u64) -> Result<SqliteRegistry, RegistryError> {
        // The widest worker field has 42 bits.
        if index >= of || of > 1 << 42 {
            return Err(RegistryError::Partition { index, of });
        }
        self.terms.partition = Partition { index, of };
        Ok(self)
    }

    /// The worker ids that the file remembers, in their order.
    ///
    /// # Errors
    ///
    /// As [`open_existing`](SqliteRegistry::open_existing).
    pub fn workers(&self) -> Result<Vec<Worker>, RegistryError> {
        self.read(|db| {
            let sql = "SELECT id, host_name, port, type, launch_date, holder, reserved_until, lease_until, \
                       created FROM worker_node ORDER BY id";
            Ok(db.prepare(sql)?.query_map([], worker)?.collect::<Result<_, _>>()?)
        })
    }

    /// The largest id ever given, also where its row has been deleted; 0 before the first.
    ///
    /// # Errors
    ///
    /// As [`open_existing`](SqliteRegistry::open_existing).
    pub fn largest_given(&self) -> Result<u64, RegistryError> {
        self.read(|db| Ok(largest_given(db)?))
    }

    /// Takes the leased id `worker` from whoever holds it, so that the next start can have it.
    ///
    /// Safe at any time: the next holder begins after the last second that was reserved, and the
    /// one before finds its lease lost and takes another id.
    ///
    /// # Errors
    ///
    /// [`RegistryError::NotLeased`] when the registry has given no lease of that id; else as
    /// [`open_existing`](SqliteRegistry::open_existing).
    pub fn take_back(&self, worker: u64) -> Result<(), RegistryError> {
        let take = || {
            let db = self.connect_checked()?;
            let sql = "UPDATE worker_node SET holder = NULL, lease_until = ?2, modified = ?2 \
                       WHERE id = ?1 AND lease_until IS NOT NULL";
            match db.execute(sql, params![worker, now_ms(&db)?])? {
                0 => Err(Fault::Known(RegistryError::NotLeased { worker })),
                _ => Ok(()),
            }
        };
        take().map_err(|fault| self.explain("take a worker id back to", fault))
    }

    /// The layout that the file was first used with, or `None` before its first use.
    ///
    /// # Errors
    ///
    /// As [`open_existing`](SqliteRegistry::open_existing).
    pub fn layout(&self) -> Result<Option<Layout>, RegistryError> {
        Ok(self.read(used_with)?.map(|(layout, _)| layout))
    }

    /// The worker ids that the file gives: those of its partition, never 0. `None` before its first
    /// use.
    ///
    /// # Errors
    ///
    /// As [`open_existing`](SqliteRegistry::open_existing).
    pub fn ids(&self) -> Result<Option<RangeInclusive<u64>>, RegistryError> {
        let ids = |(layout, partition): (Layout, Partition)| {
            let (first, last) = partition.ids(&layout);
            first..=last
        };
        Ok(self.read(used_with)?.map(ids))
    }

    fn at(path: &Path) -> Result<SqliteRegistry, RegistryError> {
        let refuse = |problem: &str| RegistryError::Open {
            registry: path.display().to_string(),
            problem: problem.into(),
            source: None,
        };
        // SQLite would keep these two in memory, and every start would be the first.
        if path.as_os_str().is_empty() {
            return Err(refuse("the path is empty; give the path of a file"));
        }
        if path == Path::new(":memory:") {
            return Err(refuse(
                "a registry in memory forgets the ids that it gave; give the path of a file",
            ));
        }
        let path = path::absolute(path)
            .map_err(|error| refuse(&format!("{error}; give an absolute path")))?;
        Ok(SqliteRegistry { path, timeout: DEFAULT_TIMEOUT, terms: Terms::FRESH })
    }

    /// Sees to it that the tables are there. Nothing is written where they are.
    fn create(&self) -> Result<(), Fault> {
        let mut db = self.connect(OpenFlags::SQLITE_OPEN_CREATE)?;
        if let State::Empty = state(&mut db)? {
            // In a transaction of its own, and harmless where another process has just done the
            // same.
            db.execute_batch(SCHEMA)?;
        }
        check(state(&mut db)?)?;
        // Said now, and not by the generator that asks for an id later.
        if db.is_readonly("main")? { Err(Fault::Problem(READ_ONLY.into())) } else { Ok(()) }
    }

    /// What `query` sees in one read transaction.
    fn read<T>(
        &self,
        query: impl FnOnce(&Connection) -> Result<T, Fault>,
    ) -> Result<T, RegistryError> {
        let attempt = || query(&*self.connect_checked()?.transaction()?);
        attempt().map_err(|fault| self.explain("read", fault))
    }

    fn give(&self, request: &Request) -> Result<Lease, Fault> {
        let mut db = self.connect_checked()?;
        // The write lock before the first read: a reader that asks for it later can be refused
        // without a wait. Dropping the transaction rolls it back.
        let mut transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let lease = table::give(&mut transaction, &self.terms, request)?;
        transaction.commit()?;
        Ok(lease)
    }

    /// Changes the row of a lease if it is still this registry's. One conditional write.
    fn change(&self, lease: &Lease, reserved_until: u64, holds_on: bool) -> Result<(), Fault> {
        let db = self.connect(OpenFlags::empty())?;
        let now = now_ms(&db)?;
        let until = if holds_on { now + whole_ms(lease.duration.unwrap_or_default()) } else { now };
        let holder = holds_on.then_some(&lease.holder);
        let sql = "UPDATE worker_node SET reserved_until = ?3, lease_until = ?4, modified = ?5, holder = ?6 \
                   WHERE id = ?1 AND holder = ?2";
        match db
            .execute(sql, params![lease.worker, lease.holder, reserved_until, until, now, holder])?
        {
            0 => Err(Fault::Known(RegistryError::LeaseLost { worker: lease.worker })),
            _ => Ok(()),
        }
    }

    /// A connection to a file that is a registry.
    fn connect_checked(&self) -> Result<Connection, Fault> {
        let mut db = self.connect(OpenFlags::empty())?;
        check(state(&mut db)?)?;
        Ok(db)
    }

    fn connect(&self, create: OpenFlags) -> Result<Connection, Fault> {
        self.look(!create.is_empty())?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | create;
        let mut db = Connection::open_with_flags(&self.path, flags)?;
        let mut left = self.timeout;
        db.busy_handler(Some(move |tries| wait(tries, &mut left)))?;
        // EXTRA: with FULL, a power failure can bring back the journal of a committed start, and
        // undo it. `fullfsync` is for macOS, where a sync alone leaves data in the disk's cache.
        db.execute_batch("PRAGMA synchronous = EXTRA; PRAGMA fullfsync = ON;")?;
        Ok(db)
    }

    /// Refuses a path that SQLite would refuse with fewer words, or not at all: a device such as
    /// `/dev/null` takes every row and keeps none.
    fn look(&self, create: bool) -> Result<(), Fault> {
        let problem = match fs::metadata(&self.path) {
            Ok(found) if found.is_file() => return Ok(()),
            Ok(found) if found.is_dir() => "it is a directory; give the path of a file".into(),
            Ok(_) => "it is not a regular file; give the path of one".into(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => match self.path.parent() {
                Some(parent) if !parent.exists() => {
                    format!("the directory {} does not exist; make it first", parent.display())
                }
                _ if create => return Ok(()),
                _ => "there is no such file; see that the path is right and that nobody has removed it".into(),
            },
            Err(error) => format!("{error}; see that the path is right and that this user may follow it"),
        };
        Err(Fault::Problem(problem))
    }

    /// The error of a call that could not do what it was `doing`.
    fn explain(&self, doing: &str, fault: Fault) -> RegistryError {
        let registry = self.path.display().to_string();
        let error = match fault {
            Fault::Known(error) => return error,
            Fault::Problem(problem) => {
                return RegistryError::Open { registry, problem, source: None };
            }
            Fault::Driver(error) => error,
        };
        let (code, problem) = (error.sqlite_error_code(), problem(&error));
        let source = Box::new(error);
        match (problem, code) {
            (Some(problem), _) => {
                RegistryError::Open { registry, problem: problem.into(), source: Some(source) }
            }
            (None, Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)) => {
                RegistryError::Locked { registry, waited: self.timeout }
            }
            (None, Some(ErrorCode::DiskFull)) => RegistryError::Full { registry, source },
            _ => {
                RegistryError::Storage { doing: format!("{doing} the registry {registry}"), source }
            }
        }
    }
}

impl WorkerRegistry for SqliteRegistry {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        self.give(request).map_err(|fault| self.explain("store a worker id in", fault))
    }

    fn reserve(&mut self, lease: &Lease, last: u64) -> Result<u64, RegistryError> {
        if lease.duration.is_none() {
            return Ok(lease.last);
        }
        self.change(lease, last, true)
            .map_err(|fault| self.explain("reserve seconds in", fault))?;
        Ok(last)
    }

    fn release(&mut self, lease: &Lease, used: u64) -> Result<(), RegistryError> {
        if lease.duration.is_none() {
            return Ok(());
        }
        self.change(lease, used, false)
            .map_err(|fault| self.explain("give a worker id back to", fault))
    }

    fn last_assigned(&mut self) -> Result<Option<SystemTime>, RegistryError> {
        self.read(|db| {
            let last: Option<i64> =
                db.query_row("SELECT max(launch_date) FROM worker_node", [], |row| row.get(0))?;
            Ok(last.and_then(from_unix_ms))
        })
    }
}

/// Waits a little for a lock, as long as there is time `left`. SQLite's own waiting sleeps up to
/// 100 ms at a time, while a start holds the lock for a few: the last of 64 starts at once would
/// wait several times as long.
fn wait(tries: i32, left: &mut Duration) -> bool {
    if left.is_zero() {
        return false;
    }
    let pause = Duration::from_millis(tries.clamp(1, 10).unsigned_abs().into()).min(*left);
    *left -= pause;
    sleep(pause);
    true
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Fault {
        Fault::Driver(error)
    }
}

const READ_ONLY: &str =
    "it cannot be written; give this user the right to write to the file and to its directory";
const FOREIGN_TABLES: &str =
    "its tables are not those of schema.sql; give the registry a file of its own";

/// What is wrong with the file and what to do, where SQLite's `error` tells.
fn problem(error: &rusqlite::Error) -> Option<&'static str> {
    // Our SQL is good, so what is wrong with it is that tables or columns are not there.
    if let rusqlite::Error::SqlInputError { .. } = error {
        return Some(FOREIGN_TABLES);
    }
    let problem = match error.sqlite_error_code()? {
        ErrorCode::Unknown => FOREIGN_TABLES,
        ErrorCode::CannotOpen => {
            "it cannot be opened; give this user the right to read and write the file and to write to its directory"
        }
        ErrorCode::ReadOnly => READ_ONLY,
        ErrorCode::NotADatabase => {
            "it is not a SQLite database; give the registry a file of its own"
        }
        ErrorCode::DatabaseCorrupt => {
            "it is damaged; let the sqlite3 shell's .recover write what it holds to a new file, and see that \
             sqlite_sequence there is not below any worker id given"
        }
        _ => return None,
    };
    Some(problem)
}

/// What a database is to uidring.
enum State {
    /// It has nothing in it.
    Empty,
    /// It is a registry.
    Registry,
    /// It is something else.
    Other(String),
}

/// Looks at a database without writing to it.
fn state(db: &mut Connection) -> Result<State, Fault> {
    // All in one transaction, so that it is seen either before another process has made the tables
    // or after.
    let db = db.transaction()?;
    let number = |sql| db.query_row(sql, [], |row| row.get::<_, i64>(0));
    let (application, version) = (number("PRAGMA application_id")?, number("PRAGMA user_version")?);
    if (application, version) == (0, 0) && number("SELECT count(*) FROM sqlite_master")? == 0 {
        return Ok(State::Empty);
    }
    if application != APPLICATION {
        return Ok(State::Other(
            "it is the database of another program; give the registry a file of its own".into(),
        ));
    }
    if version != VERSION {
        return Ok(State::Other(format!(
            "its schema has the version {version}, and this uidring knows version {VERSION}; use the uidring that made it"
        )));
    }
    // Without AUTOINCREMENT, SQLite gives the ids of deleted rows again.
    let own = "SELECT count(*) FROM sqlite_master WHERE type = 'table' \
               AND name = 'worker_node' AND sql LIKE '%AUTOINCREMENT%'";
    Ok(if number(own)? == 1 { State::Registry } else { State::Other(FOREIGN_TABLES.into()) })
}

fn check(state: State) -> Result<(), Fault> {
    match state {
        State::Registry => Ok(()),
        State::Other(problem) => Err(Fault::Problem(problem)),
        State::Empty => Err(Fault::Problem(
            "it is empty; if it has just been put there, start a generator with it, otherwise find out who emptied it"
                .into(),
        )),
    }
}

impl Tables for Transaction<'_> {
    type Error = rusqlite::Error;

    fn used_with(&mut self) -> Result<Option<(Layout, Partition)>, Fault> {
        used_with(self)
    }

    fn use_with(&mut self, layout: &Layout, partition: Partition, first: u64) -> Result<(), Fault> {
        let sql = "INSERT INTO uidring_layout (id, time_bits, worker_bits, sequence_bits, tick_ms, epoch_ms, \
                   partition_index, partition_of) VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        let widths = [layout.time_bits(), layout.worker_bits(), layout.sequence_bits()];
        let [time_bits, worker_bits, sequence_bits] = widths;
        let (tick_ms, epoch_ms, Partition { index, of }) =
            (tick_ms(layout), unix_ms(layout.epoch()), partition);
        self.execute(
            sql,
            params![time_bits, worker_bits, sequence_bits, tick_ms, epoch_ms, index, of],
        )?;
        if first > largest_given(self)? + 1 {
            // AUTOINCREMENT adds one to it.
            self.execute("DELETE FROM sqlite_sequence WHERE name = 'worker_node'", [])?;
            self.execute(
                "INSERT INTO sqlite_sequence (name, seq) VALUES ('worker_node', ?1)",
                [first - 1],
            )?;
        }
        Ok(())
    }

    fn largest_given(&mut self) -> Result<u64, Fault> {
        Ok(largest_given(self)?)
    }

    fn insert(&mut self, host: &Host) -> Result<u64, Fault> {
        let sql =
            "INSERT INTO worker_node (host_name, port, type) VALUES (?1, ?2, ?3) RETURNING id";
        Ok(self.query_row(sql, params![host.name, host.port, host.kind.code()], |row| row.get(0))?)
    }

    fn free(&mut self, latest: u64) -> Result<Option<Free>, Fault> {
        let sql = "SELECT id, reserved_until FROM worker_node \
                   WHERE lease_until <= ?1 AND reserved_until < ?2 ORDER BY reserved_until, id LIMIT 1";
        let free = |row: &Row<'_>| Ok(Free { worker: row.get(0)?, reserved_until: row.get(1)? });
        Ok(self.query_row(sql, params![now_ms(self)?, latest], free).optional()?)
    }

    fn lend(&mut self, worker: u64, tenancy: &Tenancy<'_>) -> Result<(), Fault> {
        let Tenancy { host, holder, reserved_until, duration_ms } = tenancy;
        let sql = "UPDATE worker_node SET host_name = ?2, port = ?3, type = ?4, launch_date = ?5, modified = ?5, \
                   holder = ?6, reserved_until = ?7, lease_until = ?5 + ?8 WHERE id = ?1";
        let (kind, now) = (host.kind.code(), now_ms(self)?);
        self.execute(
            sql,
            params![worker, host.name, host.port, kind, now, holder, reserved_until, duration_ms],
        )?;
        Ok(())
    }

    fn lend_again(&mut self, free: &Free, tenancy: &Tenancy<'_>) -> Result<bool, Fault> {
        // Nobody else writes to the file meanwhile.
        self.lend(free.worker, tenancy).map(|()| true)
    }
}

fn used_with(db: &Connection) -> Result<Option<(Layout, Partition)>, Fault> {
    let sql = "SELECT time_bits, worker_bits, sequence_bits, tick_ms, epoch_ms, partition_index, partition_of \
               FROM uidring_layout";
    let used_with = |row: &Row<'_>| {
        let layout =
            table::layout_of([row.get(0)?, row.get(1)?, row.get(2)?], row.get(3)?, row.get(4)?);
        let partition = Partition { index: row.get(5)?, of: row.get(6)? };
        Ok(layout.map(|layout| (layout, partition)))
    };
    match db.query_row(sql, [], used_with).optional()? {
        Some(None) => Err(Fault::Problem(NO_LAYOUT.into())),
        None => Ok(None),
        Some(used_with) => Ok(used_with),
    }
}

/// The number that AUTOINCREMENT adds one to.
fn largest_given(db: &Connection) -> rusqlite::Result<u64> {
    let sql = "SELECT max(ifnull((SELECT max(id) FROM worker_node), 0), \
               ifnull((SELECT max(seq) FROM sqlite_sequence WHERE name = 'worker_node'), 0))";
    db.query_row(sql, [], |row| row.get(0))
}

/// The time by SQLite, in milliseconds since 1970. It decides when an id is free; not what its
/// holders may use.
fn now_ms(db: &Connection) -> rusqlite::Result<i64> {
    let sql = "SELECT CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER)";
    db.query_row(sql, [], |row| row.get(0))
}

fn worker(row: &Row<'_>) -> rusqlite::Result<Worker> {
    let time = |column| {
        let ms = row.get(column)?;
        from_unix_ms(ms).ok_or(rusqlite::Error::IntegralValueOutOfRange(column, ms))
    };
    let (kind, until) = (row.get(3)?, row.get::<_, Option<i64>>(7)?);
    let lease = |_| {
        let (holder, reserved_until) = (row.get(5)?, row.get::<_, Option<u64>>(6)?.unwrap_or(0));
        Ok::<_, rusqlite::Error>(WorkerLease { holder, reserved_until, until: time(7)? })
    };
    Ok(Worker {
        id: row.get(0)?,
        host_name: row.get(1)?,
        port: row.get(2)?,
        kind: WorkerKind::from_code(kind)
            .ok_or(rusqlite::Error::IntegralValueOutOfRange(3, kind))?,
        launched: time(4)?,
        created: time(8)?,
        lease: until.map(lease).transpose()?,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    /// No one outside can see this, and a power failure is hard to come by: a start is only durable
    /// with the journal gone for good when `commit` returns.
    #[test]
    fn a_commit_is_on_the_disk_when_it_returns() {
        let dir = tempfile::tempdir().unwrap();
        let registry = SqliteRegistry::open(dir.path().join("uidring.db")).unwrap();
        let db = registry.connect(OpenFlags::empty()).ok().unwrap();
        let extra = 3;
        assert_eq!(db.query_row("PRAGMA synchronous", [], |row| row.get(0)), Ok(extra));
        assert_eq!(db.query_row("PRAGMA fullfsync", [], |row| row.get(0)), Ok(1));
        assert_eq!(
            db.query_row("PRAGMA journal_mode", [], |row| row.get(0)),
            Ok("delete".to_owned())
        );
    }

    #[test]
    fn a_full_disk_is_called_so() {
        let registry = SqliteRegistry::at(Path::new("/var/lib/uidring.db")).unwrap();
        let full = rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_FULL), None);
        assert_eq!(
            registry.explain("store a worker id in", full.into()).to_string(),
            "the disk of the registry /var/lib/uidring.db is full: make room and start again; nothing was used up"
        );
    }
}

//! Worker ids from a SQLite file.

use std::path::Path;

use super::sql_registry::SqlRegistry;
use super::worker_table::Tables;
use crate::backend::sql::{
    Access, Database, Deadline, ErrorPhrases, FileSharing, Schema, Sqlite, VERSION,
    is_our_worker_node,
};
use crate::registry::RegistryError;

/// Worker ids from a SQLite file, for all processes of one machine.
///
/// Every start of a generator inserts a row into the table `worker_node` with the next key by
/// AUTOINCREMENT, one more than any before. That key is its worker id. The first is 1.
///
/// ```no_run
/// use uidring::UidGenerator;
/// use uidring::registry::SqliteRegistry;
///
/// let uids = UidGenerator::builder().registry(SqliteRegistry::open("/srv/uidring.db")?).build()?;
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
/// * At rest the file is all there is. If somebody has put it into WAL mode, it is put back to a
///   rollback journal before an id is given; while a program keeps it in that mode, none is given.
///   Nor is one where another program has tables in the file, whose choice the mode is.
///
/// They rest on the file: putting back an old copy of it, or using a copy on a second machine,
/// gives ids again. So does a start that finds no file and makes one. A container has a file system
/// of its own: put the file on a volume of the machine's disk, which its programs share. A file
/// with a second name, by a hard link or a mount of the file alone, is refused. A process that runs
/// takes no id from another file than the one that gave its ids.
///
/// Machines that share a registry need a server. A network file system whose locks do not work
/// gives ids again: so, on Linux, a file on NFS, SMB, 9p, Ceph, GlusterFS, Lustre or another one is
/// refused. [`Store::open`](crate::Store::open) takes it at an address that permits it, see
/// [`store`](crate::store).
///
/// SQLite's locks of the file are those of the process. So, on a Unix, each call also locks a file
/// of its own, such as `uidring.db-lock`, which lies beside the registry during the call: copies of
/// this library in one process, as in two applications of one Java server, keep out each other as
/// processes do. A program that opens the file in another way than by this library, such as to copy
/// it, and closes it again, drops SQLite's locks of its own calls that are under way, so that other
/// programs than this library may write in between: do that from another process.
///
/// # Cost
///
/// A start is one transaction with five syncs of the disk, a few milliseconds on most. The file is
/// open during a call only: a running generator holds no file, no lock and no connection, and a
/// `fork` inherits none, unless another thread is in the middle of a call. SQLite may then not work
/// in the child, so a program that forks should do so when its generators have been built.
pub type SqliteRegistry = SqlRegistry<Sqlite>;

impl SqlRegistry<Sqlite> {
    /// The registry in the file `path`, which is made if it does not exist.
    ///
    /// The tables are made too, by the file `schema.sql`, beside those of another program if it has
    /// some in the file; many processes may do so at once. The directory must exist.
    ///
    /// ```no_run
    /// # use uidring::registry::SqliteRegistry;
    /// let registry = SqliteRegistry::open("/var/lib/orders/uidring.db")?;
    /// # Ok::<(), uidring::RegistryError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`RegistryError::Storage`] says what is wrong with the file and what to do; or that the disk
    /// is full or failed, or that others have kept the file locked for five seconds.
    pub fn open(path: impl AsRef<Path>) -> Result<SqliteRegistry, RegistryError> {
        let registry = SqliteRegistry::at(path.as_ref())?;
        registry.make()?;
        Ok(registry)
    }

    /// Makes the file and its tables where they are missing. Once they have been seen, they are not
    /// made anew.
    pub(crate) fn make(&self) -> Result<(), RegistryError> {
        if self.client.has_seen_tables() {
            return self.check();
        }
        let deadline = Deadline::after(self.client.timeout);
        let file = &self.client.database;
        let created = file.create(&Sqlite::SCHEMA, Access::Write, FileSharing::Shared, &deadline);
        created.map_err(|error| self.call_error("make the tables of the registry", error))?;
        Ok(())
    }

    /// The registry in the file `path`, which exists. Nothing is written, and a file that may only
    /// be read will do for reading.
    ///
    /// ```
    /// # use uidring::registry::SqliteRegistry;
    /// let error = SqliteRegistry::open_existing("/nowhere/uidring.db").unwrap_err();
    /// assert!(error.to_string().starts_with("cannot use the registry /nowhere/uidring.db: "));
    /// ```
    ///
    /// # Errors
    ///
    /// As [`open`](SqliteRegistry::open); [`RegistryError::Storage`] also when there is no such
    /// file.
    pub fn open_existing(path: impl AsRef<Path>) -> Result<SqliteRegistry, RegistryError> {
        let registry = SqliteRegistry::at(path.as_ref())?;
        registry.check()?;
        Ok(registry)
    }

    fn at(path: &Path) -> Result<SqliteRegistry, RegistryError> {
        SqlRegistry::new(&path.display().to_string(), Sqlite::at(path))
    }
}

impl Tables for Sqlite {
    const SCHEMA: Schema = Schema {
        sql: Self::TABLES,
        version: VERSION,
        tables: &["uidring_layout", "worker_node"],
        witness: concat!(
            "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND ",
            is_our_worker_node!()
        ),
    };
    const WORKERS: &'static str = "worker_node";
    const IS_FILE: bool = true;

    // The version has been looked at when the file was opened.
    const READ_STATE: &'static str = "SELECT 4, \
        time_bits, worker_bits, sequence_bits, worker_first, tick_ms, epoch_ms, ids_from, ids_to \
        FROM uidring_layout";
    const WRITE_STATE: &'static str = "INSERT INTO uidring_layout (id, time_bits, worker_bits, \
        sequence_bits, worker_first, tick_ms, epoch_ms, ids_from, ids_to) \
        VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?)";
    // The number that AUTOINCREMENT adds one to.
    const LARGEST_GIVEN: &'static str = "SELECT max( \
        ifnull((SELECT max(id) FROM worker_node), 0), \
        ifnull((SELECT max(seq) FROM sqlite_sequence WHERE name = 'worker_node'), 0)), {now}";

    const PHRASES: ErrorPhrases = ErrorPhrases {
        subject: "the registry",
        missing_tables: "it is empty; if it has just been put there, start a generator with it, \
            otherwise find out who emptied it",
        incompatible_tables: "its tables are not those of schema.sql; give the registry a file of \
            its own",
        not_a_database: "give the registry a file of its own",
        unrelated_tables: "start a generator with it, which makes them",
        permissions: "",
    };
}

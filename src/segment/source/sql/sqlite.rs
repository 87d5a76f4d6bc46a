//! Numbers of tags from a SQLite file.

use std::path::Path;

use super::leaf::Leaf;
use super::own_table::Own;
use super::sql_segments::SqlSegments;
use super::table::{Table, Tables};
use super::tinyid::TinyId;
use crate::backend::sql::{
    Access, Database, Deadline, Error, ErrorPhrases, FileSharing, Schema, Session, Sqlite, VERSION,
};
use crate::segment::SegmentError;

/// Numbers of tags from a SQLite file, for all processes of one machine.
///
/// The file may be that of a [`SqliteRegistry`](crate::registry::SqliteRegistry), too.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let file = folder.path().join("uidring.db");
/// use uidring::segment::{SegmentSource, SqliteSegments, Tag};
///
/// let source = SqliteSegments::open(&file)?;
/// source.create("orders", &Tag::new().step(500))?;
/// let segment = source.load("orders", None)?;
/// assert_eq!((segment.first, segment.count), (1, 500));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// [`SqlSegments`] says what it guarantees. A network file system whose locks do not work, or a
/// copy of the file on a second machine, gives numbers twice; machines that share tags need a
/// server. The file is open during a call only. If somebody has put it into WAL mode, it is put
/// back to a rollback journal before numbers are given, as by a
/// [`SqliteRegistry`](crate::registry::SqliteRegistry); where another program has tables in it,
/// no numbers are given in WAL mode.
pub type SqliteSegments<T = Own> = SqlSegments<Sqlite, T>;

impl SqlSegments<Sqlite> {
    /// The tags in the file `path`, which is made if it does not exist.
    ///
    /// The tables are made too, by the file `schema.sql`; many processes may do so at once. The
    /// directory must exist. The file may hold the tables of another program. Where one of them is
    /// that of [`leaf`](SqlSegments::leaf) or [`tinyid`](SqlSegments::tinyid), no other table is
    /// made beside it.
    ///
    /// # Errors
    ///
    /// [`SegmentError::Storage`] says what is wrong with the file and what to do; or that the disk
    /// is full or failed, or that others have kept the file locked for five seconds.
    pub fn open(path: impl AsRef<Path>) -> Result<SqliteSegments, SegmentError> {
        let source = SqliteSegments::at(path.as_ref())?;
        source.make()?;
        Ok(source)
    }

    /// Makes the file and its tables where they are missing. Once they have been seen, they are not
    /// made anew.
    pub(crate) fn make(&self) -> Result<(), SegmentError> {
        if self.client.has_seen_tables() {
            return self.check();
        }
        let deadline = Deadline::after(self.client.timeout);
        let create =
            |beside| self.client.database.create(&Sqlite::OWN, Access::Write, beside, &deadline);
        let created = match create(FileSharing::Exclusive) {
            // Whoever uses those tables asks for no others.
            Err(Error::UnrelatedTables) if self.has_others(&deadline) => Ok(false),
            Err(Error::UnrelatedTables) => create(FileSharing::Shared),
            created => created,
        };
        if created.map_err(|error| self.call_error("make the tables of", error))? {
            self.client.warn_if_new();
        }
        Ok(())
    }

    /// The tags in the file `path`, which exists. Nothing is written, and a file that may only be
    /// read will do for reading.
    ///
    /// ```
    /// # use uidring::segment::SqliteSegments;
    /// let error = SqliteSegments::open_existing("/nowhere/uidring.db").unwrap_err();
    /// assert!(error.to_string().starts_with("cannot use the tags in /nowhere/uidring.db: "));
    /// ```
    ///
    /// # Errors
    ///
    /// As [`open`](SqliteSegments::open); [`SegmentError::Storage`] also when there is no such
    /// file.
    pub fn open_existing(path: impl AsRef<Path>) -> Result<SqliteSegments, SegmentError> {
        let source = SqliteSegments::at(path.as_ref())?;
        source.check()?;
        Ok(source)
    }

    /// Looks whether the file has tables of this library's, of Leaf's or of tinyid's, and nothing
    /// more.
    pub(crate) fn check(&self) -> Result<(), SegmentError> {
        let deadline = Deadline::after(self.client.timeout);
        match self.look_for::<Own>(&deadline) {
            Err(Error::UnrelatedTables) if self.has_others(&deadline) => Ok(()),
            looked => looked.map_err(|error| self.call_error("open", error)),
        }
    }

    fn has_others(&self, deadline: &Deadline) -> bool {
        self.has::<Leaf>(deadline) || self.has::<TinyId>(deadline)
    }

    fn at(path: &Path) -> Result<SqliteSegments, SegmentError> {
        SqlSegments::new(&path.display().to_string(), Sqlite::at(path))
    }

    /// Looks whether the file has the table `T`, and nothing more.
    fn look_for<T: Table>(&self, deadline: &Deadline) -> Result<(), Error> {
        self.client.database.connect(T::schema::<Sqlite>(), deadline)?.begin(Access::Read)
    }

    fn has<T: Table>(&self, deadline: &Deadline) -> bool {
        self.look_for::<T>(deadline).is_ok()
    }
}

impl Tables for Sqlite {
    const OWN: Schema = Schema {
        sql: Self::TABLES,
        version: VERSION,
        tables: &["uidring_segment"],
        witness: "SELECT count(*) FROM sqlite_master WHERE type = 'table' \
                  AND name = 'uidring_segment'",
    };
    const OWN_PHRASES: ErrorPhrases = ErrorPhrases {
        subject: "the tags in",
        missing_tables: "it is empty; if it has just been put there, create a tag in it, otherwise \
            find out who emptied it",
        incompatible_tables: "its tables are not those of schema.sql; give the tags a file of \
            their own",
        not_a_database: "give the tags a file of their own",
        unrelated_tables: "give the tags a file of their own",
        permissions: "",
    };
    const MS_OF: &'static str = "CAST(strftime('%s', {}) AS INTEGER) * 1000";
}

//! [`Table`]: what differs between the tables of tags, our own and those of others.
//!
//! A load is one transaction: it reads the row and locks it, and writes the new end. So two that
//! load the same tag come one after the other, and the second one reads what the first has written.
//! Leaf's and tinyid's own servers lock the same row by their `UPDATE`, and fit in between.

use std::fmt::Debug;

use super::columns::row_of;
use crate::backend::sql::{
    self, Database, Error, ErrorPhrases, Schema, Transaction, VERSION, Value,
};
use crate::segment::SegmentError;
use crate::segment::source::row::{Counting, Range, Row, last_before};

/// Why a transaction failed: the database did, or the source refuses.
pub type Fault = sql::Fault<SegmentError>;

/// A database that has tables of tags.
pub trait Tables: Database {
    /// The tables of this library, those for tags among them.
    const OWN: Schema = Schema {
        sql: Self::TABLES,
        version: VERSION,
        tables: &["uidring_layout", "uidring_segment"],
        witness: "",
    };
    /// Returns the version of the tables.
    // The last column is there for its table, which the schemas make last: a transaction that sees
    // it sees all that is made before.
    const OWN_VERSION: &'static str = "SELECT (SELECT version FROM uidring_layout WHERE id = 1), \
        (SELECT COUNT(*) FROM uidring_segment WHERE 1 = 0)";
    /// What is wrong with the tables of this library, and what to do.
    const OWN_PHRASES: ErrorPhrases = ErrorPhrases {
        subject: "the tags in",
        missing_tables: "its tables are not there; create a tag, which makes them",
        incompatible_tables: "its table uidring_segment is not that of the schema; use the uidring \
            that made it, or give the tags a database of their own",
        not_a_database: "give the tags a file of their own",
        unrelated_tables: "",
        permissions: "give this user the rights to select and update in its table uidring_segment \
            and to select in uidring_layout, and to insert and delete for changes of tags",
    };
    /// The milliseconds since 1970 of the timestamp `{}`.
    const MS_OF: &'static str;
    /// Whether a column may be a timestamp that the database sets when it changes a row.
    const SETS_TIMESTAMPS: bool = false;
}

/// A table of tags.
pub trait Table: Clone + Debug + Send + Sync + 'static {
    const NAME: &'static str;
    /// The column of the tag.
    const TAG: &'static str;
    /// The most characters of a tag.
    const WIDTH: usize;
    const COUNTING: Counting;
    /// Tag, end, step, largest step, delta, remainder, version, key: what a load reads.
    const COLUMNS: &'static str;
    /// The column of the key, which is another number in a row of the same tag that is made later.
    /// `None` where there is no such column, and the key is 0.
    const KEY: Option<&'static str> = None;
    /// The description, or `NULL`.
    const DESCRIPTION: &'static str;
    /// The time of the last change in milliseconds since 1970, as one kind of database writes it.
    fn updated<D: Tables>() -> String;
    /// Sets the end to the first value, where the row has the tag and the end that follow.
    const SET_END: &'static str;
    /// What is set with every change of a row by an operator, begun by a comma.
    const TOUCH: &'static str;
    /// Whether there is a column for the most numbers at once.
    const HAS_MAX_STEP: bool = false;
    /// Whether it has the columns `delta` and `remainder`, by which databases share the numbers.
    const INTERLEAVES: bool = false;
    /// The largest step that its column holds.
    const LARGEST_STEP: u64 = i64::MAX.unsigned_abs();
    /// Counts the tags whose numbers are shared with other databases. `None` where none can be.
    const SHARED: Option<&'static str> = None;
    fn schema<D: Tables>() -> &'static Schema;
    fn phrases<D: Tables>() -> &'static ErrorPhrases;

    /// The end of a row whose next number is `number`.
    fn end_before(number: u64) -> i64 {
        last_before(number).saturating_add(Self::COUNTING.ahead)
    }

    /// Returns the version of the tables, where there is one.
    fn version<D: Tables>() -> Option<&'static str> {
        None
    }

    /// Takes the numbers of `range`. Returns whether the row was as it was read.
    fn take(transaction: &mut Transaction<'_>, row: &Row, range: Range) -> Result<bool, Error>;

    /// The statement that inserts a row, and its values.
    fn insert(row: &Row, description: Option<&str>) -> (&'static str, Vec<Value>);

    /// The columns that are read, in capitals, by which the table is known.
    const READ: &'static [&'static str];

    /// The last number that the row of `tag` has given, if there is one.
    fn last_given(transaction: &mut Transaction<'_>, tag: &str) -> Result<Option<u64>, Error> {
        if !transaction.has(Self::NAME, Self::READ)? {
            return Ok(None);
        }
        let (columns, name, key) = (Self::COLUMNS, Self::NAME, Self::TAG);
        let sql = format!("SELECT {columns} FROM {name}");
        // MySQL refuses to compare other characters with a column that cannot hold them, and such a
        // table has few rows.
        let rows = if tag.is_ascii() {
            transaction.rows(&format!("{sql} WHERE {key} = ?"), &[tag.into()])?
        } else {
            transaction.rows(&sql, &[])?
        };
        // A row of another form gives no numbers.
        let mut rows = rows.iter().filter_map(|columns| row_of(columns, Self::COUNTING).ok());
        Ok(rows.find(|row| row.tag == tag).and_then(|row| u64::try_from(row.last).ok()))
    }
}

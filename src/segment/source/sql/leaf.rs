//! The table `leaf_alloc` of Meituan's Leaf.
//!
//! Its `max_id` is the next number: a process that adds `n` has the numbers from the old value to
//! one less than the new one. Leaf makes the same two statements in one transaction, and nothing
//! else, so servers with Leaf may go on beside this library.

use super::table::{Table, Tables};
use crate::backend::sql::{Error, ErrorPhrases, Schema, Transaction, Value};
use crate::segment::source::row::{Counting, Range, Row};

/// Leaf's table. It is Leaf's to make, and is not altered.
#[derive(Clone, Copy, Debug)]
pub enum Leaf {}

const SCHEMA: Schema = Schema {
    sql: "",
    version: 0,
    tables: &["leaf_alloc"],
    witness: "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'leaf_alloc'",
};

const PHRASES: ErrorPhrases = ErrorPhrases {
    subject: "the tags in",
    missing_tables: "its table leaf_alloc is not there; name the database that Leaf uses, or take \
        numbers from this library's own table",
    incompatible_tables: "its table leaf_alloc does not have the columns of Leaf's, with these \
        types",
    not_a_database: "give the path of the one with the table leaf_alloc",
    unrelated_tables: "",
    permissions: "give this user the rights to select and update in its table leaf_alloc, and to \
        insert and delete for changes of tags",
};

impl Table for Leaf {
    const READ: &'static [&'static str] = &["BIZ_TAG", "MAX_ID", "STEP"];
    const NAME: &'static str = "leaf_alloc";
    const TAG: &'static str = "biz_tag";
    const WIDTH: usize = 128;
    const COUNTING: Counting = Counting { end: "max_id", ahead: 1, whole_steps: false };
    const COLUMNS: &'static str = "biz_tag, max_id, step, NULL, 1, 0, 0, 0";
    const DESCRIPTION: &'static str = "description";
    const SET_END: &'static str =
        "UPDATE leaf_alloc SET max_id = ? WHERE biz_tag = ? AND max_id = ?";
    // MySQL sets `update_time` by itself.
    const TOUCH: &'static str = "";
    // The column is an `int` in the original table, even where a database would hold more.
    const LARGEST_STEP: u64 = (1 << 31) - 1;

    fn schema<D: Tables>() -> &'static Schema {
        &SCHEMA
    }

    fn phrases<D: Tables>() -> &'static ErrorPhrases {
        &PHRASES
    }

    fn updated<D: Tables>() -> String {
        // Other databases set it only when the row is inserted.
        if D::SETS_TIMESTAMPS { D::MS_OF.replace("{}", "update_time") } else { "NULL".to_owned() }
    }

    fn take(transaction: &mut Transaction<'_>, row: &Row, range: Range) -> Result<bool, Error> {
        let tag = row.tag.as_str();
        let length = range.last - row.last;
        let add = "UPDATE leaf_alloc SET max_id = max_id + ? WHERE biz_tag = ?";
        transaction.write(add, &[length.into(), tag.into()])?;
        let read_back = "SELECT biz_tag, max_id, step FROM leaf_alloc WHERE biz_tag = ?";
        let row = transaction.rows(read_back, &[tag.into()])?.pop().unwrap_or_default();
        Ok(matches!(row[..], [_, Value::Int(end), _] if end == range.last + 1))
    }

    fn insert(row: &Row, description: Option<&str>) -> (&'static str, Vec<Value>) {
        let sql = "INSERT INTO leaf_alloc (biz_tag, max_id, step, description) VALUES (?, ?, ?, ?)";
        let values = vec![
            row.tag.as_str().into(),
            (row.last + 1).into(),
            row.step.into(),
            description.map_or(Value::Null, Value::from),
        ];
        (sql, values)
    }
}

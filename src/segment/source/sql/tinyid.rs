//! The table `tiny_id_info` of tinyid.
//!
//! A process that sets `max_id` from `a` to `b` has those of the numbers after `a`, up to `b`, that
//! leave `remainder` when they are divided by `delta`. Its `UPDATE` has the row's version among its
//! conditions, as tinyid's servers have it, which may go on beside this library. They try three
//! times where another was first. Here the row is locked before it is read, so nobody can be first.

use super::table::{Table, Tables};
use crate::backend::sql::{Error, ErrorPhrases, Schema, Transaction, Value};
use crate::segment::source::row::{Counting, Range, Row};

/// tinyid's table. It is tinyid's to make, and is not altered.
#[derive(Clone, Copy, Debug)]
pub enum TinyId {}

const SCHEMA: Schema = Schema {
    sql: "",
    version: 0,
    tables: &["tiny_id_info"],
    witness: "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'tiny_id_info'",
};

const PHRASES: ErrorPhrases = ErrorPhrases {
    subject: "the tags in",
    missing_tables: "its table tiny_id_info is not there; name the database that tinyid uses, or \
        take numbers from this library's own table",
    incompatible_tables: "its table tiny_id_info does not have the columns of tinyid's, with these \
        types",
    not_a_database: "give the path of the one with the table tiny_id_info",
    unrelated_tables: "",
    permissions: "give this user the rights to select and update in its table tiny_id_info, and to \
        insert and delete for changes of tags",
};

impl Table for TinyId {
    const READ: &'static [&'static str] =
        &["BIZ_TYPE", "MAX_ID", "STEP", "DELTA", "REMAINDER", "VERSION", "ID"];
    const NAME: &'static str = "tiny_id_info";
    const TAG: &'static str = "biz_type";
    const WIDTH: usize = 63;
    const COUNTING: Counting = Counting { end: "max_id", ahead: 0, whole_steps: true };
    const COLUMNS: &'static str = "biz_type, max_id, step, NULL, delta, remainder, version, id";
    const KEY: Option<&'static str> = Some("id");
    const DESCRIPTION: &'static str = "NULL";
    const SET_END: &'static str = "UPDATE tiny_id_info SET max_id = ?, \
        update_time = CURRENT_TIMESTAMP, version = version + 1 WHERE biz_type = ? AND max_id = ?";
    const TOUCH: &'static str = ", update_time = CURRENT_TIMESTAMP, version = version + 1";
    const INTERLEAVES: bool = true;
    // But for the sample that comes with tinyid.
    const SHARED: Option<&'static str> =
        Some("SELECT COUNT(*) FROM tiny_id_info WHERE delta <> 1 AND biz_type <> 'test_odd'");
    // The column is an `int` in the original table, even where a database would hold more.
    const LARGEST_STEP: u64 = (1 << 31) - 1;

    fn schema<D: Tables>() -> &'static Schema {
        &SCHEMA
    }

    fn phrases<D: Tables>() -> &'static ErrorPhrases {
        &PHRASES
    }

    fn updated<D: Tables>() -> String {
        D::MS_OF.replace("{}", "update_time")
    }

    fn take(transaction: &mut Transaction<'_>, row: &Row, range: Range) -> Result<bool, Error> {
        let sql = "UPDATE tiny_id_info SET max_id = ?, update_time = CURRENT_TIMESTAMP, \
                   version = version + 1 \
                   WHERE id = ? AND max_id = ? AND version = ? AND biz_type = ?";
        let values = [
            range.last.into(),
            row.key.into(),
            row.last.into(),
            row.version.into(),
            row.tag.as_str().into(),
        ];
        Ok(transaction.write(sql, &values)? == 1)
    }

    fn insert(row: &Row, _: Option<&str>) -> (&'static str, Vec<Value>) {
        let sql = "INSERT INTO tiny_id_info (biz_type, begin_id, max_id, step, delta, remainder, \
                   create_time, update_time, version) \
                   VALUES (?, ?, ?, ?, ?, ?, CURRENT_TIMESTAMP, CURRENT_TIMESTAMP, 1)";
        let values = vec![
            row.tag.as_str().into(),
            row.last.into(),
            row.last.into(),
            row.step.into(),
            row.delta.into(),
            row.remainder.into(),
        ];
        (sql, values)
    }
}

//! The table `uidring_segment`, our own.

use super::table::{Table, Tables};
use crate::backend::sql::{Error, ErrorPhrases, Schema, Transaction, Value};
use crate::segment::source::row::{Counting, Range, Row};

/// Our own table, `uidring_segment`.
///
/// It has no delta: numbers are interleaved where several databases give numbers of one tag, and
/// ours is one.
#[derive(Clone, Copy, Debug)]
pub enum Own {}

impl Table for Own {
    const READ: &'static [&'static str] = &["TAG", "LAST_NUMBER", "STEP", "MAX_STEP", "CREATED"];
    const NAME: &'static str = "uidring_segment";
    const TAG: &'static str = "tag";
    const WIDTH: usize = 128;
    const COUNTING: Counting = Counting { end: "last_number", ahead: 0, whole_steps: false };
    const COLUMNS: &'static str = "tag, last_number, step, max_step, 1, 0, 0, created";
    const KEY: Option<&'static str> = Some("created");
    const DESCRIPTION: &'static str = "description";
    const SET_END: &'static str = "UPDATE uidring_segment SET last_number = ?, modified = {now} \
        WHERE tag = ? AND last_number = ?";
    const TOUCH: &'static str = ", modified = {now}";
    const HAS_MAX_STEP: bool = true;

    fn schema<D: Tables>() -> &'static Schema {
        &D::OWN
    }

    fn phrases<D: Tables>() -> &'static ErrorPhrases {
        &D::OWN_PHRASES
    }

    fn version<D: Tables>() -> Option<&'static str> {
        Some(D::OWN_VERSION)
    }

    fn updated<D: Tables>() -> String {
        "modified".to_owned()
    }

    fn take(transaction: &mut Transaction<'_>, row: &Row, range: Range) -> Result<bool, Error> {
        let values = [range.last.into(), row.tag.as_str().into(), row.last.into()];
        Ok(transaction.write(Self::SET_END, &values)? == 1)
    }

    fn insert(row: &Row, description: Option<&str>) -> (&'static str, Vec<Value>) {
        let sql = "INSERT INTO uidring_segment \
                   (tag, last_number, step, max_step, description, modified, created) \
                   VALUES (?, ?, ?, ?, ?, {now}, {now})";
        let values = vec![
            row.tag.as_str().into(),
            row.last.into(),
            row.step.into(),
            row.max_step.map_or(Value::Null, Value::Int),
            description.map_or(Value::Null, Value::from),
        ];
        (sql, values)
    }
}

//! The columns of a tag's row, as a database answers them.

use crate::backend::sql::{Cause, Error, Value};
use crate::clock::from_unix_ms;
use crate::segment::TagRecord;
use crate::segment::source::row::{Counting, Row};

/// What the first columns of a row are: see `Table::COLUMNS`.
const LOADED: usize = 8;

/// The row with these columns.
pub fn row_of(columns: &[Value], counting: Counting) -> Result<Row, Error> {
    let [Value::Text(tag), numbers @ ..] = columns else {
        return Err(unexpected("the column of the tag", columns.first()));
    };
    let number = |index: usize, name: &str| match numbers.get(index) {
        Some(Value::Int(number)) => Ok(*number),
        // A step may be NULL in tinyid's table, and is no step then.
        Some(Value::Null) if name == "step" => Ok(0),
        other => Err(unexpected(&format!("the column {name}"), other)),
    };
    let end = number(0, counting.end)?;
    Ok(Row {
        tag: tag.clone(),
        last: end.saturating_sub(counting.ahead),
        step: number(1, "step")?,
        max_step: match numbers.get(2) {
            Some(Value::Null) => None,
            _ => Some(number(2, "max_step")?),
        },
        delta: number(3, "delta")?,
        remainder: number(4, "remainder")?,
        version: number(5, "version")?,
        key: number(6, "key")?,
    })
}

/// The record of all columns of a row.
pub fn record(columns: &[Value], counting: Counting) -> Result<TagRecord, Error> {
    let row = row_of(columns, counting)?;
    let description = match columns.get(LOADED) {
        Some(Value::Text(text)) => Some(text.clone()),
        _ => None,
    };
    let updated = match columns.get(LOADED + 1) {
        Some(Value::Int(ms)) => from_unix_ms((*ms).into()),
        _ => None,
    };
    Ok(row.record(description, updated))
}

fn unexpected(what: &str, found: Option<&Value>) -> Error {
    let found = match found {
        Some(Value::Text(text)) => format!("the text {text:?}"),
        Some(Value::Int(number)) => format!("the number {number}"),
        Some(Value::Null) | None => "nothing".to_owned(),
    };
    Error::IncompatibleTables(Some(Cause::from(format!("{what} holds {found}"))))
}

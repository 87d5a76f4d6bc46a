//! The table of requests and their answers.

use crate::backend::sql::{Cause, Error, Row, Transaction, Value};
use crate::series::store::Remembered;

/// Whether a row is older than a day.
const IS_OLD: &str = "created < {now} - 86400000";
/// The one row with these two values.
const ITS_KEY: &str = "series = ? AND request = ?";
/// How many old rows a call removes at most: more than the one that it adds.
const REMOVED: usize = 100;

/// The answer to this request, if one is there that is not too old.
pub(super) fn find(
    transaction: &mut Transaction<'_>,
    series: &str,
    request: &str,
) -> Result<Option<Remembered>, Error> {
    let sql =
        format!("SELECT asked, answer FROM uidring_request WHERE {ITS_KEY} AND NOT ({IS_OLD})");
    let rows = transaction.rows(&sql, &[series.into(), request.into()])?;
    rows.first().map(remembered).transpose()
}

/// Stores the answer to this request, unless one is there. Returns that which is there then. Fails
/// for a moment where another process stores one at the same time.
pub(super) fn store(
    transaction: &mut Transaction<'_>,
    series: &str,
    request: &str,
    new: &Remembered,
) -> Result<Remembered, Error> {
    if let Some(there) = find(transaction, series, request)? {
        return Ok(there);
    }
    let Remembered { asked, answer } = new;
    let values: [Value; 4] =
        [asked.as_str().into(), answer.as_str().into(), series.into(), request.into()];
    let replace = format!(
        "UPDATE uidring_request SET asked = ?, answer = ?, created = {{now}} \
         WHERE {ITS_KEY} AND {IS_OLD}"
    );
    if transaction.write(&replace, &values)? == 0 {
        let insert = "INSERT INTO uidring_request (asked, answer, series, request, created) \
                      VALUES (?, ?, ?, ?, {now})";
        transaction.write(insert, &values)?;
    }
    remove_old(transaction)?;
    Ok(new.clone())
}

/// Removes answers that nobody asks for any more.
fn remove_old(transaction: &mut Transaction<'_>) -> Result<(), Error> {
    // All processes in one order, so that none waits for another that waits for it.
    let sql = format!(
        "SELECT series, request FROM uidring_request WHERE {IS_OLD} \
         ORDER BY created, series, request LIMIT {REMOVED}"
    );
    for key in transaction.rows(&sql, &[])? {
        let sql = format!("DELETE FROM uidring_request WHERE {ITS_KEY} AND {IS_OLD}");
        transaction.write(&sql, &key)?;
    }
    Ok(())
}

fn remembered(row: &Row) -> Result<Remembered, Error> {
    match &row[..] {
        [Value::Text(asked), Value::Text(answer)] => {
            Ok(Remembered { asked: asked.clone(), answer: answer.clone() })
        }
        other => {
            let problem = format!("a row of uidring_request holds {other:?}");
            Err(Error::IncompatibleTables(Some(Cause::from(problem))))
        }
    }
}

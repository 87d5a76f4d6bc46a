//! The records of worker ids in a database, for operators.

use std::time::SystemTime;

use super::worker_table::{Tables, incompatible_tables, rows};
use crate::backend::sql::{Error, Row, Transaction, Value, limit};
use crate::clock::{from_unix_ms, saturated, unix_ms};
use crate::registry::admin::{LeaseRecord, WorkerCounts, WorkerKind, WorkerRecord};

const COLUMNS: &str = "id, host_name, port, type, launch_date, holder, reserved_until, \
                       lease_until, created";

/// The rows of the table of workers.
pub(super) fn workers<D: Tables>(
    transaction: &mut Transaction<'_>,
) -> Result<Vec<WorkerRecord>, Error> {
    let sql = format!("SELECT {COLUMNS} FROM {{workers}} ORDER BY id");
    records(rows::<D>(transaction, &sql, &[])?)
}

/// The rows of the ids below `end`, the largest first, and at most `most`.
pub(super) fn workers_below<D: Tables>(
    transaction: &mut Transaction<'_>,
    end: u64,
    most: usize,
) -> Result<Vec<WorkerRecord>, Error> {
    let sql = format!(
        "SELECT {COLUMNS} FROM {{workers}} WHERE id < ? ORDER BY id DESC LIMIT {}",
        limit(most)
    );
    records(rows::<D>(transaction, &sql, &[end.into()])?)
}

pub(super) fn records(rows: Vec<Row>) -> Result<Vec<WorkerRecord>, Error> {
    rows.into_iter().map(|row| worker(row).ok_or_else(incompatible_tables)).collect()
}

/// How many rows there are.
pub(super) fn count_workers<D: Tables>(
    transaction: &mut Transaction<'_>,
    now: SystemTime,
) -> Result<WorkerCounts, Error> {
    let all = counts::<1, D>(transaction, "SELECT COUNT(*) FROM {workers}", &[])?;
    // Where leased ids are few, an index has them.
    let sql = "SELECT COUNT(*), COUNT(holder), \
               COUNT(CASE WHEN holder IS NOT NULL AND lease_until <= ? THEN 1 END) \
               FROM {workers} WHERE reserved_until IS NOT NULL AND lease_until IS NOT NULL";
    let now = saturated(unix_ms(now));
    let [leased, taken, expired] = counts::<3, D>(transaction, sql, &[now.into()])?;
    let sql = "SELECT created FROM {workers} ORDER BY id LIMIT 1";
    let first_created = match rows::<D>(transaction, sql, &[])?.pop().as_deref() {
        Some([Value::Int(ms)]) => from_unix_ms((*ms).into()),
        _ => None,
    };
    Ok(WorkerCounts {
        all: all[0],
        held: taken.saturating_sub(expired),
        expired,
        given_back: leased.saturating_sub(taken),
        first_created,
    })
}

/// The numbers in the one row of a query.
fn counts<const N: usize, D: Tables>(
    transaction: &mut Transaction<'_>,
    sql: &str,
    values: &[Value],
) -> Result<[u64; N], Error> {
    let row = rows::<D>(transaction, sql, values)?.pop().ok_or_else(incompatible_tables)?;
    let number = |value: &Value| value.int().and_then(|number| u64::try_from(number).ok());
    let numbers: Option<Vec<u64>> = row.iter().map(number).collect();
    numbers.and_then(|numbers| numbers.try_into().ok()).ok_or_else(incompatible_tables)
}

pub(super) fn worker(row: Row) -> Option<WorkerRecord> {
    let [id, host_name, port, kind, launched, holder, reserved_until, lease_until, created]: [Value;
        9] = row.try_into().ok()?;
    let number = |value: &Value| match value {
        Value::Int(number) => u64::try_from(*number).ok(),
        _ => None,
    };
    let time = |value: &Value| match value {
        Value::Int(ms) => from_unix_ms((*ms).into()),
        _ => None,
    };
    let text = |value: Value| match value {
        Value::Text(text) => Some(text),
        _ => None,
    };
    let lease = match (number(&reserved_until), time(&lease_until)) {
        (Some(reserved_until), Some(until)) => {
            Some(LeaseRecord { holder: text(holder), reserved_until, until })
        }
        _ => None,
    };
    Some(WorkerRecord {
        id: number(&id)?,
        host_name: text(host_name)?,
        port: text(port)?,
        kind: WorkerKind::from_code(i64::try_from(number(&kind)?).ok()?)?,
        launched: time(&launched)?,
        created: time(&created)?,
        lease,
    })
}

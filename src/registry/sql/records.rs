//! The records of worker ids in a database, for operators.

use super::worker_table::{Tables, incompatible_tables, rows};
use crate::backend::sql::{Error, Row, Transaction, Value};
use crate::clock::from_unix_ms;
use crate::registry::admin::{LeaseRecord, WorkerKind, WorkerRecord};

/// The rows of the table of workers.
pub(super) fn workers<D: Tables>(
    transaction: &mut Transaction<'_>,
) -> Result<Vec<WorkerRecord>, Error> {
    let sql = "SELECT id, host_name, port, type, launch_date, holder, reserved_until, lease_until, \
               created FROM {workers} ORDER BY id";
    let rows = rows::<D>(transaction, sql, &[])?;
    rows.into_iter().map(|row| worker(row).ok_or_else(incompatible_tables)).collect()
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

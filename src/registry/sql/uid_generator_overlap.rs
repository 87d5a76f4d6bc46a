//! Protection against using the same worker ids as the table `WORKER_NODE` of Baidu's
//! `UidGenerator`.

use std::ops::RangeInclusive;

use super::worker_table::{incompatible_tables, numbers_of};
use crate::backend::sql::{Error, Transaction, Value};
use crate::layout::Layout;
use crate::registry::RegistryError;
use crate::registry::assignment::Fault;

/// The columns that identify `UidGenerator`'s table.
const WORKER_NODE_COLUMNS: &[&str] = &["ID", "HOST_NAME", "PORT", "TYPE", "LAUNCH_DATE"];

/// The columns of this library's own table that say which ids it gives, and for which layout.
const UIDRING_COLUMNS: &[&str] = &[
    "TIME_BITS",
    "WORKER_BITS",
    "SEQUENCE_BITS",
    "WORKER_FIRST",
    "TICK_MS",
    "EPOCH_MS",
    "IDS_FROM",
    "IDS_TO",
];

/// Refuses a registry of this library that is to give `ids` if the table of `UidGenerator` is in
/// the same database. The layouts may be the same, and then equal worker ids give equal UIDs. Ids
/// chosen by the user are accepted if all of them are above those that the table has given.
pub fn refuse_shared_database(
    transaction: &mut Transaction<'_>,
    ids: &RangeInclusive<u64>,
    are_chosen: bool,
) -> Result<(), Fault> {
    if !transaction.has("WORKER_NODE", WORKER_NODE_COLUMNS)? {
        return Ok(());
    }
    let last = largest(transaction)?;
    let first = *ids.start();
    if are_chosen && first > last {
        return Ok(());
    }
    Err(Fault::Refused(RegistryError::BesideUidGenerator { first, last }))
}

/// Refuses `worker`, an id of that table, if a registry of this library in the same database may
/// give it for the same layout, or has given it: where the table is the newer of the two, its ids
/// begin at 1 again.
pub fn refuse_shared_id(
    transaction: &mut Transaction<'_>,
    layout: &Layout,
    worker: u64,
) -> Result<(), Fault> {
    if !transaction.has("uidring_layout", UIDRING_COLUMNS)? {
        return Ok(());
    }
    let sql = "SELECT ids_from, ids_to FROM uidring_layout WHERE time_bits = ? \
               AND worker_bits = ? AND sequence_bits = ? AND worker_first = ? AND tick_ms = ? \
               AND epoch_ms = ? AND ? BETWEEN ids_from AND ids_to";
    let mut values = numbers_of(layout).to_vec();
    values.push(worker.into());
    let row = transaction.rows(sql, &values)?.pop();
    let Some([Value::Int(from), Value::Int(to)]) = row.as_deref() else { return Ok(()) };
    Err(Fault::Database(Error::problem(format!(
        "its table WORKER_NODE has come to the id {worker}, and this library's own table \
         uidring_layout in the same database gives {from} to {to} for the same layout, so that \
         UIDs could be equal; take all worker ids from one of the two; or, if the UIDs of both \
         never meet, give one of them another database"
    ))))
}

/// The largest id that the table has given, or 0 if it has no row.
pub fn largest(transaction: &mut Transaction<'_>) -> Result<u64, Error> {
    let row = transaction.rows("SELECT MAX(ID) FROM WORKER_NODE", &[])?.pop();
    match row.as_deref() {
        Some([Value::Int(last)]) => u64::try_from(*last).map_err(|_| incompatible_tables()),
        _ => Ok(0),
    }
}

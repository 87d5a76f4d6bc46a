//! Protection against using the same worker ids as the table `WORKER_NODE` of Baidu's
//! `UidGenerator`.

use std::ops::RangeInclusive;

use super::RegistryError;
use super::rules::Fault;
use super::table::foreign_tables;
use crate::store::sql::{Error, Transaction, Value};

/// The columns that identify `UidGenerator`'s table.
const COLUMNS: &[&str] = &["ID", "HOST_NAME", "PORT", "TYPE", "LAUNCH_DATE"];

/// Refuses a registry of this library that is to give `ids` if the table of `UidGenerator` is in
/// the same database. The layouts may be the same, and then equal worker ids give equal UIDs. Ids
/// chosen by the user are accepted if all of them are above those that the table has given.
pub fn check_beside(
    transaction: &mut Transaction<'_>,
    ids: &RangeInclusive<u64>,
    are_chosen: bool,
) -> Result<(), Fault> {
    if !transaction.has("WORKER_NODE", COLUMNS)? {
        return Ok(());
    }
    let last = largest(transaction)?;
    let first = *ids.start();
    if are_chosen && first > last {
        return Ok(());
    }
    Err(Fault::Refused(RegistryError::BesideUidGenerator { first, last }))
}

/// The largest id that the table has given, or 0 if it has no row.
pub fn largest(transaction: &mut Transaction<'_>) -> Result<u64, Error> {
    let row = transaction.rows("SELECT MAX(ID) FROM WORKER_NODE", &[])?.pop();
    match row.as_deref() {
        Some([Value::Int(last)]) => u64::try_from(*last).map_err(|_| foreign_tables()),
        _ => Ok(0),
    }
}

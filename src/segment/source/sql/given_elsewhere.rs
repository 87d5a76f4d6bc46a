//! Whether a new tag would give what was given before, in this database or in others.

use super::leaf::Leaf;
use super::own_table::Own;
use super::table::{Fault, Table};
use super::tinyid::TinyId;
use crate::backend::sql::{Transaction, Value};
use crate::segment::SegmentError;
use crate::segment::source::row::Row;

/// Refuses a new tag in the table `T` of `store` whose numbers from `first` on have been given by
/// another table.
pub fn check_tables<T: Table>(
    transaction: &mut Transaction<'_>,
    store: &str,
    tag: &str,
    first: u64,
) -> Result<(), Fault> {
    check_table::<T, Own>(transaction, store, tag, first)?;
    check_table::<T, Leaf>(transaction, store, tag, first)?;
    check_table::<T, TinyId>(transaction, store, tag, first)
}

fn check_table<T: Table, Other: Table>(
    transaction: &mut Transaction<'_>,
    store: &str,
    tag: &str,
    first: u64,
) -> Result<(), Fault> {
    if T::NAME == Other::NAME {
        return Ok(());
    }
    match Other::last_given(transaction, tag)? {
        Some(last) if last >= first => Err(Fault::Refused(SegmentError::GivenElsewhere {
            store: store.to_owned(),
            tag: tag.to_owned(),
            table: Other::NAME,
            last,
        })),
        _ => Ok(()),
    }
}

/// Refuses a row with delta 1 where other rows have a larger delta: other databases may give the
/// numbers between.
pub fn check_databases<T: Table>(
    transaction: &mut Transaction<'_>,
    row: &Row,
) -> Result<(), Fault> {
    let Some(shared) = T::SHARED.filter(|_| row.delta == 1) else { return Ok(()) };
    match transaction.rows(shared, &[])?.pop().as_deref() {
        Some([Value::Int(1..)]) => Err(Fault::Refused(SegmentError::BadTag {
            tag: row.tag.clone(),
            problem: format!(
                "tags in {} have a delta above 1, so other databases may give the numbers between; \
                 insert its row by SQL, in each database with a remainder of its own",
                T::NAME
            ),
        })),
        _ => Ok(()),
    }
}

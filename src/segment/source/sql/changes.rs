//! How operators and programs change the tags in a database.

use super::given_elsewhere::{check_databases, check_tables};
use super::sql_segments::SqlSegments;
use super::table::{Fault, Table, Tables};
use crate::backend::StorageError;
use crate::backend::sql::{OnMissing, Transaction, Value};
use crate::segment::source::admin::{SegmentAdmin, TagChange};
use crate::segment::source::limits::Limits;
use crate::segment::source::row::Row;
use crate::segment::{SegmentError, SegmentSource, Tag, TagRecord};

impl<D: Tables, T: Table> SqlSegments<D, T> {
    /// Inserts the row of a new tag, or returns the one that is there. `delta` and `remainder` are
    /// those of its numbers.
    pub(super) fn create_with(
        &self,
        tag: &str,
        new: &Tag,
        delta: i64,
        remainder: i64,
    ) -> Result<TagRecord, SegmentError> {
        let row = Row { delta, remainder, ..limits::<T>().new_row(tag, new)? };
        let store = self.name();
        let may_create = |transaction: &mut Transaction<'_>| {
            check_tables::<T>(transaction, &store, tag, new.first)
        };
        let missing = OnMissing::Create(&may_create);
        let call = Self::call("create a tag in");
        let create = || {
            let insert = |transaction: &mut Transaction<'_>| self.insert(transaction, &row, new);
            self.client.transact(&call, &missing, None, insert)
        };
        match create() {
            // Another process may have created the tag since it was looked for.
            Err(SegmentError::Storage(StorageError::Locked { .. })) => create(),
            result => result,
        }
    }

    fn insert(
        &self,
        transaction: &mut Transaction<'_>,
        row: &Row,
        new: &Tag,
    ) -> Result<TagRecord, Fault> {
        let (store, tag) = (self.name(), row.tag.clone());
        let found = Self::find(transaction, &tag)?;
        if let Some(other) = found.as_ref().filter(|found| found.tag != tag) {
            let problem = format!("{} does not tell it from {:?}", T::NAME, other.tag);
            return Err(Fault::Refused(SegmentError::BadTag { tag, problem }));
        }
        if found.is_some() {
            let record = Self::record(transaction, &tag)?;
            new.check(&store, &record).map_err(Fault::Refused)?;
            return Ok(record);
        }
        check_tables::<T>(transaction, &store, &tag, new.first)?;
        check_databases::<T>(transaction, row)?;
        let (sql, values) = T::insert(row, new.description.as_deref());
        transaction.write(sql, &values)?;
        Ok(Self::record(transaction, &tag)?)
    }

    fn change(
        &self,
        transaction: &mut Transaction<'_>,
        tag: &str,
        change: &TagChange,
    ) -> Result<TagRecord, Fault> {
        let row = self.row(transaction, tag)?;
        let changed = limits::<T>().changed(&self.name(), &row, change).map_err(Fault::Refused)?;
        if changed.last != row.last {
            let ends = [changed.end(T::COUNTING), row.end(T::COUNTING)];
            transaction.write(T::SET_END, &[ends[0].into(), tag.into(), ends[1].into()])?;
        }
        let (mut sets, mut values) = (vec!["step = ?"], vec![changed.step.into()]);
        // Not every table has the column.
        if T::HAS_MAX_STEP {
            sets.push("max_step = ?");
            values.push(changed.max_step.map_or(Value::Null, Value::from));
        }
        if let Some(description) = &change.description {
            sets.push("description = ?");
            values.push(description.as_str().into());
        }
        values.push(tag.into());
        let (name, sets) = (T::NAME, sets.join(", "));
        let sql = format!("UPDATE {name} SET {sets}{} WHERE {} = ?", T::TOUCH, T::TAG);
        transaction.write(&sql, &values)?;
        Ok(Self::record(transaction, tag)?)
    }
}

impl<D: Tables, T: Table> SegmentAdmin for SqlSegments<D, T> {
    fn set(&self, tag: &str, change: &TagChange) -> Result<TagRecord, SegmentError> {
        limits::<T>().check_change(tag, change)?;
        self.write(tag, "change a tag in", |transaction| self.change(transaction, tag, change))
    }

    fn remove(&self, tag: &str, next: Option<u64>) -> Result<TagRecord, SegmentError> {
        let sql = format!("DELETE FROM {} WHERE {} = ?", T::NAME, T::TAG);
        let removed = self.write(tag, "remove a tag from", |transaction| {
            self.row(transaction, tag)?;
            let record = Self::record(transaction, tag)?;
            // The row is locked, so its next number does not change.
            if let Some(seen) = next.filter(|seen| *seen != record.next) {
                let (store, tag, next) = (self.name(), record.tag, record.next);
                return Err(Fault::Refused(SegmentError::Moved { store, tag, next, seen }));
            }
            transaction.write(&sql, &[tag.into()])?;
            Ok(record)
        })?;
        self.rows.removed(tag, removed.next);
        Ok(removed)
    }
}

/// What the table `T` has room for.
fn limits<T: Table>() -> Limits {
    Limits {
        name: T::NAME,
        width: T::WIDTH,
        largest: i64::MAX.saturating_sub(T::COUNTING.ahead).unsigned_abs(),
        largest_step: T::LARGEST_STEP,
        has_max_step: T::HAS_MAX_STEP,
        has_description: T::DESCRIPTION != "NULL",
    }
}

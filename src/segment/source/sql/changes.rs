//! How operators and programs change the tags in a database.

use super::database::SqlSegments;
use super::row::Row;
use super::table::{Fault, Table, Tables, last_before};
use crate::segment::source::admin::{MaxStep, SegmentAdmin, TagChange};
use crate::segment::{SegmentError, SegmentSource, Tag, TagRecord};
use crate::store::sql::{Access, Deadline, Missing, Transaction, Value};

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
        let row = new_row::<T>(tag, new, delta, remainder)?;
        let deadline = Deadline::after(self.timeout);
        let place = self.name();
        let may_make = |transaction: &mut Transaction<'_>| {
            T::check_others(transaction, &place, tag, new.first)
        };
        let missing = Missing::Make(&may_make);
        let none = || Err(SegmentError::Locked { place: place.clone(), waited: deadline.waited() });
        let create = || {
            let insert = |transaction: &mut Transaction<'_>| self.insert(transaction, &row, new);
            self.transact("create a tag in", Access::Write, &deadline, &missing, none, insert)
        };
        match create() {
            // Another process may have created the tag since it was looked for.
            Err(SegmentError::Locked { .. }) => create(),
            result => result,
        }
    }

    fn insert(
        &self,
        transaction: &mut Transaction<'_>,
        row: &Row,
        new: &Tag,
    ) -> Result<TagRecord, Fault> {
        let (place, tag) = (self.name(), row.tag.clone());
        let found = Self::find(transaction, &tag)?;
        if let Some(other) = found.as_ref().filter(|found| found.tag != tag) {
            let problem = format!("{} does not tell it from {:?}", T::NAME, other.tag);
            return Err(Fault::Refused(SegmentError::BadTag { tag, problem }));
        }
        if found.is_some() {
            let record = Self::record(transaction, &tag)?;
            new.check(&place, &record).map_err(Fault::Refused)?;
            return Ok(record);
        }
        T::check_others(transaction, &place, &tag, new.first)?;
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
        let before = row.record(None, None);
        if let Some(asked) = change.next {
            let next = before.next;
            if asked < next {
                let (place, tag) = (self.name(), before.tag);
                return Err(Fault::Refused(SegmentError::Lower { place, tag, next, asked }));
            }
            let ends = [T::end_before(asked), row.end(T::COUNTING)];
            transaction.write(T::SET_END, &[ends[0].into(), tag.into(), ends[1].into()])?;
        }
        let step = change.step.unwrap_or(before.step);
        let max_step = match change.max_step {
            MaxStep::Keep => before.max_step,
            MaxStep::Set(max_step) => max_step,
        };
        check_properties::<T>(tag, step, max_step, change.description.as_deref())
            .map_err(Fault::Refused)?;
        let (mut sets, mut values) = (vec!["step = ?"], vec![step.into()]);
        // Not every table has the column.
        if T::HAS_MAX_STEP {
            sets.push("max_step = ?");
            values.push(max_step.map_or(Value::Null, Value::from));
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
        if let Some(next) = change.next {
            check_next::<T>(tag, next)?;
        }
        if let Some(step) = change.step {
            check_step::<T>(tag, step)?;
        }
        self.write(tag, "change a tag in", |transaction| self.change(transaction, tag, change))
    }

    fn remove(&self, tag: &str, next: Option<u64>) -> Result<TagRecord, SegmentError> {
        let sql = format!("DELETE FROM {} WHERE {} = ?", T::NAME, T::TAG);
        let removed = self.write(tag, "remove a tag from", |transaction| {
            self.row(transaction, tag)?;
            let record = Self::record(transaction, tag)?;
            // The row is locked, so its next number does not change.
            if let Some(seen) = next.filter(|seen| *seen != record.next) {
                let (place, tag, next) = (self.name(), record.tag, record.next);
                return Err(Fault::Refused(SegmentError::Moved { place, tag, next, seen }));
            }
            transaction.write(&sql, &[tag.into()])?;
            Ok(record)
        })?;
        self.forget(tag);
        Ok(removed)
    }
}

/// The row of a new tag, if there can be one.
fn new_row<T: Table>(
    tag: &str,
    new: &Tag,
    delta: i64,
    remainder: i64,
) -> Result<Row, SegmentError> {
    let bad = |problem: String| Err(SegmentError::BadTag { tag: tag.to_owned(), problem });
    let length = tag.chars().count();
    if length == 0 || length > T::WIDTH {
        return bad(format!("it has {length} characters, and a tag has 1 to {}", T::WIDTH));
    }
    if tag.trim() != tag || tag.contains(char::is_control) {
        return bad("spaces at its ends and control characters would not be seen".to_owned());
    }
    let TagRecord { step, .. } = new.record(tag);
    check_properties::<T>(tag, step, new.max_step, new.description.as_deref())?;
    check_next::<T>(tag, new.first)?;
    check_step::<T>(tag, step)?;
    Ok(Row {
        tag: tag.to_owned(),
        last: last_before(new.first),
        step: i64::try_from(step).unwrap_or(i64::MAX),
        max_step: new.max_step.map(|most| i64::try_from(most).unwrap_or(i64::MAX)),
        delta,
        remainder,
        version: 0,
        key: 0,
    })
}

fn check_next<T: Table>(tag: &str, next: u64) -> Result<(), SegmentError> {
    let last = i64::MAX.saturating_sub(T::COUNTING.ahead).unsigned_abs();
    if (1..=last).contains(&next) {
        return Ok(());
    }
    let problem = format!("its next number would be {next}, and numbers are from 1 to {last}");
    Err(SegmentError::BadTag { tag: tag.to_owned(), problem })
}

fn check_step<T: Table>(tag: &str, step: u64) -> Result<(), SegmentError> {
    let (name, most) = (T::NAME, T::LARGEST_STEP);
    if step <= most {
        return Ok(());
    }
    let problem =
        format!("its step would be {step}, and {name} has room for one of {most} at most");
    Err(SegmentError::BadTag { tag: tag.to_owned(), problem })
}

/// Refuses what the table has no column for, or no value.
fn check_properties<T: Table>(
    tag: &str,
    step: u64,
    max_step: Option<u64>,
    description: Option<&str>,
) -> Result<(), SegmentError> {
    let name = T::NAME;
    let problem = if step == 0 {
        "its step would be 0, and no number would come of it".to_owned()
    } else if max_step.is_some() && !T::HAS_MAX_STEP {
        format!("{name} has no column for the most numbers at once; leave it out")
    } else if let Some(most) = max_step.filter(|most| *most < step) {
        format!("it would give at most {most} numbers at once, less than its step, {step}")
    } else if description.is_some() && T::DESCRIPTION == "NULL" {
        format!("{name} has no column for a description; leave it out")
    } else if description.is_some_and(|text| text.chars().count() > DESCRIPTION) {
        format!("its description has more than {DESCRIPTION} characters")
    } else if description.is_some_and(|text| text.contains('\0')) {
        // PostgreSQL refuses such a text.
        "its description has a NUL, which no text may have; leave that out".to_owned()
    } else {
        return Ok(());
    };
    Err(SegmentError::BadTag { tag: tag.to_owned(), problem })
}

/// The most characters of a description.
const DESCRIPTION: usize = 256;

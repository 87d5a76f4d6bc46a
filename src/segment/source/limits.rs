//! What a store has room for: which tags there can be, and which properties they can have.

use super::admin::{MaxStep, TagChange};
use super::row::{Row, last_before};
use crate::segment::{SegmentError, Tag, TagRecord};

/// The most characters of a description.
const DESCRIPTION: usize = 256;

/// What a table, or a store of keys, has room for.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// What errors call it.
    pub name: &'static str,
    /// The most characters of a tag.
    pub width: usize,
    /// The largest next number.
    pub largest: u64,
    pub largest_step: u64,
    /// Whether there is room for the most numbers at once.
    pub has_max_step: bool,
    pub has_description: bool,
}

impl Limits {
    /// The row of a new tag, if there can be one.
    pub fn new_row(&self, tag: &str, new: &Tag) -> Result<Row, SegmentError> {
        let length = tag.chars().count();
        if length == 0 || length > self.width {
            let most = self.width;
            return Err(bad(tag, format!("it has {length} characters, and a tag has 1 to {most}")));
        }
        if tag.trim() != tag || tag.contains(char::is_control) {
            let problem = "spaces at its ends and control characters would not be seen";
            return Err(bad(tag, problem.to_owned()));
        }
        let TagRecord { step, .. } = new.record(tag);
        self.check_properties(tag, step, new.max_step, new.description.as_deref())?;
        self.check_next(tag, new.first)?;
        self.check_step(tag, step)?;
        Ok(Row {
            tag: tag.to_owned(),
            last: last_before(new.first),
            step: signed(step),
            max_step: new.max_step.map(signed),
            delta: 1,
            remainder: 0,
            version: 0,
            key: 0,
        })
    }

    /// Refuses a change that no row can have.
    pub fn check_change(&self, tag: &str, change: &TagChange) -> Result<(), SegmentError> {
        if let Some(next) = change.next {
            self.check_next(tag, next)?;
        }
        change.step.map_or(Ok(()), |step| self.check_step(tag, step))
    }

    /// The `row`, which is in `store`, with the numbers that `change` sets.
    pub fn changed(&self, store: &str, row: &Row, change: &TagChange) -> Result<Row, SegmentError> {
        let before = row.record(None, None);
        let mut row = row.clone();
        if let Some(asked) = change.next {
            let (next, store, tag) = (before.next, store.to_owned(), &row.tag);
            if asked < next {
                return Err(SegmentError::Lower { store, tag: tag.clone(), next, asked });
            }
            row.last = last_before(asked);
        }
        let step = change.step.unwrap_or(before.step);
        let max_step = match change.max_step {
            MaxStep::Keep => before.max_step,
            MaxStep::Set(max_step) => max_step,
        };
        self.check_properties(&row.tag, step, max_step, change.description.as_deref())?;
        (row.step, row.max_step) = (signed(step), max_step.map(signed));
        Ok(row)
    }

    fn check_next(&self, tag: &str, next: u64) -> Result<(), SegmentError> {
        let last = self.largest;
        if (1..=last).contains(&next) {
            return Ok(());
        }
        let problem = format!("its next number would be {next}, and numbers are from 1 to {last}");
        Err(bad(tag, problem))
    }

    fn check_step(&self, tag: &str, step: u64) -> Result<(), SegmentError> {
        let (name, most) = (self.name, self.largest_step);
        if step <= most {
            return Ok(());
        }
        let problem =
            format!("its step would be {step}, and {name} has room for one of {most} at most");
        Err(bad(tag, problem))
    }

    /// Refuses what there is no room for, or no value.
    fn check_properties(
        &self,
        tag: &str,
        step: u64,
        max_step: Option<u64>,
        description: Option<&str>,
    ) -> Result<(), SegmentError> {
        let name = self.name;
        let problem = if step == 0 {
            "its step would be 0, and no number would come of it".to_owned()
        } else if max_step.is_some() && !self.has_max_step {
            format!("{name} has no column for the most numbers at once; leave it out")
        } else if let Some(most) = max_step.filter(|most| *most < step) {
            format!("it would give at most {most} numbers at once, less than its step, {step}")
        } else if description.is_some() && !self.has_description {
            format!("{name} has no column for a description; leave it out")
        } else if description.is_some_and(|text| text.chars().count() > DESCRIPTION) {
            format!("its description has more than {DESCRIPTION} characters")
        } else if description.is_some_and(|text| text.contains('\0')) {
            // PostgreSQL refuses such a text.
            "its description has a NUL, which no text may have; leave that out".to_owned()
        } else {
            return Ok(());
        };
        Err(bad(tag, problem))
    }
}

fn bad(tag: &str, problem: String) -> SegmentError {
    SegmentError::BadTag { tag: tag.to_owned(), problem }
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

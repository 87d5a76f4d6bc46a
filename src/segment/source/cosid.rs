//! The counters of `CosId` in Redis.
//!
//! A counter is the key `cosid:{NAMESPACE.NAME}.adder`, with the braces. A program with `CosId`
//! sets it to its offset if it is not there, and takes a segment by `INCRBY` with its step: the
//! numbers after the old value, up to the new one. The same is done here, so that programs with
//! `CosId` may go on beside this library, and see nothing that they would not see of one another.
//! What is given back is subtracted only if nobody has counted on since.
//!
//! The step is in no key: each program with `CosId` has its own, in its configuration. So it is
//! here: [`Tag::step`] is the step of the processes that create the tag with it, and others take
//! 1,000 numbers at a time.
//!
//! Machine ids of `CosId` are not shared. Its guard writes their keys without a look at what others
//! have written, so that no second library can keep a machine id of its own there.

use std::collections::BTreeMap;
use std::time::Duration;

use super::admin::{MaxStep, SegmentAdmin, TagChange};
use super::limits::Limits;
use super::row::{Counting, Row, last_before};
use crate::backend::StorageError;
use crate::backend::keys::{Counted, Deadline, Error, ErrorPhrases, KeyStore, Redis};
use crate::segment::{Segment, SegmentError, SegmentSource, Tag, TagRecord};
use crate::sync::{Arc, Mutex, lock};

const START: &str = "cosid:{";
const END: &str = "}.adder";

/// How long a call may take, unless set otherwise.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);

const PHRASES: ErrorPhrases = ErrorPhrases {
    subject: "the tags in",
    missing_tables: "",
    incompatible_tables: "",
    not_a_database: "",
    unrelated_tables: "",
    permissions: "give this user the rights ~cosid:* +scan +setnx +incrby beside those below",
};

const COUNTING: Counting = Counting { end: "value", ahead: 0, whole_steps: false };

const LIMITS: Limits = Limits {
    name: "CosId's Redis",
    width: 100,
    largest: i64::MAX.unsigned_abs(),
    largest_step: i64::MAX.unsigned_abs(),
    has_max_step: false,
    has_description: false,
};

/// Dense numbers from the counters of `CosId`.
#[derive(Clone, Debug)]
pub struct CosIdSegments {
    store: Redis,
    pub(crate) timeout: Duration,
    /// The steps of the tags that were created with one.
    steps: Arc<Mutex<BTreeMap<String, u64>>>,
}

impl CosIdSegments {
    /// The counters in `store`.
    pub(crate) fn on(store: Redis) -> CosIdSegments {
        CosIdSegments { store, timeout: DEFAULT_TIMEOUT, steps: Arc::default() }
    }

    /// What `ask` finds out, or does.
    fn call<T: Send>(
        &self,
        doing: &str,
        ask: impl FnOnce(&Redis, &Deadline) -> Result<T, Error> + Send,
    ) -> Result<T, SegmentError> {
        let deadline = Deadline::after(self.timeout);
        let result = Redis::run(|| ask(&self.store, &deadline))
            .unwrap_or_else(|error| Err(Error::Other(Box::new(error))));
        let storage_error = |error: Error| {
            let error: StorageError =
                error.into_storage_error(&PHRASES, &self.name(), doing, deadline.waited());
            error.into()
        };
        result.map_err(storage_error)
    }

    fn row(&self, tag: &str, last: i64) -> Row {
        let usual = Tag::new().record(tag).step;
        let step = lock(&self.steps).get(tag).copied().unwrap_or(usual);
        Row {
            tag: tag.to_owned(),
            last,
            step: i64::try_from(step).unwrap_or(i64::MAX),
            max_step: None,
            delta: 1,
            remainder: 0,
            version: 0,
            key: 0,
        }
    }

    fn record(&self, tag: &str, last: i64) -> TagRecord {
        self.row(tag, last).record(None, None)
    }

    /// The row of a tag that is there.
    fn found(&self, tag: &str) -> Result<Row, SegmentError> {
        let last =
            self.call("read the tags in", |store, deadline| store.counter(&key(tag), deadline))?;
        last.map(|last| self.row(tag, last)).ok_or_else(|| self.no_such_tag(tag))
    }

    /// It is not looked for others that are alike: that would go through all keys of the database.
    fn no_such_tag(&self, tag: &str) -> SegmentError {
        SegmentError::NoSuchTag { store: self.name(), tag: tag.to_owned(), alike: Vec::new() }
    }

    /// The segment after `row`, up to `last`.
    fn taken(&self, row: &Row, last: i64) -> Result<Segment, SegmentError> {
        let (store, tag) = (self.name(), row.tag.clone());
        if let Some(problem) = row.problem(COUNTING) {
            return Err(SegmentError::BadRow { store, tag, problem });
        }
        let count = u64::try_from(last.saturating_sub(row.last)).unwrap_or(0);
        let Some(range) = row.next(Some(count), COUNTING).filter(|_| count > 0) else {
            return Err(SegmentError::RanOut { store, tag, last: row.last.unsigned_abs() });
        };
        Ok(row.segment(range, COUNTING))
    }

    /// The last numbers there are, where a whole step is too large.
    fn take_the_last(&self, tag: &str) -> Result<Segment, SegmentError> {
        loop {
            let row = self.found(tag)?;
            let segment = self.taken(&row, i64::MAX)?;
            if self.replace(tag, "take numbers from", [row.last, i64::MAX])? {
                return Ok(segment);
            }
        }
    }

    fn replace(&self, tag: &str, doing: &str, ends: [i64; 2]) -> Result<bool, SegmentError> {
        self.call(doing, |store, deadline| store.replace_counter(&key(tag), ends, deadline))
    }
}

impl SegmentSource for CosIdSegments {
    fn name(&self) -> String {
        self.store.name()
    }

    fn load(&self, tag: &str, count: Option<u64>) -> Result<Segment, SegmentError> {
        let step = self.row(tag, 0).step;
        let count = count.map_or(step, |count| i64::try_from(count.max(1)).unwrap_or(i64::MAX));
        let counted = self.call("take numbers from", |store, deadline| {
            store.count_up(&key(tag), count, deadline)
        })?;
        match counted {
            Counted::From(before, after) => self.taken(&self.row(tag, before), after),
            Counted::Missing => Err(self.no_such_tag(tag)),
            Counted::TooLarge => self.take_the_last(tag),
        }
    }

    fn give_back(&self, tag: &str, unused: &Segment) -> Result<bool, SegmentError> {
        let ends = [i64::try_from(unused.row_end).unwrap_or(i64::MAX), last_before(unused.first)];
        if ends[1] >= ends[0] {
            return Ok(false);
        }
        self.replace(tag, "give numbers back to", ends)
    }

    fn tags(&self) -> Result<Vec<TagRecord>, SegmentError> {
        let counters = self
            .call("read the tags in", |store, deadline| store.counters([START, END], deadline))?;
        let mut tags: Vec<TagRecord> =
            counters.iter().map(|(tag, last)| self.record(tag, *last)).collect();
        tags.sort_by(|one, other| one.tag.cmp(&other.tag));
        Ok(tags)
    }

    fn create(&self, tag: &str, new: &Tag) -> Result<TagRecord, SegmentError> {
        let row = LIMITS.new_row(tag, new)?;
        let (store, known) = (self.name(), lock(&self.steps).get(tag).copied());
        let last = self.call("create a tag in", |store, deadline| {
            store.begin_counter(&key(tag), row.last, deadline)
        })?;
        let there = self.record(tag, last);
        // The step that another part of this process has asked for stays.
        let asked = if known.is_some() { new.clone() } else { Tag { step: None, ..new.clone() } };
        asked.check(&store, &there)?;
        if let Some(step) = new.step {
            lock(&self.steps).entry(tag.to_owned()).or_insert(step);
        }
        Ok(self.record(tag, last))
    }
}

impl SegmentAdmin for CosIdSegments {
    fn set(&self, tag: &str, change: &TagChange) -> Result<TagRecord, SegmentError> {
        LIMITS.check_change(tag, change)?;
        if change.step.is_some() || change.max_step != MaxStep::Keep {
            let problem = "CosId keeps no step in Redis: each program has its own";
            return Err(bad(tag, problem.to_owned()));
        }
        loop {
            let row = self.found(tag)?;
            let changed = LIMITS.changed(&self.name(), &row, change)?;
            let ends = [row.last, changed.last];
            if ends[0] == ends[1] || self.replace(tag, "change a tag in", ends)? {
                return Ok(changed.record(None, None));
            }
        }
    }

    /// Fails: a program with `CosId` would count a key that is gone from 0 again.
    fn remove(&self, tag: &str, _: Option<u64>) -> Result<TagRecord, SegmentError> {
        self.found(tag)?;
        Err(bad(
            tag,
            format!(
                "it is not removed here, as a program with CosId that still runs would begin it \
                 anew; see that none does, and remove the key {} in Redis",
                key(tag)
            ),
        ))
    }
}

fn key(tag: &str) -> String {
    format!("{START}{tag}{END}")
}

fn bad(tag: &str, problem: String) -> SegmentError {
    SegmentError::BadTag { tag: tag.to_owned(), problem }
}

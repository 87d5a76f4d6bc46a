//! [`Source`]: the row of a tag in memory. Its calls are slow or fail as the schedule decides.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use shuttle::rand::{Rng, thread_rng};
use uidring::scenario;
use uidring::segment::{Segment, SegmentError, SegmentSource, Tag, TagRecord};

use crate::registry::Fault;
use crate::{MS, linger};

/// A connection to the row.
pub struct Source {
    row: Row,
    faults: &'static [Fault],
    faults_left: AtomicU32,
}

/// The row. The lock is from std, as that of the registry's rows.
#[derive(Clone)]
pub struct Row(Arc<Mutex<Numbers>>);

pub struct Numbers {
    /// The number that is loaded next.
    pub next: u64,
    step: u64,
    /// How many numbers nobody has, because the answer was lost with which they were loaded.
    pub unanswered: u64,
}

impl Row {
    /// A row that gives `step` numbers at a time.
    #[must_use]
    pub fn new(step: u64) -> Row {
        Row(Arc::new(Mutex::new(Numbers { next: 1, step, unanswered: 0 })))
    }

    pub fn lock(&self) -> MutexGuard<'_, Numbers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Source {
    #[must_use]
    pub fn new(row: &Row) -> Source {
        Source::with_faults(row, &[], 0)
    }

    #[must_use]
    pub fn with_faults(row: &Row, faults: &'static [Fault], count: u32) -> Source {
        Source { row: row.clone(), faults, faults_left: AtomicU32::new(count) }
    }

    fn next_fault(&self) -> Option<Fault> {
        let left = self.faults_left.load(Ordering::Relaxed);
        if left == 0 || thread_rng().gen_ratio(1, 2) {
            return None;
        }
        self.faults_left.store(left - 1, Ordering::Relaxed);
        Some(self.faults[thread_rng().gen_range(0..self.faults.len())])
    }

    /// Makes a call, to which something may happen. Returns its result, and whether the caller
    /// learns of it.
    fn call<T>(&self, call: impl FnOnce(&mut Numbers) -> T) -> Result<(T, bool), SegmentError> {
        let fault = self.next_fault();
        match fault {
            Some(Fault::Slow) => linger(30),
            Some(Fault::Stuck) => scenario::sleep(MS * thread_rng().gen_range(1..2000)),
            Some(Fault::Away) => return Err(SegmentError::unreachable("away")),
            Some(_) | None => {}
        }
        shuttle::thread::yield_now();
        let result = call(&mut self.row.lock());
        shuttle::thread::yield_now();
        Ok((result, fault != Some(Fault::AnswerLost)))
    }
}

impl SegmentSource for Source {
    fn name(&self) -> String {
        "the row".to_owned()
    }

    fn load(&self, _: &str, count: Option<u64>) -> Result<Segment, SegmentError> {
        let load = |row: &mut Numbers| {
            let count = count.unwrap_or(row.step);
            let (first, end) = (row.next, row.next + count);
            row.next = end;
            let mut segment = Segment::new(first, count, 1, end - 1);
            segment.step = row.step;
            segment
        };
        let (segment, is_answered) = self.call(load)?;
        if is_answered {
            return Ok(segment);
        }
        self.row.lock().unanswered += segment.count;
        Err(SegmentError::unreachable("no answer"))
    }

    fn give_back(&self, _: &str, unused: &Segment) -> Result<bool, SegmentError> {
        let give_back = |row: &mut Numbers| {
            let is_last = row.next == unused.first + unused.count;
            if is_last {
                row.next = unused.first;
            }
            is_last
        };
        let (is_last, is_answered) = self.call(give_back)?;
        if is_answered { Ok(is_last) } else { Err(SegmentError::unreachable("no answer")) }
    }

    fn tags(&self) -> Result<Vec<TagRecord>, SegmentError> {
        Ok(Vec::new())
    }

    fn create(&self, tag: &str, new: &Tag) -> Result<TagRecord, SegmentError> {
        Ok(new.record(tag))
    }
}

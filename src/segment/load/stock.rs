//! [`Stock`]: what the loader knows of one tag.

use std::time::Duration;

use crate::engine::SegmentFailure;
use crate::number::Number;
use crate::segment::load::alarm::TagAlarm;
use crate::segment::load::policy::{Demand, Steps};
use crate::segment::tag::engine::TagEngine;
use crate::segment::{Segment, SegmentError};
use crate::sync::{Arc, lock};

/// How long the loader waits for takers that have claimed tickets and not looked where they lead:
/// they are stopped between two steps of a take. Then these tickets may be lost.
const PATIENCE: Duration = Duration::from_millis(50);

/// What the loader knows of one tag. All of it is written under the lock of the loader's scheduler.
#[derive(Debug)]
pub struct Stock {
    pub demand: Demand,
    pub steps: Steps,
    /// The size of the segment loaded last.
    pub last_size: u64,
    /// How long a load takes.
    pub load_time: Duration,
    /// Until when loaded numbers wait for takers to look where their tickets lead.
    patient_until: Option<Duration>,
    /// What was loaded, in order: at least the last, and all of which somebody may still claim a
    /// number.
    loaded: Vec<Loaded>,
    /// The last number of each of the source's databases.
    last_numbers: Vec<(usize, u64)>,
    pub last_failure: Option<Arc<SegmentError>>,
    /// Whether the row has given numbers again that it had given before. Nobody can tell which of
    /// its numbers others have, so this process loads no more of them.
    pub went_back: bool,
    /// Loads that failed since the last one that succeeded.
    pub failures: u32,
    /// No load before this.
    pub retry_at: Duration,
    pub place: Place,
    /// The key of the tag among the timers of the scheduler.
    pub timer: Option<(Duration, u64)>,
    pub alarm: TagAlarm,
}

/// Where the tag is on the way to a load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Place {
    #[default]
    Idle,
    /// In the queue, with this key.
    Queued((bool, u64)),
    Loading,
}

/// Numbers that were loaded one after the other from one database, and follow one another without
/// a gap.
#[derive(Clone, Copy, Debug)]
struct Loaded {
    number: u64,
    count: u64,
    row_end: u64,
    database: usize,
}

impl Stock {
    pub fn new(now: Duration) -> Stock {
        Stock {
            demand: Demand::new(now),
            steps: Steps { step: 1, max_step: None },
            last_size: 0,
            load_time: Duration::ZERO,
            patient_until: None,
            loaded: Vec::new(),
            last_numbers: Vec::new(),
            last_failure: None,
            went_back: false,
            failures: 0,
            retry_at: Duration::ZERO,
            place: Place::Idle,
            timer: None,
            alarm: TagAlarm::default(),
        }
    }

    /// Puts a loaded segment into stock, unless its numbers may not be handed out by this process.
    pub fn add(
        &mut self,
        tag: &TagEngine,
        place: &str,
        segment: &Segment,
    ) -> Result<(), SegmentError> {
        let last = self.check(tag, place, segment)?;
        self.last_numbers.retain(|(known, _)| *known != segment.database);
        self.last_numbers.reserve_exact(1);
        self.last_numbers.push((segment.database, last));
        if self.last_size == 0 {
            tag.chain.set_delta(segment.delta);
        }
        self.last_size = segment.count;
        self.steps = Steps { step: segment.step, max_step: segment.max_step };
        let mut supply = lock(&tag.supply);
        supply.add(segment.first, segment.count, segment.delta);
        tag.loaded.add(segment.count);
        drop(supply);
        self.forget_claimed(tag);
        self.note(segment);
        Ok(())
    }

    fn note(&mut self, segment: &Segment) {
        let Segment { first: number, count, delta, row_end, database, .. } = *segment;
        match self.loaded.last_mut() {
            Some(last) if last.database == database && last.is_before(number, delta) => {
                (last.count, last.row_end) = (last.count + count, row_end);
            }
            _ => {
                self.loaded.reserve_exact(1);
                self.loaded.push(Loaded { number, count, row_end, database });
            }
        }
    }

    /// Forgets what nobody can claim any more.
    fn forget_claimed(&mut self, tag: &TagEngine) {
        let mut left = tag.left();
        let is_left = |loaded: &&Loaded| {
            let is_left = left > 0;
            left = left.saturating_sub(loaded.count);
            is_left
        };
        let kept = self.loaded.iter().rev().take_while(is_left).count();
        self.loaded.drain(..self.loaded.len() - kept);
    }

    /// The last number of `segment`, if all of its numbers may be handed out.
    fn check(&self, tag: &TagEngine, place: &str, segment: &Segment) -> Result<u64, SegmentError> {
        let bad_row = |problem: String| SegmentError::BadRow {
            place: place.to_owned(),
            tag: tag.name.to_string(),
            problem,
        };
        let Segment { first, count, delta, database, .. } = *segment;
        let length = count.checked_sub(1).and_then(|steps| steps.checked_mul(delta));
        let last = length.and_then(|length| first.checked_add(length));
        let Some(last) = last.filter(|&last| first > 0 && delta > 0 && last <= Number::MAX.get())
        else {
            return Err(bad_row(format!(
                "{count} numbers from {first} on, {delta} apart, do not lie in 1..={}",
                Number::MAX
            )));
        };
        if self.last_size > 0 && delta != tag.chain.delta() {
            return Err(bad_row(format!(
                "its numbers are now {delta} apart, and were {} apart; restart to use the new \
                 distance",
                tag.chain.delta()
            )));
        }
        match self.last_numbers.iter().find(|(known, _)| *known == database) {
            Some(&(_, before)) if first <= before => Err(SegmentError::WentBack {
                place: place.to_owned(),
                tag: tag.name.to_string(),
                first,
                last: before,
            }),
            _ => Ok(last),
        }
    }

    /// Whether a load is under way.
    pub fn is_loading(&self) -> bool {
        self.place == Place::Loading
    }

    /// Gives what was loaded to those that wait, and lets takers see as much of the rest as there
    /// is room for. If some of it has to wait for takers that have claimed tickets, but may have
    /// stopped, returns when to try again.
    pub fn publish(&mut self, tag: &TagEngine, now: Duration) -> Option<Duration> {
        let mut supply = lock(&tag.supply);
        if self.patient_until.is_some_and(|until| now >= until) && supply.is_held_up(&tag.chain) {
            supply.append_without_patience(&tag.chain);
        }
        supply.open(&tag.chain);
        let until = self.patient_until.filter(|until| now < *until).unwrap_or(now + PATIENCE);
        self.patient_until = supply.is_held_up(&tag.chain).then_some(until);
        self.patient_until
    }

    /// The last number of all, if any were loaded. They are `delta` apart.
    pub fn last_number(&self, delta: u64) -> Option<u64> {
        self.loaded.last().map(|last| last.number + (last.count - 1) * delta)
    }

    /// What can be given back to the rows: of what was loaded last from each database, what nobody
    /// has claimed.
    pub fn unused(&self, tag: &TagEngine) -> Vec<Segment> {
        let (mut left, delta) = (tag.left(), tag.chain.delta());
        let Steps { step, max_step } = self.steps;
        let mut tails: Vec<(Loaded, bool)> = Vec::new();
        for &loaded in self.loaded.iter().rev() {
            let count = left.min(loaded.count);
            left -= count;
            if count == 0 {
                break;
            }
            let number = loaded.number + (loaded.count - count) * delta;
            let part = Loaded { number, count, ..loaded };
            match tails.iter_mut().find(|(tail, _)| tail.database == loaded.database) {
                None => tails.push((part, true)),
                Some((tail, is_whole)) => {
                    *is_whole &= part.is_before(tail.number, delta);
                    if *is_whole {
                        (tail.number, tail.count) = (number, tail.count + count);
                    }
                }
            }
        }
        let segment = |Loaded { number: first, count, row_end, database }| {
            let row_start = row_end.saturating_sub(count.saturating_mul(delta));
            Segment { first, count, delta, row_start, row_end, database, step, max_step }
        };
        tails.into_iter().map(|(tail, _)| segment(tail)).collect()
    }
}

impl Loaded {
    /// Whether `number` comes directly after these.
    fn is_before(&self, number: u64, delta: u64) -> bool {
        self.number.wrapping_add(self.count.wrapping_mul(delta)) == number
    }
}

/// What takers are told of `error`.
pub fn kind(error: &SegmentError) -> SegmentFailure {
    match error {
        SegmentError::NoSuchTag { .. } => SegmentFailure::NoSuchTag,
        SegmentError::RanOut { .. } => SegmentFailure::RanOut,
        SegmentError::WentBack { .. } => SegmentFailure::WentBack,
        SegmentError::BadRow { .. } => SegmentFailure::BadRow,
        error if error.is_transient() => SegmentFailure::Unreachable,
        _ => SegmentFailure::Failed,
    }
}

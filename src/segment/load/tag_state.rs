//! [`TagState`]: the loader's state of one tag.

use std::num::NonZeroU64;
use std::time::Duration;

use crate::engine::SegmentFailure;
use crate::number::Number;
use crate::segment::load::alarm::TagAlarm;
use crate::segment::load::policy::{Demand, Steps};
use crate::segment::load::trouble::failure_of;
use crate::segment::{Segment, SegmentError};
use crate::sync::Arc;

/// How long the loader waits for a taker that was suspended between the two steps of a take: it has
/// claimed a ticket, but has not yet looked up its number. After that time the ticket may be lost.
const PATIENCE: Duration = Duration::from_millis(50);

/// The loader's state of one tag. Only the scheduler writes to it.
#[derive(Debug)]
pub struct TagState {
    pub demand: Demand,
    pub steps: Steps,
    /// The size of the last loaded segment.
    pub last_size: u64,
    /// How many numbers threads want at once that wait for the load, which want many. Clamped to
    /// what the type holds.
    pub wanted_at_once: u32,
    /// How long a load takes.
    pub load_time: Duration,
    /// Until when loaded numbers wait for takers that have not looked up their tickets.
    patient_until: Option<Duration>,
    /// What was loaded, in order: the last load, and all loads with unclaimed numbers.
    loaded: Vec<Loaded>,
    /// Of each of the source's databases, the first and the last of the numbers that were loaded
    /// last without a gap between them.
    loaded_ranges: Box<[(usize, u64, u64)]>,
    pub last_failure: Option<Arc<SegmentError>>,
    /// Whether the row gave the same numbers again. It is unknown which of its numbers others have,
    /// so this process loads no more of them.
    pub went_back: bool,
    pub retirement: Retirement,
    /// Failed loads since the last success.
    pub failures: u32,
    /// Whether the last load failed although the source answers, as where others hold the row.
    pub is_stuck: bool,
    /// How many calls are still to give back what is left of a tag that was given up.
    pub returns: u32,
    /// No load begins before this time.
    pub retry_at: Duration,
    pub load: LoadState,
    /// The key of the tag's timer in the scheduler.
    pub timer: Option<(Duration, u64)>,
    pub alarm: TagAlarm,
}

/// The progress of a tag's load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoadState {
    #[default]
    Idle,
    /// Waiting in the queue, with this key.
    Queued((Rank, u64)),
    Loading,
}

/// The order in which queued tags get their loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// No numbers are left, so a taker may wait.
    Empty,
    /// Numbers are left.
    Ahead,
    /// The last load failed, and the next one may take as long.
    Stuck,
}

/// How far a tag is given up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Retirement {
    /// It is in use.
    #[default]
    Not,
    /// Nothing more is loaded for it. Takes may still go on.
    Begun,
    /// Takes fail.
    Ended,
    /// The calls that give back what was left are prepared.
    Cleared,
}

/// Numbers loaded in a row from one database, without gaps between them.
#[derive(Clone, Copy, Debug)]
struct Loaded {
    number: u64,
    count: u64,
    row_end: u64,
    database: usize,
}

impl TagState {
    pub fn new(now: Duration) -> TagState {
        TagState {
            demand: Demand::new(now),
            steps: Steps { step: 1, max_step: None },
            last_size: 0,
            wanted_at_once: 0,
            load_time: Duration::ZERO,
            patient_until: None,
            loaded: Vec::new(),
            loaded_ranges: Box::default(),
            last_failure: None,
            went_back: false,
            retirement: Retirement::default(),
            failures: 0,
            is_stuck: false,
            returns: 0,
            retry_at: Duration::ZERO,
            load: LoadState::Idle,
            timer: None,
            alarm: TagAlarm::default(),
        }
    }

    /// Records an accepted segment whose last number is `last`. `left` numbers of all that was
    /// loaded are unclaimed.
    pub fn note(&mut self, segment: &Segment, last: u64, left: u64) {
        let Segment { first: number, count, delta, row_end, database, .. } = *segment;
        let mut ranges = self.loaded_ranges.iter_mut();
        if let Some((_, from, to)) = ranges.find(|(of, ..)| *of == database) {
            // Others may have had what lies in a gap, also from another database.
            if number != to.saturating_add(delta) {
                *from = number;
            }
            *to = last;
        } else {
            let new = [(database, number, last)];
            self.loaded_ranges = self.loaded_ranges.iter().copied().chain(new).collect();
        }
        self.last_size = count;
        // No segment is smaller than the step, so 1 says the same as 0.
        let max_step = segment.max_step.and_then(|most| NonZeroU64::new(most.max(1)));
        self.steps = Steps { step: segment.step, max_step };
        self.forget_claimed(left);
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

    /// Forgets the loads whose numbers are all claimed.
    fn forget_claimed(&mut self, mut left: u64) {
        let is_left = |loaded: &&Loaded| {
            let is_left = left > 0;
            left = left.saturating_sub(loaded.count);
            is_left
        };
        let kept = self.loaded.iter().rev().take_while(is_left).count();
        self.loaded.drain(..self.loaded.len() - kept);
    }

    /// The last number of `segment`, or an error if its numbers must not be handed out. The numbers
    /// before it were `known_delta` apart.
    pub fn check(
        &self,
        tag: &str,
        source: &str,
        segment: &Segment,
        known_delta: u64,
    ) -> Result<u64, SegmentError> {
        let bad_row = |problem: String| SegmentError::BadRow {
            store: source.to_owned(),
            tag: tag.to_owned(),
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
        if self.last_size > 0 && delta != known_delta {
            return Err(bad_row(format!(
                "its numbers are now {delta} apart, and were {known_delta} apart; restart to use \
                 the new distance"
            )));
        }
        // Above all of its own database, and apart from all of another one.
        let is_known = |&&(known, from, to): &&(usize, u64, u64)| {
            let is_of_it = known == database;
            let meets = from <= last && from.abs_diff(first) % delta == 0;
            first <= to && (is_of_it || meets)
        };
        let Some(&(known, from, to)) = self.loaded_ranges.iter().find(is_known) else {
            return Ok(last);
        };
        let (store, tag) = (source.to_owned(), tag.to_owned());
        Err(if known == database {
            SegmentError::WentBack { store, tag, first, last: to }
        } else {
            let (first, last) = (first.max(from), last.min(to));
            SegmentError::DatabasesOverlap { store, tag, first, last }
        })
    }

    /// Whether the row gave numbers again, as this process or its source has found out.
    pub fn has_gone_back(&self) -> bool {
        let failure = self.last_failure.as_deref().map(failure_of);
        self.went_back || failure == Some(SegmentFailure::WentBack)
    }

    /// Whether the tag is given up.
    pub fn is_retired(&self) -> bool {
        self.retirement != Retirement::Not
    }

    /// Whether a load is running.
    pub fn is_loading(&self) -> bool {
        self.load == LoadState::Loading
    }

    /// Whether loaded numbers still wait for takers that have not looked up their tickets.
    pub fn is_patient(&self, now: Duration) -> bool {
        self.patient_until.is_none_or(|until| now < until)
    }

    /// Records whether loaded numbers have to wait for such takers. Returns until when they wait.
    pub fn set_held_up(&mut self, is_held_up: bool, now: Duration) -> Option<Duration> {
        let until = self.patient_until.filter(|until| now < *until).unwrap_or(now + PATIENCE);
        self.patient_until = is_held_up.then_some(until);
        self.patient_until
    }

    /// The last number of all that were loaded, if any. The numbers are `delta` apart.
    pub fn last_number(&self, delta: u64) -> Option<u64> {
        self.loaded.last().map(|last| last.number + (last.count - 1) * delta)
    }

    /// What can be given back to the rows: of the last run of numbers from each database, those
    /// among the `left` unclaimed ones. The numbers are `delta` apart.
    pub fn unused(&self, mut left: u64, delta: u64) -> Vec<Segment> {
        let step = self.steps.step;
        let max_step = self.steps.max_step.map(NonZeroU64::get);
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
            let largest = Number::MAX.get();
            Segment { first, count, delta, row_start, row_end, database, step, max_step, largest }
        };
        tails.into_iter().map(|(tail, _)| segment(tail)).collect()
    }
}

impl Loaded {
    /// Whether `number` directly follows these numbers.
    fn is_before(&self, number: u64, delta: u64) -> bool {
        self.number.wrapping_add(self.count.wrapping_mul(delta)) == number
    }
}

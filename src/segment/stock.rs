//! [`Stock`]: what the loader knows of one tag.

use std::collections::VecDeque;
use std::mem;
use std::time::Duration;

use crate::engine::SegmentFailure;
use crate::number::Number;
use crate::segment::alarm::TagAlarm;
use crate::segment::policy::{Demand, Steps};
use crate::segment::tag::TagEngine;
use crate::segment::{Segment, SegmentError};
use crate::sync::Arc;

/// How long the loader waits for a taker that holds tickets and does not ask where they lead, as a
/// local taker does that rests. Then its tickets are lost, segment by segment.
const PATIENCE: Duration = Duration::from_millis(50);
/// Between two of those segments, for takers that have claimed tickets behind them just now.
const PAUSE: Duration = Duration::from_millis(1);

/// What the loader knows of one tag. All of it is written under the lock of the loader's scheduler.
#[derive(Debug)]
pub struct Stock {
    pub demand: Demand,
    pub steps: Steps,
    /// The size of the segment loaded last.
    pub last_size: u64,
    /// How long a load takes.
    pub load_time: Duration,
    /// Loaded numbers that takers cannot see yet: first number and count of each run.
    backlog: VecDeque<(u64, u64)>,
    /// Until when the backlog waits for takers to ask where their tickets lead.
    patient_until: Option<Duration>,
    tail: Tail,
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

/// The end of what was loaded: numbers that follow one another without a gap.
#[derive(Clone, Copy, Debug, Default)]
struct Tail {
    /// Its first ticket.
    ticket: u64,
    /// The number of that ticket.
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
            backlog: VecDeque::new(),
            patient_until: None,
            tail: Tail::default(),
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
        let end = tag.loaded_end();
        if !self.extend(segment) {
            self.backlog.push_back((segment.first, segment.count));
            self.tail = Tail {
                ticket: end,
                number: segment.first,
                count: segment.count,
                row_end: segment.row_end,
                database: segment.database,
            };
        }
        tag.set_loaded_end(end + segment.count);
        Ok(())
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

    /// Adds `segment` to the tail if it follows without a gap. Returns whether it is in the backlog
    /// with that.
    fn extend(&mut self, segment: &Segment) -> bool {
        let Tail { number, count, database, .. } = self.tail;
        let follows = count > 0
            && database == segment.database
            && number.wrapping_add(count.wrapping_mul(segment.delta)) == segment.first;
        if !follows {
            return false;
        }
        self.tail.count += segment.count;
        self.tail.row_end = segment.row_end;
        match self.backlog.back_mut() {
            Some((_, count)) => *count += segment.count,
            None => self.backlog.push_back((segment.first, segment.count)),
        }
        true
    }

    /// Whether a load is under way.
    pub fn is_loading(&self) -> bool {
        self.place == Place::Loading
    }

    /// Lets takers see as much of the stock as there is room for. If some of it has to wait for
    /// takers that hold tickets, but may have stopped, returns when to try again.
    pub fn publish(&mut self, tag: &TagEngine, now: Duration) -> Option<Duration> {
        let chain = &tag.chain;
        while let Some(&(number, count)) = self.backlog.front() {
            if chain.has_room() {
                self.patient_until = None;
            } else if !chain.has_claimed_room() {
                self.patient_until = None;
                return None;
            } else {
                let until = *self.patient_until.get_or_insert(now + PATIENCE);
                if now < until {
                    return Some(until);
                }
            }
            chain.append(number, count);
            self.backlog.pop_front();
            if let Some(until) = &mut self.patient_until {
                // Those that wait are woken now, and make room by themselves.
                let is_seen = |ticket| ticket < chain.end();
                let wakes_some = tag.waiters.first_ticket().is_some_and(is_seen);
                *until = now + if wakes_some { PATIENCE } else { PAUSE };
            }
        }
        // An idle tag keeps no memory for it.
        mem::take(&mut self.backlog);
        self.patient_until = None;
        None
    }

    /// The last number of all, if any were loaded. They are `delta` apart.
    pub fn last_number(&self, delta: u64) -> Option<u64> {
        let Tail { number, count, .. } = self.tail;
        Some(number + count.checked_sub(1)? * delta)
    }

    /// What can be given back to the row: of the tail, what nobody has claimed.
    pub fn unused(&self, tag: &TagEngine) -> Option<Segment> {
        let Tail { ticket, number, row_end, database, .. } = self.tail;
        let first = tag.chain.position().max(ticket);
        let count = tag.loaded_end().checked_sub(first).filter(|count| *count > 0)?;
        let delta = tag.chain.delta();
        let first = number + (first - ticket) * delta;
        let Steps { step, max_step } = self.steps;
        let row_start = row_end.saturating_sub(count.saturating_mul(delta));
        Some(Segment { first, count, delta, row_start, row_end, database, step, max_step })
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

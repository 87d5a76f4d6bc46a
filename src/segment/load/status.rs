//! [`SegmentStatus`]: the state of a tag, for operators.

use std::fmt;
use std::time::Duration;

use crate::engine::TakeError;
use crate::segment::SegmentError;
use crate::segment::load::loaded_tag::LoadedTag;
use crate::segment::load::policy::Policy;
use crate::sync::{Arc, lock};

/// The state of a tag at one moment, from
/// [`SegmentGenerator::status`](crate::segment::SegmentGenerator::status).
///
/// Counters are of this process, since it first used the tag. They are read one after the other
/// while takes go on, so they need not add up to the last digit.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SegmentStatus {
    /// Loaded numbers that are not taken yet. If the process is killed now, these are lost, and so
    /// are the claims of local takers. None after a shutdown.
    pub in_memory: u64,
    /// The most of them, if [`max_in_memory`](crate::segment::Builder::max_in_memory) is set: that,
    /// or the step of the row if it is larger.
    pub max_in_memory: Option<u64>,
    /// Numbers taken, including those that `fill` and local takers have claimed.
    pub taken: u64,
    /// Numbers that nobody will get. A taker loses a number if it is suspended in the middle of a
    /// take until others have used up two segments. A local taker loses the rest of its claim if it
    /// is dropped after others have taken later numbers, or after its claim emptied the memory and
    /// later numbers were loaded. Numbers of rejected segments that the row did not take back count
    /// as well.
    pub lost: u64,
    /// Numbers taken per second, averaged over the last [`ahead`](crate::segment::Builder::ahead).
    pub rate: f64,
    /// How long the numbers in memory last at this rate without another load. `None` if the rate is
    /// zero.
    pub empty_in: Option<Duration>,
    /// The distance from one number to the next.
    pub delta: u64,
    /// The size of the last loaded segment.
    pub segment: u64,
    /// The last number of all that were loaded.
    pub last_number: Option<u64>,
    /// Segments loaded.
    pub loads: u64,
    /// How long recent loads took.
    pub load_time: Duration,
    /// Loads that failed.
    pub failures: u64,
    /// Why the last load failed, if it did.
    pub last_failure: Option<Arc<SegmentError>>,
    /// Since when no load has succeeded, if the last one failed, or if the present one is slow and
    /// no numbers are left.
    pub failing_for: Option<Duration>,
    /// Why takes fail, at once or after their wait. `None` while numbers are given or on their way.
    pub obstacle: Option<TakeError>,
    /// Takes that waited for a load.
    pub waits: u64,
    /// The longest of these waits.
    pub longest_wait: Duration,
}

impl SegmentStatus {
    /// The status of `tag` at `now`, whose numbers are loaded by this `policy`.
    #[allow(clippy::cast_precision_loss)] // it is a time to come
    pub(crate) fn of(tag: &LoadedTag, now: Duration, policy: &Policy) -> SegmentStatus {
        let (engine, counters) = (&tag.engine, &tag.engine.counters);
        let (claimed, left) = engine.claimed_and_left();
        let obstacle = engine.lasting_obstacle(left);
        let mut status = SegmentStatus {
            // What is left after the end goes back to its row.
            in_memory: if obstacle.is_some() { 0 } else { left },
            max_in_memory: Some(policy.max_in_memory).filter(|most| *most < u64::MAX),
            taken: claimed.saturating_sub(engine.lost()),
            lost: engine.lost(),
            rate: 0.0,
            empty_in: None,
            delta: engine.delta(),
            segment: 0,
            last_number: None,
            loads: counters.loads.get(),
            load_time: Duration::ZERO,
            failures: counters.failures.get(),
            last_failure: None,
            failing_for: None,
            obstacle,
            waits: counters.waits.get(),
            longest_wait: counters.longest_wait(),
        };
        // In a forked process the lock may be held by a thread that does not exist.
        if engine.is_forked() {
            return status;
        }
        let state = lock(&tag.state);
        let mut demand = state.demand;
        demand.measure(claimed, now, policy.ahead);
        status.max_in_memory = status.max_in_memory.map(|most| most.max(state.steps.step));
        status.rate = demand.rate;
        status.empty_in = Duration::try_from_secs_f64(status.in_memory as f64 / demand.rate).ok();
        status.lost = state.alarm.lost(engine.lost());
        status.segment = state.last_size;
        status.last_number = state.last_number(status.delta);
        status.load_time = state.load_time;
        status.last_failure.clone_from(&state.last_failure);
        status.failing_for = state.alarm.since().map(|since| now.saturating_sub(since));
        status
    }
}

impl fmt::Display for SegmentStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "numbers: {} taken, {} in memory{}, {} lost, {} apart",
            self.taken,
            self.in_memory,
            self.max_in_memory.map_or_else(String::new, |most| format!(" of {most} at most")),
            self.lost,
            self.delta
        )?;
        writeln!(
            f,
            "loads: {} of now {} numbers, in {:?}; {} failed",
            self.loads, self.segment, self.load_time, self.failures
        )?;
        write!(f, "takes that waited: {}, {:?} at most", self.waits, self.longest_wait)?;
        if let Some(obstacle) = self.obstacle {
            write!(f, "\ntakes get no number: {obstacle}")?;
        }
        match &self.last_failure {
            Some(error) => write!(f, "\nthe last load failed: {error}"),
            None => Ok(()),
        }
    }
}

//! The policy of loads: how many numbers to load, and when. Pure arithmetic.

use std::num::NonZeroU64;
use std::time::Duration;

/// The settings of the program.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    /// How long the numbers in memory should last, at least.
    pub ahead: Duration,
    /// How long a segment should last, if its size is free.
    pub refresh: Duration,
    /// The largest segment of a tag whose row sets no limit.
    pub max_step: u64,
    /// The most numbers of a tag in memory.
    pub max_in_memory: u64,
    /// How long a take waits.
    pub max_wait: Duration,
    /// How long a tag may give no number before it is given up. `None`: for ever.
    pub rest: Option<Duration>,
}

/// The limits that the row of a tag sets.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    pub step: u64,
    /// Not zero, so that it takes less memory.
    pub max_step: Option<NonZeroU64>,
}

/// The largest ratio of a segment to the one before. So a short burst does not load numbers that
/// nobody needs. Growing from 1,000 to 1,000,000 takes five loads.
const GROWTH: u64 = 4;

/// The shortest and the longest pause after a failure.
const SHORTEST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// The demand for a tag: a moving average over about [`Policy::ahead`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Demand {
    /// Numbers per second.
    pub rate: f64,
    /// The next ticket at the last measurement.
    position: u64,
    measured_at: Duration,
}

impl Demand {
    /// A demand of zero.
    pub fn new(now: Duration) -> Demand {
        Demand { rate: 0.0, position: 0, measured_at: now }
    }

    /// Updates the demand. `position` is the next ticket at the time `now`.
    #[allow(clippy::cast_precision_loss)] // it is a mean
    pub fn measure(&mut self, position: u64, now: Duration, ahead: Duration) {
        let elapsed = now.saturating_sub(self.measured_at).as_secs_f64();
        let taken = position.saturating_sub(self.position) as f64;
        let ahead = ahead.as_secs_f64().max(0.001);
        // Older demand has less weight. If no time has passed, `taken` still counts in full.
        let weight = 1.0 - (-elapsed / ahead).exp();
        let recent = if elapsed < ahead / 1e6 { taken / ahead } else { weight * taken / elapsed };
        self.rate = (1.0 - weight) * self.rate + recent;
        (self.position, self.measured_at) = (position, now);
    }

    /// Leaves `count` numbers out that are about to be taken.
    pub fn leave_out(&mut self, count: u64) {
        self.position += count;
    }

    /// Whether nothing has been taken up to `position` since the time `since`.
    pub fn is_resting(&self, position: u64, since: Duration) -> bool {
        self.position == position && self.measured_at <= since
    }

    /// The expected number of takes in `time`.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // the cast saturates
    pub fn of(&self, time: Duration) -> u64 {
        (self.rate * time.as_secs_f64()).ceil() as u64
    }
}

impl Policy {
    /// The low-water mark: a load is due when fewer numbers than this are left. It covers an outage
    /// of `ahead` plus the longest retry pause, and at least half of a usual load.
    pub fn low_water(&self, demand: &Demand, load_time: Duration, usual: u64) -> u64 {
        // Time for four loads: one that fails, one that fails after the pause, one that succeeds,
        // and a reserve.
        let loads = load_time.saturating_mul(4);
        let time = self.ahead.saturating_add(LONGEST_PAUSE).saturating_add(loads);
        demand.of(time).max(usual / 2).max(1)
    }

    /// The highest mark at which a load may be due: below it, the smallest load leads to no more
    /// numbers than may be in memory. If the step of the row is larger than that, it is 1.
    pub fn highest_mark(&self, steps: Steps) -> u64 {
        self.max_in_memory.saturating_sub(steps.step).saturating_add(1).max(1)
    }

    /// The size of the next load, while `left` numbers are left. `last` is the size of the last
    /// one, and waiting takers need `missing` numbers. `None` leaves the size to the row.
    pub fn size(
        &self,
        demand: &Demand,
        steps: Steps,
        last: u64,
        missing: u64,
        left: u64,
    ) -> Option<u64> {
        let room = self.max_in_memory.saturating_sub(left);
        let largest = steps.max_step.map_or(self.max_step, NonZeroU64::get);
        let largest = largest.min(room).max(steps.step);
        let wanted = demand.of(self.refresh).min(last.saturating_mul(GROWTH)).max(missing);
        (wanted > steps.step).then_some(wanted.min(largest)).filter(|size| *size > steps.step)
    }

    /// The longest ready range while `left` numbers are left. The taker that reaches its end wakes
    /// the loader, which then measures the demand.
    pub fn longest_range(left: u64) -> u64 {
        (left / 8).max(16)
    }
}

/// The pause after a number of failures in a row. Part of it is random, so that processes that
/// failed together do not retry together.
pub fn pause(failures: u32, rng: &mut fastrand::Rng) -> Duration {
    let doublings = failures.saturating_sub(1).min(16);
    let longest = SHORTEST_PAUSE.saturating_mul(1 << doublings).min(LONGEST_PAUSE);
    longest.mul_f64(0.5 + rng.f64() / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: Policy = Policy {
        ahead: Duration::from_secs(10),
        refresh: Duration::from_secs(900),
        max_step: 1_000_000,
        max_in_memory: u64::MAX,
        max_wait: Duration::from_secs(1),
        rest: None,
    };
    const STEPS: Steps = Steps { step: 1000, max_step: None };

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn the_rate_follows_the_demand_whatever_the_intervals() {
        for step_ms in [1, 10, 1000, 30_000] {
            let mut demand = Demand::new(at(0));
            for ms in (step_ms..=120_000).step_by(usize::try_from(step_ms).unwrap_or(1)) {
                demand.measure(ms * 10, Duration::from_millis(ms), POLICY.ahead);
            }
            assert!((9_990.0..10_010.0).contains(&demand.rate), "{step_ms}: {demand:?}");
        }
    }

    #[test]
    fn what_is_taken_in_no_time_counts_once() {
        let mut demand = Demand::new(at(0));
        for _ in 0..10 {
            let position = demand.position + 100;
            demand.measure(position, at(0), POLICY.ahead);
        }
        assert!((demand.rate - 100.0).abs() < 0.1, "1,000 numbers in 10 s: {demand:?}");
        demand.measure(1000, at(3600), POLICY.ahead);
        assert!(demand.rate < 0.1, "idle for an hour: {demand:?}");
    }

    #[test]
    fn a_segment_lasts_for_the_refresh_within_the_limits() {
        let rate = |rate| Demand { rate, ..Demand::default() };
        let size = |demand, steps, last| POLICY.size(&rate(demand), steps, last, 0, 0);
        assert_eq!(size(0.0, STEPS, 1000), None);
        assert_eq!(size(1.0, STEPS, 1000), None, "900 is below the row's step");
        assert_eq!(size(2.0, STEPS, 1000), Some(1800));
        assert_eq!(size(100.0, STEPS, 1000), Some(4000), "it grows step by step");
        assert_eq!(size(10_000.0, STEPS, 900_000), Some(1_000_000));
        let own = Steps { max_step: NonZeroU64::new(3000), ..STEPS };
        assert_eq!(size(100.0, own, 1000), Some(3000), "the row's own limit");
        let free = Steps { max_step: Some(NonZeroU64::MAX), ..STEPS };
        assert_eq!(size(10_000.0, free, 9_000_000), Some(9_000_000), "no limit");
        let large = Steps { step: 5_000_000, max_step: None };
        assert_eq!(size(10_000.0, large, 1), None, "never less than the row's step");
    }

    #[test]
    fn what_is_left_and_a_load_stay_within_what_may_be_in_memory() {
        let bounded = |max_in_memory| Policy { max_in_memory, ..POLICY };
        let busy = Demand { rate: 1e6, ..Demand::default() };
        for most in [1, 999, 1000, 1001, 1500, 2000, 10_000, 1_000_000, u64::MAX] {
            let policy = bounded(most);
            // The row's step goes first.
            let most = most.max(STEPS.step);
            let mark = policy.highest_mark(STEPS);
            for left in [0, 1, mark / 2, mark - 1] {
                let left = left.min(mark - 1);
                for missing in [0, 1, 100_000] {
                    let size = policy.size(&busy, STEPS, 1_000_000, missing, left);
                    let all = left.saturating_add(size.unwrap_or(STEPS.step));
                    assert!(all <= most, "{most} {left} {size:?}");
                }
            }
        }
        assert_eq!(bounded(10_000).size(&busy, STEPS, 1_000_000, 0, 2000), Some(8000));
        assert_eq!(
            (bounded(10_000).highest_mark(STEPS), bounded(5).highest_mark(STEPS)),
            (9001, 1)
        );
    }

    #[test]
    fn pauses_grow_to_a_limit_and_stay_there() {
        let mut rng = fastrand::Rng::with_seed(7);
        for (failures, longest) in [(1, 100), (2, 200), (7, 5000), (1000, 5000), (u32::MAX, 5000)] {
            let pause = pause(failures, &mut rng).as_millis();
            assert!((longest / 2..=longest).contains(&pause), "{failures}: {pause}");
        }
    }
}

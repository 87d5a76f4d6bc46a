//! [`Allowance`]: how many worker ids a generator may take on, as a token bucket.

use std::mem;
use std::time::Duration;

use crate::clock::Stopwatch;
use crate::engine::events;

/// How many worker ids may be taken on: `most` per `period`, which may be used all at once.
pub struct Allowance {
    most: u64,
    period: Duration,
    /// What was in use at the last update, less what had been restored by then: worker ids times
    /// the nanoseconds of the period. So `most` is restored in each nanosecond.
    used: u128,
    /// The time since the last update.
    counted: Stopwatch,
    /// Whether the event for a used-up allowance was sent since all of it was last available.
    is_announced: bool,
}

impl Allowance {
    /// `most` worker ids per `period`. With a period of zero, as many as there are.
    pub fn new(most: u64, period: Duration) -> Allowance {
        Allowance { most, period, used: 0, counted: Stopwatch::start(), is_announced: false }
    }

    pub fn is_any_left(&self) -> bool {
        self.used() + self.period.as_nanos() <= self.most_in(self.period)
    }

    /// How long until one is left: zero if one is, `None` if none ever is.
    pub fn until_next(&self) -> Option<Duration> {
        let missing = (self.used() + self.period.as_nanos()).checked_sub(self.most_in(self.period));
        let wait = missing.unwrap_or(0).div_ceil(u128::from(self.most).max(1));
        (self.most > 0).then(|| Duration::from_nanos(u64::try_from(wait).unwrap_or(u64::MAX)))
    }

    pub fn use_one(&mut self) {
        let used = self.used();
        self.is_announced &= used > 0;
        (self.used, self.counted) = (used + self.period.as_nanos(), Stopwatch::start());
    }

    /// Sends the event, only once until the whole allowance is available again. Otherwise each
    /// single id that becomes available would cause another event.
    pub fn announce(&mut self) {
        if !mem::replace(&mut self.is_announced, true) {
            events::new_workers_used_up(self.most, self.period);
        }
    }

    fn used(&self) -> u128 {
        self.used.saturating_sub(self.most_in(self.counted.elapsed()))
    }

    fn most_in(&self, time: Duration) -> u128 {
        time.as_nanos().saturating_mul(self.most.into())
    }
}

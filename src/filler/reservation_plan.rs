//! [`ReservationPlan`]: when ticks of a lease are reserved, and how many.

use std::time::Duration;

use crate::clock::Stopwatch;
use crate::layout::Layout;
use crate::registry::Lease;

/// When ticks are reserved, and how many.
pub struct ReservationPlan {
    /// The time since the last reservation.
    pub since: Option<Stopwatch>,
    /// How many ticks are reserved at a time: at first as many as came with the lease, later as
    /// many as its duration has. The number grows with the pace, so that a busy generator reserves
    /// at most a few times per second.
    pub ticks: u64,
    /// The tick from which the reservation requested last counts.
    pub from: u64,
    /// How many ticks the last successful reservation covered.
    pub covered: u64,
    pub retry: Retry,
}

/// A pause after a refusal, which doubles with each further one.
#[derive(Default)]
pub struct Retry {
    pub refused: Option<(Stopwatch, Duration)>,
}

pub const FIRST_RETRY: Duration = Duration::from_secs(1);

/// A lease that is shorter is reserved as often as one of this duration. A registry of one's own
/// may name a duration below the time that its calls take.
pub const SHORTEST_DURATION: Duration = Duration::from_secs(1);

/// If a reservation is used up within this time, the next one has twice as many ticks.
pub const BUSY_PERIOD: Duration = Duration::from_millis(500);

impl ReservationPlan {
    pub fn new(lease: &Lease) -> ReservationPlan {
        let ticks = (lease.last - lease.first).max(1);
        ReservationPlan {
            since: None,
            ticks,
            from: lease.first,
            covered: ticks,
            retry: Retry::default(),
        }
    }

    /// The tick from which the next reservation counts, or `None` if no reservation is due.
    pub fn due_from(
        &mut self,
        used: u64,
        now: u64,
        reserved: u64,
        duration: Duration,
        layout: &Layout,
    ) -> Option<u64> {
        let is_late = self.since() >= duration.max(SHORTEST_DURATION) / 2;
        if reserved >= layout.max_tick() {
            None
        } else if reserved.saturating_sub(used) < (self.ticks / 2).max(1) {
            Some(used)
        } else {
            // If only the duration makes it necessary, the reservation counts from the clock. A
            // generator that is ahead of the clock has enough ticks, and a crash then wastes no
            // more.
            is_late.then_some(now)
        }
    }

    /// The time since the last reservation, or since this was first called.
    pub fn since(&mut self) -> Duration {
        self.since.get_or_insert_with(Stopwatch::start).elapsed()
    }

    /// The last tick to reserve now, in a reservation that counts from the tick `from`.
    pub fn request(
        &mut self,
        from: u64,
        reserved: u64,
        duration: Duration,
        layout: &Layout,
    ) -> u64 {
        let since = self.since();
        let is_late = since >= duration / 2;
        let enough = layout.ticks_in(duration).max(2);
        self.ticks = if self.ticks < enough {
            self.ticks.saturating_mul(2).min(enough)
        } else if is_late {
            self.ticks.div_ceil(2).max(enough)
        } else if since < BUSY_PERIOD {
            self.ticks.saturating_mul(2)
        } else {
            self.ticks
        };
        self.from = from;
        from.saturating_add(self.ticks).clamp(reserved, layout.max_tick())
    }

    /// Records a successful reservation up to `last`.
    pub fn done(&mut self, last: u64) {
        self.covered = last.saturating_sub(self.from);
        (self.since, self.retry.refused) = (Some(Stopwatch::start()), None);
    }
}

impl Retry {
    pub fn is_due(&self) -> bool {
        self.refused.as_ref().is_none_or(|(since, pause)| since.elapsed() >= *pause)
    }

    pub fn back_off(&mut self, most: Duration) {
        let pause = match &self.refused {
            Some((_, pause)) => (*pause * 2).min(most),
            None => FIRST_RETRY,
        };
        self.refused = Some((Stopwatch::start(), pause));
    }
}

//! [`Limits`]: which ticks may be handed out, by what the clock shows. Pure arithmetic.

use std::time::{Duration, SystemTime};

use crate::layout::{FARTHEST_MS, Layout};
use crate::registry::{Lease, Request};
use crate::ring::codec::{TickCodec, Window};

/// How far UIDs may be from the clock, in milliseconds since the layout's epoch.
///
/// The filler looks at the clock on a grid. What would become stale before its next look is stale
/// at this one, so that takes need not look at all.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub layout: Layout,
    max_lead_ms: i64,
    max_lag_ms: i64,
}

/// Keeps sums of times within the range of the type. As a time, 73 million years: further than any
/// clock under which a generator is built can be from its epoch.
const FAR_MS: i64 = i64::MAX / 4;
const _: () = assert!(2 * FARTHEST_MS < FAR_MS);

impl Limits {
    pub fn new(layout: Layout, max_lead: Duration, max_lag: Duration) -> Limits {
        let ms =
            |duration: Duration| i64::try_from(duration.as_millis()).unwrap_or(FAR_MS).min(FAR_MS);
        Limits { layout, max_lead_ms: ms(max_lead), max_lag_ms: ms(max_lag) }
    }

    /// What the clock shows, in the unit of the other functions.
    pub fn ms_at(&self, now: SystemTime) -> i64 {
        self.layout.ms_at(now).clamp(-FAR_MS, FAR_MS)
    }

    /// The second of the clock, which may lie before the layout or after it.
    pub fn tick_at(&self, now_ms: i64) -> i64 {
        now_ms.div_euclid(self.tick_ms())
    }

    /// The window of a lease at `now_ms`.
    pub fn window(&self, codec: &TickCodec, now_ms: i64, lease: &Lease) -> Window {
        let (earliest, last) = match self.last_tick(now_ms) {
            Some(last) => (lease.first, last.min(lease.last)),
            // Not even tick 0 is due: the window is empty.
            None => (lease.first.max(1), 0),
        };
        let first = self.fresh_tick(now_ms).min(self.layout.max_tick() + 1).max(earliest);
        let [first, last, reserved] =
            [first, last, lease.last].map(|tick| codec.base(tick, lease.worker));
        Window { first, last, reserved }
    }

    /// What to ask of a registry at `now_ms`.
    pub fn request(&self, now_ms: i64) -> Request {
        // With half of the lead left, at least.
        let latest = u64::try_from(self.tick_at(now_ms + self.max_lead_ms / 2)).unwrap_or(0);
        Request::new(self.layout, self.fresh_tick(now_ms), latest.min(self.layout.max_tick()))
    }

    /// Where a refill begins that has nothing to follow: at the clock's second, or, where the limit
    /// is shorter than a second, at the first that will not be stale before the next look.
    pub fn fresh_tick(&self, now_ms: i64) -> u64 {
        let earliest_ms = self.next_look(now_ms) - self.max_lag_ms;
        let earliest = earliest_ms.div_euclid(self.tick_ms())
            + i64::from(earliest_ms.rem_euclid(self.tick_ms()) > 0);
        u64::try_from(self.tick_at(now_ms).max(earliest)).unwrap_or(0)
    }

    /// The last tick that may be published; `None` while the clock shows a time so long before the
    /// epoch that there is none.
    pub fn last_tick(&self, now_ms: i64) -> Option<u64> {
        let last = u64::try_from(self.tick_at(now_ms + self.max_lead_ms)).ok()?;
        Some(last.min(self.layout.max_tick()))
    }

    /// Whether `tick` may be published: whether it is no further ahead of the clock than
    /// `max_lead`.
    pub fn is_due(&self, tick: u64, now_ms: i64) -> bool {
        self.last_tick(now_ms).is_some_and(|last| tick <= last)
    }

    /// Whether the clock shows the layout's last tick, of which nothing new is published, or a
    /// later one.
    pub fn is_over(&self, now_ms: i64) -> bool {
        u64::try_from(self.tick_at(now_ms)).is_ok_and(|tick| tick >= self.layout.max_tick())
    }

    /// Whether `tick` lies, or will lie before the next look, further back than `max_lag`.
    pub fn is_stale(&self, tick: u64, now_ms: i64) -> bool {
        self.ms_of(tick).saturating_add(self.max_lag_ms) < self.next_look(now_ms)
    }

    /// When the filler looks at the clock again: twice within `max_lag`, but no more often than
    /// once a tick, and no less often than once a second.
    ///
    /// It looks where a tick begins. That tick may then be published, however short the lead, and
    /// it is not stale before the next look unless `max_lag` is shorter than a tick: so there is a
    /// UID at every moment in between. Half of `max_lag` leaves takers the other half to come to a
    /// tick late.
    pub fn next_look(&self, now_ms: i64) -> i64 {
        let tick = self.tick_ms();
        let step = (self.max_lag_ms / 2).clamp(tick, 1000) / tick * tick;
        now_ms - now_ms.rem_euclid(step) + step
    }

    /// How long until `tick` may be published.
    pub fn until_allowed(&self, tick: u64, now_ms: i64) -> Duration {
        duration_ms(self.ms_of(tick).saturating_sub(self.max_lead_ms).saturating_sub(now_ms))
    }

    /// How far `tick` is ahead of the clock.
    pub fn lead(&self, tick: u64, now_ms: i64) -> Duration {
        duration_ms(self.ms_of(tick).saturating_sub(now_ms))
    }

    /// How far `tick` is behind the clock.
    pub fn lag(&self, tick: u64, now_ms: i64) -> Duration {
        duration_ms(now_ms.saturating_sub(self.ms_of(tick)))
    }

    /// Whether half of the lead that is allowed, or more, is used up by `tick`.
    pub fn is_half_used(&self, tick: u64, now_ms: i64) -> bool {
        self.ms_of(tick).saturating_sub(now_ms) >= self.max_lead_ms / 2
    }

    fn ms_of(&self, tick: u64) -> i64 {
        i64::try_from(tick).unwrap_or(FAR_MS).saturating_mul(self.tick_ms()).min(FAR_MS)
    }

    fn tick_ms(&self) -> i64 {
        i64::try_from(self.layout.tick().as_millis()).unwrap_or(1000)
    }
}

/// `ms`, or nothing if it is past.
pub fn duration_ms(ms: i64) -> Duration {
    Duration::from_millis(u64::try_from(ms).unwrap_or(0))
}

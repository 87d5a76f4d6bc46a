//! [`Limits`]: which ticks may be handed out, given what the clock shows. Pure arithmetic.

use std::time::{Duration, SystemTime};

use crate::layout::{FARTHEST_MS, Layout};
use crate::registry::{Lease, Request};
use crate::ring::codec::TickCodec;
use crate::ring::window::Window;

/// What happens when UIDs have been taken so fast that their time is
/// [`max_lead`](crate::Builder::max_lead) ahead of the clock.
///
/// Unless [`on_lead_limit`](crate::Builder::on_lead_limit) sets it, this is `NewWorker` if
/// `max_lead` is an hour or more, and `Wait` if it is shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LeadLimit {
    /// The filler takes another worker id from the registry and starts again at the clock's tick.
    /// Throughput continues, but the order of UIDs starts anew with each worker id, and worker ids
    /// are used up. [`max_new_workers`](crate::Builder::max_new_workers) says how many at most.
    /// Beyond that, and if the registry has no worker id, takes wait as with
    /// [`Wait`](LeadLimit::Wait).
    NewWorker,
    /// A take parks its thread until the next tick is due, so that no more than `2^sequence_bits`
    /// UIDs are taken in a tick. Waiting threads are served in order. Waiting tasks are served in
    /// order too, but only with UIDs that are left over by threads.
    Wait,
    /// A take fails with [`TakeError::LeadLimit`](crate::TakeError::LeadLimit), which says when to
    /// try again.
    Fail,
}

/// With a shorter lead, reaching the limit is nothing unusual: the clock soon catches up, and
/// worker ids would be used up before anybody notices. A load of twice the layout's rate would use
/// one up in each `max_lead` of time.
const LONG_LEAD: Duration = Duration::from_secs(3600);

impl LeadLimit {
    /// The policy for this `max_lead` if none is set.
    pub(crate) fn of(max_lead: Duration) -> LeadLimit {
        if max_lead >= LONG_LEAD { LeadLimit::NewWorker } else { LeadLimit::Wait }
    }
}

/// How far UIDs may be from the clock. Times are in milliseconds since the layout's epoch.
///
/// The filler reads the clock at fixed intervals. A tick that would become stale before the next
/// maintenance counts as stale already, so that takes need not read the clock.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub layout: Layout,
    /// The last tick of the layout that is published.
    pub final_tick: u64,
    max_lead_ms: i64,
    max_lag_ms: i64,
    max_forward_jump_ms: Option<i64>,
}

/// Keeps sums of times within the range of the type. It stands for 73 million years, further than
/// the clock can be from the epoch when a generator is built.
const FAR_MS: i64 = i64::MAX / 4;
const _: () = assert!(2 * FARTHEST_MS < FAR_MS);

impl Limits {
    pub fn new(
        layout: Layout,
        max_lead: Duration,
        max_lag: Duration,
        max_forward_jump: Option<Duration>,
    ) -> Limits {
        let ms =
            |duration: Duration| i64::try_from(duration.as_millis()).unwrap_or(FAR_MS).min(FAR_MS);
        let final_tick = layout.final_tick();
        Limits {
            layout,
            final_tick,
            max_lead_ms: ms(max_lead),
            max_lag_ms: ms(max_lag),
            max_forward_jump_ms: max_forward_jump.map(ms),
        }
    }

    /// `now` in the unit of the other functions.
    pub fn ms_at(&self, now: SystemTime) -> i64 {
        self.layout.ms_at(now).clamp(-FAR_MS, FAR_MS)
    }

    /// The tick that contains `now_ms`. It may lie before the layout's first tick or after its
    /// last.
    pub fn tick_at(&self, now_ms: i64) -> i64 {
        now_ms.div_euclid(self.tick_ms())
    }

    /// Whether `now_ms` lies in `tick`. Costs no division.
    #[inline]
    pub fn is_in(&self, tick: u64, now_ms: i64) -> bool {
        let tick_ms = self.layout.tick_ms().into();
        now_ms.cast_unsigned().wrapping_sub(tick.wrapping_mul(tick_ms)) < tick_ms
    }

    /// How ticks are numbered: when tick 0 begins, in milliseconds since 1970, and how many of
    /// these each lasts.
    #[inline]
    pub fn numbering(&self) -> (i64, u16) {
        (self.layout.epoch_ms(), self.layout.tick_ms())
    }

    /// The tick that contains `now_ms`, or the first one if the clock has not come to it.
    pub fn clock_tick(&self, now_ms: i64) -> u64 {
        self.tick_at(now_ms).max(0).cast_unsigned()
    }

    /// The window of `lease` at `now_ms`.
    pub fn window(&self, codec: &TickCodec, now_ms: i64, lease: &Lease) -> Window {
        let (earliest, last) = match self.last_tick(now_ms) {
            Some(last) => (lease.first, last.min(lease.last)),
            // Not even tick 0 is due, so the window is empty.
            None => (lease.first.max(1), 0),
        };
        let first = self.fresh_tick(now_ms).min(self.final_tick + 1).max(earliest);
        let [first_base, last_base, reserved_base] =
            [first, last, lease.last].map(|tick| codec.base_at(tick, lease.worker));
        Window { first_base, last_base, reserved_base }
    }

    /// The request for a worker id at `now_ms`.
    pub fn request(&self, now_ms: i64) -> Request {
        // At least half of the lead is left then.
        let latest = u64::try_from(self.tick_at(now_ms + self.max_lead_ms / 2)).unwrap_or(0);
        let now = self.fresh_tick(now_ms);
        // With a lead of less than two ticks, the first one may be later than that.
        Request::new(self.layout, now, latest.max(now).min(self.final_tick))
    }

    /// The tick at which a new worker id, or a ring that has become stale, begins: the clock's
    /// tick, or, if `max_lag` is shorter than a tick, the first one that does not become stale
    /// before the next maintenance.
    pub fn fresh_tick(&self, now_ms: i64) -> u64 {
        let earliest_ms = self.next_maintenance_ms(now_ms) - self.max_lag_ms;
        let earliest = earliest_ms.div_euclid(self.tick_ms())
            + i64::from(earliest_ms.rem_euclid(self.tick_ms()) > 0);
        u64::try_from(self.tick_at(now_ms).max(earliest)).unwrap_or(0)
    }

    /// The last tick that may be published. `None` if the clock is so far before the epoch that
    /// there is none.
    pub fn last_tick(&self, now_ms: i64) -> Option<u64> {
        let last = u64::try_from(self.tick_at(now_ms + self.max_lead_ms)).ok()?;
        Some(last.min(self.final_tick))
    }

    /// Whether `tick` may be published, that is, whether it is at most `max_lead` ahead of the
    /// clock.
    pub fn is_due(&self, tick: u64, now_ms: i64) -> bool {
        self.last_tick(now_ms).is_some_and(|last| tick <= last)
    }

    /// Whether the clock has reached the final tick, after which no tick is published.
    pub fn is_over(&self, now_ms: i64) -> bool {
        u64::try_from(self.tick_at(now_ms)).is_ok_and(|tick| tick >= self.final_tick)
    }

    /// Whether `tick` is further behind the clock than `max_lag`, or will be before the next
    /// maintenance.
    pub fn is_stale(&self, tick: u64, now_ms: i64) -> bool {
        self.ms_of(tick).saturating_add(self.max_lag_ms) < self.next_maintenance_ms(now_ms)
    }

    /// When the filler reads the clock again: twice within `max_lag`, but at most once a tick, and
    /// at least once a second.
    ///
    /// This is always at the beginning of a tick. That tick may then be published, however short
    /// the lead, and it does not become stale before the next maintenance unless `max_lag` is
    /// shorter than a tick. So there is a UID at every moment in between. Using half of `max_lag`
    /// leaves the other half for takers that come to a tick late.
    pub fn next_maintenance_ms(&self, now_ms: i64) -> i64 {
        let tick = self.tick_ms();
        let step = (self.max_lag_ms / 2).clamp(tick, 1000) / tick * tick;
        now_ms - now_ms.rem_euclid(step) + step
    }

    /// How long it takes until `tick` may be published.
    pub fn until_allowed(&self, tick: u64, now_ms: i64) -> Duration {
        duration_ms(self.ms_of(tick).saturating_sub(self.max_lead_ms).saturating_sub(now_ms))
    }

    /// The last tick that the clock can show without a jump that is not followed, if there may be
    /// such jumps.
    pub fn latest_tick(&self, now_ms: i64) -> Option<u64> {
        let jump_ms = self.max_forward_jump_ms?;
        Some(self.clock_tick(now_ms.saturating_add(jump_ms)))
    }

    /// When `tick` may be published, to the resolution of the clock.
    pub fn allowed_from(&self, tick: u64) -> SystemTime {
        let begin = self.layout.begin_of(tick.min(self.final_tick));
        begin.checked_sub(duration_ms(self.max_lead_ms)).unwrap_or(begin)
    }

    /// How far `tick` is ahead of the clock.
    pub fn lead(&self, tick: u64, now_ms: i64) -> Duration {
        duration_ms(self.ms_of(tick).saturating_sub(now_ms))
    }

    /// How far `tick` is behind the clock.
    pub fn lag(&self, tick: u64, now_ms: i64) -> Duration {
        duration_ms(now_ms.saturating_sub(self.ms_of(tick)))
    }

    /// Whether `tick` uses up half of `max_lead` or more.
    pub fn is_half_used(&self, tick: u64, now_ms: i64) -> bool {
        self.ms_of(tick).saturating_sub(now_ms) >= self.max_lead_ms / 2
    }

    fn ms_of(&self, tick: u64) -> i64 {
        i64::try_from(tick).unwrap_or(FAR_MS).saturating_mul(self.tick_ms()).min(FAR_MS)
    }

    fn tick_ms(&self) -> i64 {
        self.layout.tick_ms().into()
    }
}

/// `ms` as a duration, or zero if it is negative.
pub fn duration_ms(ms: i64) -> Duration {
    Duration::from_millis(u64::try_from(ms).unwrap_or(0))
}

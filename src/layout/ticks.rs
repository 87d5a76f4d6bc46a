//! Which tick a time is in, and when a tick begins.

use std::time::{Duration, SystemTime};

use super::Layout;
use crate::clock::{from_unix_ms, nearest, saturated, unix_ms};

/// How far from 1970 an epoch may lie, and the clock when a generator is built: 10^15 s, 31 million
/// years. Differences of such times in milliseconds, and sums of a few of them, do not overflow.
pub(crate) const FARTHEST_MS: i64 = 1_000_000_000_000_000_000;

impl Layout {
    /// When the time field ends: the first instant that it cannot represent. Where the platform
    /// has no such time, the last one that it has.
    ///
    /// ```
    /// # use uidring::Layout;
    /// let end = Layout::DEFAULT.expires_at(); // 2060-01-10T13:37:04Z
    /// assert_eq!(Layout::DEFAULT.tick_at(end), None);
    /// ```
    #[must_use]
    pub fn expires_at(&self) -> SystemTime {
        self.begin_of(self.max_tick() + 1)
    }

    /// When the time field ends, in milliseconds since 1970, limited to the range of the type.
    pub(crate) fn expires_at_ms(&self) -> i64 {
        saturated(self.unix_ms_of(self.max_tick() + 1))
    }

    /// The tick that contains `time`, counted from the epoch. `None` before the epoch, and from
    /// [`expires_at`](Layout::expires_at) on.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use uidring::Layout;
    /// let layout = Layout::DEFAULT;
    /// let time = layout.epoch() + Duration::from_millis(90_999);
    /// assert_eq!(layout.tick_at(time), Some(90));
    /// assert_eq!(layout.tick_at(layout.epoch() - Duration::from_secs(1)), None);
    /// ```
    #[must_use]
    pub fn tick_at(&self, time: SystemTime) -> Option<u64> {
        let tick = u64::try_from(self.signed_tick_at(time)).ok()?;
        (tick <= self.max_tick()).then_some(tick)
    }

    /// When `tick` begins. `None` for a tick after [`max_tick`](Layout::max_tick), and for one
    /// whose time the platform cannot represent, as [`try_parts`](Layout::try_parts) says.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use uidring::Layout;
    /// let layout = Layout::DEFAULT;
    /// assert_eq!(layout.time_of(90), Some(layout.epoch() + Duration::from_secs(90)));
    /// assert_eq!(layout.time_of(layout.max_tick() + 1), None);
    /// ```
    #[must_use]
    pub fn time_of(&self, tick: u64) -> Option<SystemTime> {
        if tick <= self.max_tick() { self.checked_begin_of(tick) } else { None }
    }

    /// How many whole ticks after the epoch `time` is; negative before it.
    pub(crate) fn signed_tick_at(&self, time: SystemTime) -> i64 {
        let ticks = (unix_ms(time) - i128::from(self.epoch_ms)).div_euclid(self.tick_ms.into());
        i64::try_from(ticks).unwrap_or(if ticks < 0 { i64::MIN } else { i64::MAX })
    }

    /// How many ticks cover `duration`.
    pub(crate) fn ticks_in(&self, duration: Duration) -> u64 {
        u64::try_from(duration.as_millis().div_ceil(self.tick_ms.into())).unwrap_or(u64::MAX)
    }

    /// How many milliseconds after the epoch `time` is, rounded down and limited to the range of
    /// the type.
    pub(crate) fn ms_at(&self, time: SystemTime) -> i64 {
        saturated(unix_ms(time) - i128::from(self.epoch_ms))
    }

    /// When `tick` begins, or the nearest time that the platform has.
    pub(crate) fn begin_of(&self, tick: u64) -> SystemTime {
        nearest(self.unix_ms_of(tick))
    }

    pub(super) fn checked_begin_of(&self, tick: u64) -> Option<SystemTime> {
        from_unix_ms(self.unix_ms_of(tick))
    }

    /// When `tick` begins, in milliseconds since 1970.
    pub(super) fn unix_ms_of(&self, tick: u64) -> i128 {
        i128::from(self.epoch_ms) + i128::from(tick) * i128::from(self.tick_ms)
    }
}

/// Whether `time` is further from 1970 than [`FARTHEST_MS`].
pub(crate) fn is_far(time: SystemTime) -> bool {
    let farthest = i128::from(FARTHEST_MS);
    !(-farthest..=farthest).contains(&unix_ms(time))
}

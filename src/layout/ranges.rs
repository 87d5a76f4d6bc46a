//! The UIDs of a span of time: what a query by time asks for.

use std::ops::{Bound, RangeBounds, RangeInclusive};
use std::time::SystemTime;

use super::Layout;
use crate::uid::Uid;

impl Layout {
    /// The UIDs whose time, as [`parts`](Layout::parts) tells it, lies in `times`: a range of time
    /// as a range of the key. Where no tick begins within `times`, the range is empty.
    ///
    /// With [`FieldOrder::TimeFirst`](crate::FieldOrder::TimeFirst), ranges of time that follow one
    /// another give ranges of UIDs that follow one another, without a gap or an overlap:
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use uidring::Layout;
    /// let layout = Layout::DEFAULT;
    /// let noon = layout.epoch() + Duration::from_secs(12 * 3600);
    /// let uids = layout.uids_in(noon..noon + Duration::from_secs(60));
    /// let (first, last) = (uids.start(), uids.end());
    /// // That minute's orders.
    /// let query = format!("SELECT * FROM orders WHERE id BETWEEN {first} AND {last}");
    /// assert_eq!(layout.parts(*first).time, noon);
    /// assert_eq!(layout.parts(*last).time, noon + Duration::from_secs(59));
    /// assert!(layout.uids_in(noon..noon).is_empty());
    /// ```
    ///
    /// A UID's time may lie ahead of the moment at which it was taken, by up to
    /// [`max_lead`](crate::Builder::max_lead), or behind it, by up to
    /// [`max_lag`](crate::Builder::max_lag).
    ///
    /// With [`FieldOrder::WorkerFirst`](crate::FieldOrder::WorkerFirst), a range of time is one
    /// range of UIDs for each worker; see [`uids_of`](Layout::uids_of). The range returned here
    /// then goes from the first worker's to the last one's. It has all UIDs of these times, but
    /// also UIDs of other times.
    #[must_use]
    pub fn uids_in(&self, times: impl RangeBounds<SystemTime>) -> RangeInclusive<Uid> {
        self.range(0, self.max_worker(), &times).unwrap_or(Uid::MAX..=Uid::MIN)
    }

    /// The UIDs of `worker` whose time lies in `times`, as in [`uids_in`](Layout::uids_in). The
    /// range is empty for a worker after [`max_worker`](Layout::max_worker).
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use uidring::Layout;
    /// let layout = Layout::SEATA;
    /// let noon = layout.epoch() + Duration::from_secs(12 * 3600);
    /// let uids = layout.uids_of(7, noon..noon + Duration::from_secs(60));
    /// assert_eq!(layout.parts(*uids.start()).worker, 7);
    /// // Each number of the range is a UID of this worker and that minute.
    /// assert_eq!(uids.end().get() - uids.start().get() + 1, 60_000 * 4096);
    /// ```
    ///
    /// With [`FieldOrder::TimeFirst`](crate::FieldOrder::TimeFirst), the range also has UIDs of
    /// other workers.
    #[must_use]
    pub fn uids_of(&self, worker: u64, times: impl RangeBounds<SystemTime>) -> RangeInclusive<Uid> {
        self.range(worker, worker, &times).unwrap_or(Uid::MAX..=Uid::MIN)
    }

    /// From the first UID of the first worker to the last one of the last worker. `None` if there
    /// are none.
    fn range(
        &self,
        first_worker: u64,
        last_worker: u64,
        times: &impl RangeBounds<SystemTime>,
    ) -> Option<RangeInclusive<Uid>> {
        // The first tick that begins at `time` or later, or after `time`.
        let from = |time| match self.signed_tick_at(time) {
            tick if self.begins_at(tick, time) => tick,
            tick => tick.saturating_add(1),
        };
        let after = |time| self.signed_tick_at(time).saturating_add(1);
        let first = match times.start_bound() {
            Bound::Included(&time) => from(time),
            Bound::Excluded(&time) => after(time),
            Bound::Unbounded => 0,
        };
        let end = match times.end_bound() {
            Bound::Included(&time) => after(time),
            Bound::Excluded(&time) => from(time),
            Bound::Unbounded => i64::MAX,
        };
        let first = u64::try_from(first.max(0)).ok()?;
        let last = u64::try_from(end.checked_sub(1)?).ok()?.min(self.max_tick());
        if first > last {
            return None;
        }
        // No UID has 0 in all fields.
        let start =
            self.compose(first, first_worker, u64::from(first == 0 && first_worker == 0))?;
        let end = self.compose(last, last_worker, self.max_sequence())?;
        Some(start..=end)
    }

    fn begins_at(&self, tick: i64, time: SystemTime) -> bool {
        u64::try_from(tick).is_ok_and(|tick| self.checked_begin_of(tick) == Some(time))
    }

    /// The smallest UID of the tick that contains `time`, of any worker; for a time before the
    /// epoch, the smallest UID of all. `None` when the layout ends before `time`. With
    /// [`FieldOrder::WorkerFirst`](crate::FieldOrder::WorkerFirst), nearly all earlier UIDs are
    /// larger, see [`uids_of`](Layout::uids_of).
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use uidring::Layout;
    /// let layout = Layout::DEFAULT;
    /// let noon = layout.epoch() + Duration::from_secs(12 * 3600);
    /// // Everything since noon.
    /// let query = format!("SELECT * FROM orders WHERE id >= {}", layout.min_uid(noon).unwrap());
    /// ```
    #[must_use]
    pub fn min_uid(&self, time: SystemTime) -> Option<Uid> {
        match u64::try_from(self.signed_tick_at(time)) {
            Ok(0) | Err(_) => Some(Uid::MIN),
            Ok(tick) => self.compose(tick, 0, 0),
        }
    }

    /// The largest UID of the tick that contains `time`, of any worker; for a time after the end,
    /// the largest UID of all. `None` when the layout begins after `time`. With
    /// [`FieldOrder::WorkerFirst`](crate::FieldOrder::WorkerFirst), nearly all later UIDs are
    /// smaller, see [`uids_of`](Layout::uids_of).
    ///
    /// ```
    /// # use uidring::Layout;
    /// let layout = Layout::DEFAULT;
    /// assert_eq!(layout.max_uid(layout.epoch()), layout.compose(0, 1_048_575, 8_191));
    /// ```
    #[must_use]
    pub fn max_uid(&self, time: SystemTime) -> Option<Uid> {
        let tick = u64::try_from(self.signed_tick_at(time)).ok()?.min(self.max_tick());
        self.compose(tick, self.max_worker(), self.max_sequence())
    }
}

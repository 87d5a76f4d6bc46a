//! How the 63 bits of a UID are split. Pure arithmetic: no clock, no atomics.

use std::error::Error;
use std::fmt;
use std::ops::{Bound, RangeBounds, RangeInclusive};
use std::time::{Duration, SystemTime};

use crate::clock::{from_unix_ms, nearest, saturated, unix_ms, utc};
use crate::uid::Uid;

/// The split of a UID into time, worker and sequence.
///
/// ```text
///  63  62                           33 32                 13 12           0
/// ┌───┬───────────────────────────────┬─────────────────────┬──────────────┐
/// │ 0 │ time: ticks since the epoch   │ worker id           │ sequence     │   Layout::DEFAULT
/// └───┴───────────────────────────────┴─────────────────────┴──────────────┘
///  sign            30 bits                    20 bits            13 bits
/// ```
///
/// The time field counts *ticks* (one second, unless [`with_tick`](Layout::with_tick) says
/// otherwise) since the *epoch*. The widths sum to at most 63, so a UID is never negative. UIDs
/// sort by time first, then by worker, then by sequence, unless
/// [`with_order`](Layout::with_order) puts the worker on top.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use uidring::Layout;
///
/// let epoch = SystemTime::UNIX_EPOCH + Duration::from_secs(1_474_300_800); // 2016-09-19T16:00:00Z
/// let layout = Layout::new(29, 21, 13)?.with_epoch(epoch)?;
/// let uid = "180363646902239241".parse().unwrap();
/// let parts = layout.parts(uid);
/// assert_eq!((parts.worker, parts.sequence), (4, 9));
/// assert_eq!(parts.time, epoch + Duration::from_secs(10_498_546));
/// # Ok::<(), uidring::LayoutError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Layout {
    time_bits: u8,
    worker_bits: u8,
    sequence_bits: u8,
    order: FieldOrder,
    /// Milliseconds per tick, 1..=1000.
    tick_ms: u16,
    /// Milliseconds from 1970-01-01T00:00:00Z to tick 0.
    epoch_ms: i64,
}

/// Which field of a [`Layout`] is on top. The sequence is always at the bottom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FieldOrder {
    /// Time, worker, sequence: UIDs of all workers sort by time.
    #[default]
    TimeFirst,
    /// Worker, time, sequence: the UIDs of each worker are one run of consecutive numbers through
    /// all ticks. Only the UIDs of the same worker sort by time. Generators leave out the last tick
    /// of the layout.
    WorkerFirst,
}

/// What a UID says: the three fields of its [`Layout`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Parts {
    /// When the UID's tick begins.
    pub time: SystemTime,
    /// The worker id of the generator that made it.
    pub worker: u64,
    /// Its number within the tick, from 0.
    pub sequence: u64,
}

/// With ticks of a second, a narrower time field would end within a week.
const MIN_TIME_BITS: u32 = 20;
const TOTAL_BITS: u32 = 63;
/// How far from 1970 an epoch may lie, and the clock when a generator is built: 10^15 s, 31 million
/// years. Differences of such times in milliseconds, and sums of a few of them, do not overflow.
pub(crate) const FARTHEST_MS: i64 = 1_000_000_000_000_000_000;

impl Layout {
    /// 30 | 20 | 13 in seconds from 2026-01-01T00:00:00Z: until 2060-01-10T13:37:04Z, 1,048,576
    /// workers, 8,192 UIDs per second before a generator borrows from future seconds.
    pub const DEFAULT: Layout = Layout {
        time_bits: 30,
        worker_bits: 20,
        sequence_bits: 13,
        order: FieldOrder::TimeFirst,
        tick_ms: 1000,
        epoch_ms: 1_767_225_600_000,
    };

    /// 28 | 22 | 13 in seconds from 2016-05-19T16:00:00Z, the defaults of Baidu's `UidGenerator`,
    /// for reading its ids. The time field ended at 2024-11-20T13:24:16Z, so no generator can be
    /// built with this layout.
    pub const UID_GENERATOR: Layout = Layout {
        time_bits: 28,
        worker_bits: 22,
        sequence_bits: 13,
        epoch_ms: 1_463_673_600_000,
        ..Layout::DEFAULT
    };

    /// 30 | 16 | 7 in seconds from 2019-02-19T16:00:00Z until 2053-02-28T05:37:04Z: the defaults of
    /// `com.github.wujun234:uid-generator-spring-boot-starter`, the fork of `UidGenerator` that
    /// Maven Central has, where its servers run in China. Its ids are below 2^53.
    ///
    /// ```
    /// # use uidring::Layout;
    /// // Its first UID a day after the epoch, of worker 5.
    /// let parts = Layout::UID_GENERATOR_STARTER.parts("724775731840".parse()?);
    /// assert_eq!((parts.worker, parts.sequence), (5, 0));
    /// # Ok::<(), uidring::ParseUidError>(())
    /// ```
    pub const UID_GENERATOR_STARTER: Layout = Layout {
        time_bits: 30,
        worker_bits: 16,
        sequence_bits: 7,
        epoch_ms: 1_550_592_000_000,
        ..Layout::DEFAULT
    };

    /// 41 | 10 | 12 in milliseconds from 2010-11-04T01:42:54.657Z until 2080-07-10T17:30:30.209Z:
    /// Twitter's Snowflake, and the snowflake mode of Leaf.
    ///
    /// ```
    /// # use uidring::Layout;
    /// let parts = Layout::TWITTER.parts("1256557484213448722".parse()?);
    /// assert_eq!((parts.worker, parts.sequence), (619, 18));
    /// # Ok::<(), uidring::ParseUidError>(())
    /// ```
    pub const TWITTER: Layout = Layout {
        time_bits: 41,
        worker_bits: 10,
        sequence_bits: 12,
        order: FieldOrder::TimeFirst,
        tick_ms: 1,
        epoch_ms: 1_288_834_974_657,
    };

    /// 41 | 10 | 12 in milliseconds from 2016-11-01T00:00:00Z until 2086-07-08T15:47:35.552Z: the
    /// `SNOWFLAKE` of `ShardingSphere` where its servers run in UTC.
    ///
    /// Elsewhere it counts from midnight in the time zone of the server, with the zone's offset of
    /// the day on which the server started. In China that is 8 hours earlier:
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use uidring::Layout;
    /// let utc = Layout::SHARDING_SPHERE;
    /// let layout = utc.with_epoch(utc.epoch() - Duration::from_secs(8 * 3600))?;
    /// # assert_eq!(layout.to_string(), "41 | 10 | 12 in milliseconds from 2016-10-31T16:00:00Z");
    /// # Ok::<(), uidring::LayoutError>(())
    /// ```
    pub const SHARDING_SPHERE: Layout = Layout { epoch_ms: 1_477_958_400_000, ..Layout::TWITTER };

    /// 41 | 10 | 12 in milliseconds from 2020-05-02T16:00:00Z until 2090-01-07T07:47:35.552Z, with
    /// the worker on top: the `IdWorker` of Seata.
    ///
    /// ```
    /// # use uidring::Layout;
    /// // Its first UID at 1,000 ms after the epoch, of worker 1.
    /// let parts = Layout::SEATA.parts("9007199258836993".parse()?);
    /// assert_eq!((parts.worker, parts.sequence), (1, 1));
    /// # Ok::<(), uidring::ParseUidError>(())
    /// ```
    pub const SEATA: Layout =
        Layout { order: FieldOrder::WorkerFirst, epoch_ms: 1_588_435_200_000, ..Layout::TWITTER };

    /// 31 | 10 | 12 in seconds from 2026-01-01T00:00:00Z until 2094-01-19T03:14:08Z: all UIDs are
    /// below 2^53, so a JavaScript number holds each of them exactly. 1,024 workers, 4,096 UIDs per
    /// second before a generator borrows from future seconds.
    ///
    /// With so few worker ids, use a leased one, as
    /// [`SqliteRegistry::leased`](crate::registry::SqliteRegistry::leased) does: it is given again.
    ///
    /// ```
    /// # use uidring::Layout;
    /// let layout = Layout::JS_SAFE;
    /// let last = layout.compose(layout.max_tick(), layout.max_worker(), layout.max_sequence());
    /// assert_eq!(last.unwrap().get(), (1 << 53) - 1);
    /// ```
    pub const JS_SAFE: Layout =
        Layout { time_bits: 31, worker_bits: 10, sequence_bits: 12, ..Layout::DEFAULT };

    /// A layout of these widths, with the epoch and the tick of [`DEFAULT`](Layout::DEFAULT).
    ///
    /// ```
    /// # use uidring::Layout;
    /// let layout = Layout::new(31, 16, 16)?; // 65,536 workers, 65,536 UIDs per second
    /// assert_eq!(layout.max_worker(), 65_535);
    /// assert!(Layout::new(31, 20, 16).is_err()); // 67 bits
    /// # Ok::<(), uidring::LayoutError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`LayoutError::Width`] when `time_bits` is below 20 or another width is 0,
    /// [`LayoutError::Sum`] when together they exceed 63.
    pub fn new(
        time_bits: u32,
        worker_bits: u32,
        sequence_bits: u32,
    ) -> Result<Layout, LayoutError> {
        for (field, bits, least) in [
            ("time", time_bits, MIN_TIME_BITS),
            ("worker", worker_bits, 1),
            ("sequence", sequence_bits, 1),
        ] {
            if !(least..=TOTAL_BITS).contains(&bits) {
                return Err(LayoutError::Width { field, bits, least });
            }
        }
        if time_bits + worker_bits + sequence_bits > TOTAL_BITS {
            return Err(LayoutError::Sum { time_bits, worker_bits, sequence_bits });
        }
        // Each is at most 63 here.
        let [time_bits, worker_bits, sequence_bits] = [time_bits, worker_bits, sequence_bits]
            .map(|bits| u8::try_from(bits).unwrap_or(u8::MAX));
        Ok(Layout { time_bits, worker_bits, sequence_bits, ..Layout::DEFAULT })
    }

    /// The same layout counting from `epoch`, a whole number of milliseconds.
    ///
    /// ```
    /// # use std::time::{Duration, SystemTime};
    /// # use uidring::Layout;
    /// let epoch = SystemTime::UNIX_EPOCH + Duration::from_secs(1_577_836_800); // 2020-01-01
    /// assert_eq!(Layout::DEFAULT.with_epoch(epoch)?.time_of(0), Some(epoch));
    /// # Ok::<(), uidring::LayoutError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`LayoutError::Epoch`] when `epoch` is not a whole number of milliseconds, or lies more than
    /// 10^15 s (31 million years) before or after 1970.
    pub fn with_epoch(self, epoch: SystemTime) -> Result<Layout, LayoutError> {
        let refused = LayoutError::Epoch { epoch };
        let epoch_ms = i64::try_from(unix_ms(epoch)).map_err(|_| refused)?;
        if from_unix_ms(epoch_ms.into()) != Some(epoch) || is_far(epoch) {
            return Err(refused);
        }
        Ok(Layout { epoch_ms, ..self })
    }

    /// The same layout counting in `tick`, a whole number of milliseconds from 1 to 1,000.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use uidring::Layout;
    /// let layout = Layout::new(41, 10, 12)?.with_tick(Duration::from_millis(1))?;
    /// assert_eq!(layout.to_string(), "41 | 10 | 12 in milliseconds from 2026-01-01T00:00:00Z");
    /// # Ok::<(), uidring::LayoutError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`LayoutError::Tick`] for any other length.
    pub fn with_tick(self, tick: Duration) -> Result<Layout, LayoutError> {
        let tick_ms = u16::try_from(tick.as_millis()).unwrap_or(0);
        if !(1..=1000).contains(&tick_ms) || Duration::from_millis(tick_ms.into()) != tick {
            return Err(LayoutError::Tick { tick });
        }
        Ok(Layout { tick_ms, ..self })
    }

    /// The same layout with its fields in this order.
    ///
    /// ```
    /// # use uidring::{FieldOrder, Layout};
    /// let layout = Layout::new(41, 10, 12)?.with_order(FieldOrder::WorkerFirst);
    /// let uid = layout.compose(7, 3, 5).unwrap();
    /// assert_eq!(uid.get(), 3 << 53 | 7 << 12 | 5);
    /// # Ok::<(), uidring::LayoutError>(())
    /// ```
    #[must_use]
    pub const fn with_order(self, order: FieldOrder) -> Layout {
        Layout { order, ..self }
    }

    /// The UID of these fields; `None` when one of them does not fit its width, or when all are 0.
    ///
    /// ```
    /// # use uidring::Layout;
    /// let layout = Layout::DEFAULT;
    /// let uid = layout.compose(21_502, 9, 4).unwrap();
    /// let parts = layout.parts(uid);
    /// assert_eq!(layout.time_of(21_502), Some(parts.time));
    /// // And back again.
    /// let tick = layout.tick_at(parts.time).unwrap();
    /// assert_eq!(layout.compose(tick, parts.worker, parts.sequence), Some(uid));
    /// ```
    #[must_use]
    pub fn compose(&self, tick: u64, worker: u64, sequence: u64) -> Option<Uid> {
        let fits = tick <= self.max_tick()
            && worker <= self.max_worker()
            && sequence <= self.max_sequence();
        if !fits {
            return None;
        }
        Uid::new(tick << self.time_shift() | worker << self.worker_shift() | sequence)
    }

    /// The fields of `uid`: the inverse of [`compose`](Layout::compose), once
    /// [`tick_at`](Layout::tick_at) has made a tick of the time.
    ///
    /// Where the widths sum to less than 63, a UID of another layout may have bits above the field
    /// on top. They are read as part of that field. The time then lies after
    /// [`expires_at`](Layout::expires_at), or the worker after
    /// [`max_worker`](Layout::max_worker); [`contains`](Layout::contains) says so.
    ///
    /// The times of Windows end in the year 30828. A later time is told as the last one that the
    /// platform has; for [`try_parts`](Layout::try_parts) it is an error.
    #[must_use]
    pub fn parts(&self, uid: Uid) -> Parts {
        let (tick, worker, sequence) = self.fields(uid);
        Parts { time: self.begin_of(tick), worker, sequence }
    }

    /// The fields of `uid`, as [`parts`](Layout::parts) tells them, where the platform can
    /// represent their time.
    ///
    /// ```
    /// # use uidring::Layout;
    /// let layout = Layout::DEFAULT;
    /// let uid = layout.compose(21_502, 9, 4).unwrap();
    /// assert_eq!(layout.try_parts(uid)?, layout.parts(uid));
    /// # Ok::<(), uidring::TimeRangeError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The time is one that the platform's [`SystemTime`] cannot represent: on Windows, one after
    /// the year 30828.
    pub fn try_parts(&self, uid: Uid) -> Result<Parts, TimeRangeError> {
        let (tick, worker, sequence) = self.fields(uid);
        let unix_ms = self.unix_ms_of(tick);
        let time = from_unix_ms(unix_ms).ok_or(TimeRangeError { unix_ms })?;
        Ok(Parts { time, worker, sequence })
    }

    /// Tick, worker and sequence. Bits above the field on top are read as part of it.
    fn fields(&self, uid: Uid) -> (u64, u64, u64) {
        let (time, worker) = match self.order {
            FieldOrder::TimeFirst => (u64::MAX, self.max_worker()),
            FieldOrder::WorkerFirst => (self.max_tick(), u64::MAX),
        };
        let uid = uid.get();
        let tick = uid >> self.time_shift() & time;
        (tick, uid >> self.worker_shift() & worker, uid & self.max_sequence())
    }

    /// Whether `uid` can belong to this layout, that is, whether it has no bits above the fields.
    ///
    /// ```
    /// # use uidring::{Layout, Uid};
    /// assert!(Layout::DEFAULT.contains(Uid::MAX)); // 63 bits
    /// assert!(!Layout::new(29, 20, 13)?.contains(Uid::MAX)); // 62 bits
    /// # Ok::<(), uidring::LayoutError>(())
    /// ```
    #[must_use]
    pub fn contains(&self, uid: Uid) -> bool {
        uid.get() >> self.time_bits >> self.worker_bits >> self.sequence_bits == 0
    }

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

    /// The UIDs whose time, as [`parts`](Layout::parts) tells it, lies in `times`: a range of time
    /// as a range of the key. Where no tick begins within `times`, the range is empty.
    ///
    /// With [`FieldOrder::TimeFirst`], ranges of time that follow one another give ranges of UIDs
    /// that follow one another, without a gap or an overlap:
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
    /// With [`FieldOrder::WorkerFirst`], a range of time is one range of UIDs for each worker; see
    /// [`uids_of`](Layout::uids_of). The range returned here then goes from the first worker's to
    /// the last one's. It has all UIDs of these times, but also UIDs of other times.
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
    /// With [`FieldOrder::TimeFirst`], the range also has UIDs of other workers.
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
    /// [`FieldOrder::WorkerFirst`], nearly all earlier UIDs are larger, see
    /// [`uids_of`](Layout::uids_of).
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
    /// [`FieldOrder::WorkerFirst`], nearly all later UIDs are smaller, see
    /// [`uids_of`](Layout::uids_of).
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

    /// The last tick that generators use.
    pub(crate) const fn final_tick(&self) -> u64 {
        match self.order {
            FieldOrder::TimeFirst => self.max_tick(),
            // The base after the last one of a worker is the next worker's first.
            FieldOrder::WorkerFirst => self.max_tick() - 1,
        }
    }

    /// The width of the time field in bits.
    #[must_use]
    pub const fn time_bits(&self) -> u32 {
        self.time_bits as u32
    }

    /// The width of the worker field in bits.
    #[must_use]
    pub const fn worker_bits(&self) -> u32 {
        self.worker_bits as u32
    }

    /// The width of the sequence field in bits.
    #[must_use]
    pub const fn sequence_bits(&self) -> u32 {
        self.sequence_bits as u32
    }

    /// Which field is on top.
    #[must_use]
    pub const fn order(&self) -> FieldOrder {
        self.order
    }

    /// The largest number of ticks since the epoch, `2^time_bits - 1`.
    #[must_use]
    pub const fn max_tick(&self) -> u64 {
        (1 << self.time_bits) - 1
    }

    /// The largest worker id, `2^worker_bits - 1`.
    #[must_use]
    pub const fn max_worker(&self) -> u64 {
        (1 << self.worker_bits) - 1
    }

    /// The largest sequence, `2^sequence_bits - 1`.
    #[must_use]
    pub const fn max_sequence(&self) -> u64 {
        (1 << self.sequence_bits) - 1
    }

    /// When tick 0 begins.
    #[must_use]
    pub fn epoch(&self) -> SystemTime {
        from_unix_ms(self.epoch_ms.into()).unwrap_or(SystemTime::UNIX_EPOCH)
    }

    /// `epoch` in milliseconds since 1970.
    pub(crate) fn epoch_ms(&self) -> i64 {
        self.epoch_ms
    }

    /// `tick` in milliseconds, at most 1,000.
    pub(crate) fn tick_ms(&self) -> u16 {
        self.tick_ms
    }

    /// The length of a tick.
    #[must_use]
    pub const fn tick(&self) -> Duration {
        Duration::from_millis(self.tick_ms as u64)
    }

    /// The number of bits below the time field.
    pub(crate) const fn time_shift(&self) -> u32 {
        match self.order {
            FieldOrder::TimeFirst => self.worker_bits() + self.sequence_bits(),
            FieldOrder::WorkerFirst => self.sequence_bits(),
        }
    }

    /// The number of bits below the worker field.
    pub(crate) const fn worker_shift(&self) -> u32 {
        match self.order {
            FieldOrder::TimeFirst => self.sequence_bits(),
            FieldOrder::WorkerFirst => self.time_bits() + self.sequence_bits(),
        }
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

    fn checked_begin_of(&self, tick: u64) -> Option<SystemTime> {
        from_unix_ms(self.unix_ms_of(tick))
    }

    /// When `tick` begins, in milliseconds since 1970.
    fn unix_ms_of(&self, tick: u64) -> i128 {
        i128::from(self.epoch_ms) + i128::from(tick) * i128::from(self.tick_ms)
    }
}

impl Default for Layout {
    fn default() -> Layout {
        Layout::DEFAULT
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Layout { time_bits, worker_bits, sequence_bits, order, tick_ms, .. } = self;
        write!(f, "{time_bits} | {worker_bits} | {sequence_bits} in ")?;
        match tick_ms {
            1000 => f.write_str("seconds")?,
            1 => f.write_str("milliseconds")?,
            other => write!(f, "ticks of {other} ms")?,
        }
        write!(f, " from {}", utc(self.epoch()))?;
        match order {
            FieldOrder::TimeFirst => Ok(()),
            FieldOrder::WorkerFirst => f.write_str(", worker first"),
        }
    }
}

impl fmt::Debug for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Layout({self})")
    }
}

/// Whether `time` is further from 1970 than [`FARTHEST_MS`].
pub(crate) fn is_far(time: SystemTime) -> bool {
    let farthest = i128::from(FARTHEST_MS);
    !(-farthest..=farthest).contains(&unix_ms(time))
}

/// A [`Layout`] cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LayoutError {
    /// A field is too narrow or too wide.
    Width {
        /// `"time"`, `"worker"` or `"sequence"`.
        field: &'static str,
        /// The width asked for, in bits.
        bits: u32,
        /// The least that this field can have.
        least: u32,
    },
    /// The widths do not fit into 63 bits.
    Sum {
        /// The width asked for the time field.
        time_bits: u32,
        /// The width asked for the worker field.
        worker_bits: u32,
        /// The width asked for the sequence field.
        sequence_bits: u32,
    },
    /// The tick is not a whole number of milliseconds from 1 to 1,000.
    Tick {
        /// The tick asked for.
        tick: Duration,
    },
    /// The epoch is not a whole number of milliseconds, or more than 10^15 s from 1970.
    Epoch {
        /// The epoch asked for.
        epoch: SystemTime,
    },
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            LayoutError::Width { field, bits, least } => {
                write!(
                    f,
                    "the {field} field cannot have {bits} bits: it has at least {least} and at \
                     most 63"
                )
            }
            LayoutError::Sum { time_bits, worker_bits, sequence_bits } => write!(
                f,
                "{time_bits} + {worker_bits} + {sequence_bits} bits are {}, more than the 63 of a \
                 positive 64-bit number",
                time_bits + worker_bits + sequence_bits
            ),
            LayoutError::Tick { tick } => {
                // In full: what is wrong may be the last digit.
                let (ms, rest) = (tick.as_millis(), tick.subsec_nanos() % 1_000_000);
                let digits = format!("{ms}.{rest:06}");
                let tick = digits.trim_end_matches('0').trim_end_matches('.');
                write!(
                    f,
                    "a tick cannot be {tick} ms: it is a whole number of milliseconds from 1 to \
                     1000"
                )
            }
            LayoutError::Epoch { epoch } => write!(
                f,
                "the epoch cannot be {}: it is a whole number of milliseconds, at most 10^15 s (31 \
                 million years) before or after 1970",
                utc(epoch)
            ),
        }
    }
}

impl Error for LayoutError {}

/// The time of a UID is one that the platform's [`SystemTime`] cannot represent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeRangeError {
    unix_ms: i128,
}

impl fmt::Display for TimeRangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the UID's time is {} s from 1970, which this platform cannot represent: its layout is \
             another one, or has too many bits of time for the length of its tick",
            self.unix_ms.div_euclid(1000)
        )
    }
}

impl Error for TimeRangeError {}

//! How the 63 bits of a UID are split. Pure arithmetic: no clock, no atomics.

use std::error::Error;
use std::fmt;
use std::time::{Duration, SystemTime};

use crate::clock::utc;
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
/// sort by time first, then by worker, then by sequence.
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
    /// Milliseconds per tick, 1..=1000.
    tick_ms: u16,
    /// Milliseconds from 1970-01-01T00:00:00Z to tick 0.
    epoch_ms: i64,
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
        tick_ms: 1000,
        epoch_ms: 1_463_673_600_000,
    };

    /// A layout of these widths, with the epoch and the tick of [`DEFAULT`](Layout::DEFAULT).
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
        Layout { time_bits, worker_bits, sequence_bits, ..Layout::DEFAULT }.representable()
    }

    /// The same layout counting from `epoch`, a whole number of milliseconds.
    ///
    /// # Errors
    ///
    /// [`LayoutError::Epoch`] when `epoch` is not a whole number of milliseconds, lies more than
    /// 10^15 s (31 million years) before or after 1970, or so far away that this platform could not
    /// represent the times of the layout.
    pub fn with_epoch(self, epoch: SystemTime) -> Result<Layout, LayoutError> {
        let refused = LayoutError::Epoch { epoch };
        let epoch_ms = i64::try_from(unix_ms(epoch)).map_err(|_| refused)?;
        if time_from_unix_ms(epoch_ms.into()) != Some(epoch) || is_far(epoch) {
            return Err(refused);
        }
        Layout { epoch_ms, ..self }.representable()
    }

    /// The same layout counting in `tick`, a whole number of milliseconds from 1 to 1,000.
    ///
    /// # Errors
    ///
    /// [`LayoutError::Tick`] for any other length.
    pub fn with_tick(self, tick: Duration) -> Result<Layout, LayoutError> {
        let tick_ms = u16::try_from(tick.as_millis()).unwrap_or(0);
        if !(1..=1000).contains(&tick_ms) || Duration::from_millis(tick_ms.into()) != tick {
            return Err(LayoutError::Tick { tick });
        }
        Layout { tick_ms, ..self }.representable()
    }

    /// Refuses a layout with times that this platform's `SystemTime` cannot represent, so that
    /// `parts` never fails.
    fn representable(self) -> Result<Layout, LayoutError> {
        match self.try_time_of(Uid::MAX.get() >> self.time_shift()) {
            Some(_) => Ok(self),
            None => Err(LayoutError::Epoch { epoch: self.epoch() }),
        }
    }

    /// The UID of these fields; `None` when one of them does not fit its width, or when all are 0.
    #[must_use]
    pub fn compose(&self, tick: u64, worker: u64, sequence: u64) -> Option<Uid> {
        let fits = tick <= self.max_tick()
            && worker <= self.max_worker()
            && sequence <= self.max_sequence();
        if !fits {
            return None;
        }
        Uid::from_masked(tick << self.time_shift() | worker << self.sequence_bits | sequence)
    }

    /// The fields of `uid`, the inverse of [`compose`](Layout::compose).
    ///
    /// Where the widths sum to less than 63, a UID of another layout may have bits above the time
    /// field. They are read as part of the time, which then lies after
    /// [`expires_at`](Layout::expires_at); [`contains`](Layout::contains) says so.
    #[must_use]
    pub fn parts(&self, uid: Uid) -> Parts {
        let uid = uid.get();
        Parts {
            time: self.time_of(uid >> self.time_shift()),
            worker: uid >> self.sequence_bits & self.max_worker(),
            sequence: uid & self.max_sequence(),
        }
    }

    /// Whether `uid` can belong to this layout, that is, whether it has no bits above the time
    /// field.
    #[must_use]
    pub fn contains(&self, uid: Uid) -> bool {
        self.tick_of(uid) <= self.max_tick()
    }

    /// When the time field ends: the first instant that it cannot represent.
    #[must_use]
    pub fn expires_at(&self) -> SystemTime {
        // One past the last tick. Only a time field of 61 bits has no room for it in
        // `representable`'s check.
        self.try_time_of(self.max_tick() + 1).unwrap_or_else(|| self.time_of(self.max_tick()))
    }

    /// `expires_at` in milliseconds since 1970, limited to the range of the type.
    pub(crate) fn expires_at_ms(&self) -> i64 {
        i64::try_from(unix_ms(self.expires_at())).unwrap_or(i64::MAX)
    }

    /// The smallest UID of the tick that contains `time`; for a time before the epoch, the smallest
    /// UID of all. `None` when the layout ends before `time`. With [`max_uid`](Layout::max_uid), a
    /// range of time becomes a range of the key:
    ///
    /// ```
    /// # use std::time::{Duration, SystemTime};
    /// # use uidring::Layout;
    /// let layout = Layout::DEFAULT;
    /// let noon = layout.epoch() + Duration::from_secs(12 * 3600);
    /// let end = noon + Duration::from_secs(59);
    /// let (from, to) = (layout.min_uid(noon).unwrap(), layout.max_uid(end).unwrap());
    /// // That minute's orders.
    /// let query = format!("SELECT * FROM orders WHERE id BETWEEN {from} AND {to}");
    /// assert!(layout.parts(from).time == noon && layout.parts(to).time == end);
    /// ```
    #[must_use]
    pub fn min_uid(&self, time: SystemTime) -> Option<Uid> {
        match u64::try_from(self.tick_at(time)) {
            Ok(0) | Err(_) => Some(Uid::MIN),
            Ok(tick) => self.compose(tick, 0, 0),
        }
    }

    /// The largest UID of the tick that contains `time`; for a time after the end, the largest UID
    /// of all. `None` when the layout begins after `time`.
    #[must_use]
    pub fn max_uid(&self, time: SystemTime) -> Option<Uid> {
        let tick = u64::try_from(self.tick_at(time)).ok()?.min(self.max_tick());
        self.compose(tick, self.max_worker(), self.max_sequence())
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
        time_from_unix_ms(self.epoch_ms.into()).unwrap_or(SystemTime::UNIX_EPOCH)
    }

    /// The length of a tick.
    #[must_use]
    pub const fn tick(&self) -> Duration {
        Duration::from_millis(self.tick_ms as u64)
    }

    /// The number of bits below the time field.
    pub(crate) const fn time_shift(&self) -> u32 {
        self.worker_bits() + self.sequence_bits()
    }

    /// The time field of `uid`, including any bits above it.
    pub(crate) fn tick_of(&self, uid: Uid) -> u64 {
        uid.get() >> self.time_shift()
    }

    /// How many whole ticks after the epoch `time` is; negative before it.
    pub(crate) fn tick_at(&self, time: SystemTime) -> i64 {
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
        let ms = unix_ms(time) - i128::from(self.epoch_ms);
        i64::try_from(ms).unwrap_or(if ms < 0 { i64::MIN } else { i64::MAX })
    }

    /// When `tick` begins, for any tick that fits into a UID.
    pub(crate) fn time_of(&self, tick: u64) -> SystemTime {
        // `representable` has checked the largest one.
        self.try_time_of(tick).unwrap_or(SystemTime::UNIX_EPOCH)
    }

    fn try_time_of(&self, tick: u64) -> Option<SystemTime> {
        time_from_unix_ms(i128::from(self.epoch_ms) + i128::from(tick) * i128::from(self.tick_ms))
    }
}

impl Default for Layout {
    fn default() -> Layout {
        Layout::DEFAULT
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Layout { time_bits, worker_bits, sequence_bits, tick_ms, .. } = self;
        write!(f, "{time_bits} | {worker_bits} | {sequence_bits} in ")?;
        match tick_ms {
            1000 => f.write_str("seconds")?,
            1 => f.write_str("milliseconds")?,
            other => write!(f, "ticks of {other} ms")?,
        }
        write!(f, " from {}", utc(self.epoch()))
    }
}

impl fmt::Debug for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Layout({self})")
    }
}

/// Milliseconds since 1970, rounded down.
fn unix_ms(time: SystemTime) -> i128 {
    let ns = match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => since.as_nanos().cast_signed(),
        Err(before) => -before.duration().as_nanos().cast_signed(),
    };
    ns.div_euclid(1_000_000)
}

/// Whether `time` is further from 1970 than [`FARTHEST_MS`].
pub(crate) fn is_far(time: SystemTime) -> bool {
    let farthest = i128::from(FARTHEST_MS);
    !(-farthest..=farthest).contains(&unix_ms(time))
}

fn time_from_unix_ms(ms: i128) -> Option<SystemTime> {
    let distance = ms.unsigned_abs();
    let seconds = u64::try_from(distance / 1000).ok()?;
    let distance = Duration::from_secs(seconds) + Duration::from_millis((distance % 1000) as u64);
    if ms < 0 {
        SystemTime::UNIX_EPOCH.checked_sub(distance)
    } else {
        SystemTime::UNIX_EPOCH.checked_add(distance)
    }
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
    /// The epoch is not a whole number of milliseconds, or more than 10^15 s from 1970, or too far
    /// away for this platform to represent.
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
                write!(
                    f,
                    "a tick cannot be {tick:?}: it is a whole number of milliseconds from 1 to 1000"
                )
            }
            LayoutError::Epoch { epoch } => write!(
                f,
                "the epoch cannot be {}: it is a whole number of milliseconds, at most 10^15 s (31 \
                 million years) before or after 1970, and near enough for the times of the layout \
                 to be told on this platform",
                utc(epoch)
            ),
        }
    }
}

impl Error for LayoutError {}

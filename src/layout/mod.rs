//! How the 63 bits of a UID are split. Pure arithmetic: no clock, no atomics.

mod error;
mod parts;
mod presets;
mod ranges;
mod ticks;

pub use error::{LayoutError, TimeRangeError};
pub use parts::Parts;
pub(crate) use ticks::{FARTHEST_MS, is_far};

use std::fmt;
use std::time::{Duration, SystemTime};

use crate::clock::{from_unix_ms, unix_ms, utc};

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

/// With ticks of a second, a narrower time field would end within a week.
const MIN_TIME_BITS: u32 = 20;
const TOTAL_BITS: u32 = 63;

impl Layout {
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

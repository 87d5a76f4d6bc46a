//! A UID from its parts, and its parts from a UID.

use std::time::SystemTime;

use super::{FieldOrder, Layout, TimeRangeError};
use crate::clock::from_unix_ms;
use crate::uid::Uid;

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

impl Layout {
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
}

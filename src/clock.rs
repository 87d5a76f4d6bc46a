//! The source of the time. Nothing else in the crate reads it.

use std::fmt;
use std::time::{Duration, Instant, SystemTime};

use crate::sync::{Arc, Mutex};

/// A source of wall-clock time.
///
/// A generator reads it when it is built, whenever its filler runs, and in takes that have reached
/// a limit, but never in a take from the ring. With [`exact_time`](crate::Builder::exact_time),
/// each take reads it, so it should be quick. The clock may stand still, jump and run backwards:
/// uniqueness does not depend on it. It should show times within 10^15 s (31 million years) of
/// 1970. Building a generator fails while it does not, and a running generator treats a time more
/// than 73 million years from its epoch as one at that distance.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use std::time::{Duration, SystemTime};
/// use uidring::clock::Clock;
///
/// /// The time that a message from elsewhere told last.
/// struct Told(AtomicU64);
///
/// impl Clock for Told {
///     fn now(&self) -> SystemTime {
///         SystemTime::UNIX_EPOCH + Duration::from_millis(self.0.load(Ordering::Relaxed))
///     }
/// }
/// ```
pub trait Clock: Send + Sync + 'static {
    /// The present time.
    fn now(&self) -> SystemTime;
}

/// The operating system's clock, the default.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }
}

/// A clock that is moved by hand. All its clones show the same time.
///
/// ```
/// use std::time::{Duration, Instant, SystemTime};
/// use uidring::clock::{Clock, ManualClock};
///
/// let clock = ManualClock::new(SystemTime::UNIX_EPOCH);
/// clock.advance(Duration::from_secs(3600));
/// clock.rewind(Duration::from_secs(60));
/// assert_eq!(clock.now(), SystemTime::UNIX_EPOCH + Duration::from_secs(3540));
/// ```
#[derive(Clone)]
pub struct ManualClock {
    now: Arc<Mutex<SystemTime>>,
}

impl ManualClock {
    /// A clock that shows `now` until it is moved.
    #[must_use]
    pub fn new(now: SystemTime) -> ManualClock {
        ManualClock { now: Arc::new(Mutex::new(now)) }
    }

    /// Moves the clock to `now`, in either direction.
    ///
    /// ```
    /// # use std::time::{Duration, SystemTime};
    /// # use uidring::clock::{Clock, ManualClock};
    /// let clock = ManualClock::new(SystemTime::UNIX_EPOCH + Duration::from_secs(9));
    /// clock.set(SystemTime::UNIX_EPOCH);
    /// assert_eq!(clock.now(), SystemTime::UNIX_EPOCH);
    /// ```
    pub fn set(&self, now: SystemTime) {
        self.change(|_| Some(now));
    }

    /// Moves the clock forward by `step`. Does nothing if the platform cannot represent the result.
    pub fn advance(&self, step: Duration) {
        self.change(|now| now.checked_add(step));
    }

    /// Moves the clock back by `step`. Does nothing if the platform cannot represent the result.
    pub fn rewind(&self, step: Duration) {
        self.change(|now| now.checked_sub(step));
    }

    fn change(&self, next: impl FnOnce(SystemTime) -> Option<SystemTime>) {
        let mut now = crate::sync::lock(&self.now);
        if let Some(next) = next(*now) {
            *now = next;
        }
    }
}

impl Clock for ManualClock {
    fn now(&self) -> SystemTime {
        *crate::sync::lock(&self.now)
    }
}

impl fmt::Debug for ManualClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ManualClock").field("now", &self.now()).finish()
    }
}

/// Measures elapsed time, whatever the wall clock does meanwhile.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    pub(crate) fn start() -> Stopwatch {
        Stopwatch(Instant::now())
    }

    /// The time since the start. In loom models always an hour: loom has no time, and cannot
    /// explore what differs from one execution to the next.
    pub(crate) fn elapsed(&self) -> Duration {
        if cfg!(uidring_loom) { Duration::from_secs(3600) } else { self.0.elapsed() }
    }
}

/// Milliseconds since 1970, rounded down.
pub(crate) fn unix_ms(time: SystemTime) -> i128 {
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => since.as_millis().cast_signed(),
        Err(before) => -before.duration().as_nanos().div_ceil(1_000_000).cast_signed(),
    }
}

/// The time at `ms` milliseconds since 1970, if the platform can represent it.
pub(crate) fn from_unix_ms(ms: i128) -> Option<SystemTime> {
    let distance = ms.unsigned_abs();
    let seconds = u64::try_from(distance / 1000).ok()?;
    let distance = Duration::from_secs(seconds) + Duration::from_millis((distance % 1000) as u64);
    if ms < 0 {
        SystemTime::UNIX_EPOCH.checked_sub(distance)
    } else {
        SystemTime::UNIX_EPOCH.checked_add(distance)
    }
}

/// `time` in UTC, in the format of RFC 3339, or in seconds since 1970 if its year does not fit that
/// format.
pub(crate) fn utc(time: SystemTime) -> impl fmt::Display {
    match (jiff::Timestamp::try_from(time), time.duration_since(SystemTime::UNIX_EPOCH)) {
        (Ok(timestamp), _) => timestamp.to_string(),
        (Err(_), Ok(since)) => format!("Unix time {}", since.as_secs()),
        (Err(_), Err(before)) => format!("Unix time -{}", before.duration().as_secs()),
    }
}

/// Like [`utc`], for a time in milliseconds since 1970.
pub(crate) fn utc_ms(ms: i64) -> impl fmt::Display {
    match jiff::Timestamp::from_millisecond(ms) {
        Ok(timestamp) => timestamp.to_string(),
        Err(_) => format!("Unix time {}", ms / 1000),
    }
}

//! Where the time comes from. Nothing else in the crate reads it.

use std::fmt;
use std::time::{Duration, Instant, SystemTime};

use crate::sync::{Arc, Mutex};

/// A source of wall-clock time.
///
/// A generator asks it when it is built and whenever its ring is refilled in the background, never
/// in a take from the ring. The clock may stand still, jump and run backwards: uniqueness does not
/// rest on it. It is to show times within 10^15 s (31 million years) of 1970: no generator is built
/// while it does not, and a running one takes a time more than 73 million years from its epoch for
/// one at that distance.
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

/// A clock that is moved by hand. Its clones all show the same time.
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
    pub fn set(&self, now: SystemTime) {
        self.change(|_| Some(now));
    }

    /// Moves the clock forward by `step`. Past the last time that the platform can tell it stands
    /// still.
    pub fn advance(&self, step: Duration) {
        self.change(|now| now.checked_add(step));
    }

    /// Moves the clock back by `step`. Before the first time that the platform can tell it stands
    /// still.
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

/// Time gone by, whatever the wall clock does meanwhile.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    pub(crate) fn start() -> Stopwatch {
        Stopwatch(Instant::now())
    }

    /// An hour where the models run: they know no time, and what differs from run to run they
    /// cannot explore.
    pub(crate) fn elapsed(&self) -> Duration {
        if cfg!(uidring_loom) { Duration::from_secs(3600) } else { self.0.elapsed() }
    }
}

/// `time` in UTC as RFC 3339 has it; beyond the years it knows, as seconds since 1970.
pub(crate) fn utc(time: SystemTime) -> impl fmt::Display {
    match (jiff::Timestamp::try_from(time), time.duration_since(SystemTime::UNIX_EPOCH)) {
        (Ok(timestamp), _) => timestamp.to_string(),
        (Err(_), Ok(since)) => format!("Unix time {}", since.as_secs()),
        (Err(_), Err(before)) => format!("Unix time -{}", before.duration().as_secs()),
    }
}

pub(crate) fn utc_ms(ms: i64) -> impl fmt::Display {
    match jiff::Timestamp::from_millisecond(ms) {
        Ok(timestamp) => timestamp.to_string(),
        Err(_) => format!("Unix time {}", ms / 1000),
    }
}

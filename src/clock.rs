//! The source of the time. Nothing else in the crate reads it.

use std::fmt;
#[cfg(not(uidring_shuttle))]
use std::num::NonZeroU64;
use std::sync::PoisonError;
#[cfg(not(uidring_shuttle))]
use std::time::Instant;
use std::time::{Duration, SystemTime};

#[cfg(not(uidring_shuttle))]
use once_cell::sync::Lazy;

use crate::sync::{Arc, RwLock};

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
/// struct RemoteClock(AtomicU64);
///
/// impl Clock for RemoteClock {
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
    /// A child process that was forked while another thread read it can read it too.
    now: Arc<RwLock<SystemTime>>,
}

impl ManualClock {
    /// A clock that shows `now` until it is moved.
    #[must_use]
    pub fn new(now: SystemTime) -> ManualClock {
        ManualClock { now: Arc::new(RwLock::new(now)) }
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
        let mut now = self.now.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(next) = next(*now) {
            *now = next;
        }
    }
}

impl Clock for ManualClock {
    fn now(&self) -> SystemTime {
        *self.now.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for ManualClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ManualClock").field("now", &self.now()).finish()
    }
}

/// Measures elapsed time, whatever the wall clock does meanwhile, in nanoseconds from a moment of
/// the process on. Each tag has an `Option` of one, which is half as large as that of an `Instant`.
#[cfg(not(uidring_shuttle))]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch(NonZeroU64);

#[cfg(not(uidring_shuttle))]
impl Stopwatch {
    pub(crate) fn start() -> Stopwatch {
        Stopwatch(NonZeroU64::MIN.saturating_add(nanoseconds()))
    }

    /// The time since the start. In loom models always an hour: loom has no time, and cannot
    /// explore what differs from one execution to the next.
    pub(crate) fn elapsed(self) -> Duration {
        if cfg!(uidring_loom) {
            return Duration::from_secs(3600);
        }
        Duration::from_nanos(nanoseconds().saturating_sub(self.0.get() - 1))
    }
}

/// The time since the first call in this process. It lasts for 584 years.
#[cfg(not(uidring_shuttle))]
fn nanoseconds() -> u64 {
    static FIRST: Lazy<Instant> = Lazy::new(Instant::now);
    u64::try_from(FIRST.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// Measures elapsed time: in a scenario of shuttle, what the scenario has let pass.
#[cfg(uidring_shuttle)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch(Duration);

#[cfg(uidring_shuttle)]
impl Stopwatch {
    pub(crate) fn start() -> Stopwatch {
        Stopwatch(crate::sync::time())
    }

    pub(crate) fn elapsed(self) -> Duration {
        crate::sync::time().saturating_sub(self.0)
    }
}

#[cfg(all(feature = "_store", feature = "lend"))]
pub(crate) use since_boot::SleepStopwatch;

#[cfg(all(feature = "_store", feature = "lend"))]
mod since_boot {
    use std::time::Duration;

    /// Measures elapsed time, also while the machine sleeps where the platform has a clock that
    /// does.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct SleepStopwatch(Duration);

    impl SleepStopwatch {
        pub(crate) fn start() -> SleepStopwatch {
            SleepStopwatch(since_boot())
        }

        pub(crate) fn elapsed(self) -> Duration {
            since_boot().saturating_sub(self.0)
        }
    }

    /// The time since the machine was started. That of `Instant` stands still while a Linux or a
    /// Mac sleeps.
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    fn since_boot() -> Duration {
        use rustix::time::{ClockId, clock_gettime};

        #[cfg(target_vendor = "apple")]
        let clock = ClockId::Monotonic;
        #[cfg(not(target_vendor = "apple"))]
        let clock = ClockId::Boottime;
        let time = clock_gettime(clock);
        let nanoseconds = u32::try_from(time.tv_nsec).unwrap_or(0);
        Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), nanoseconds)
    }

    /// The same by the clock of `Instant`, which counts sleep on Windows.
    #[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
    fn since_boot() -> Duration {
        Duration::from_nanos(super::nanoseconds())
    }
}

/// Whether a clock that was set can show `time`. Machines whose clock has no battery begin at 1970,
/// 1980 or 2000.
pub(crate) fn is_plausible(time: SystemTime) -> bool {
    unix_ms(time) >= FIRST_PLAUSIBLE_MS.into()
}

/// 2010-01-01, in milliseconds since 1970.
pub(crate) const FIRST_PLAUSIBLE_MS: i64 = 1_262_304_000_000;

/// Milliseconds since 1970, rounded down.
pub(crate) fn unix_ms(time: SystemTime) -> i128 {
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => since.as_millis().cast_signed(),
        Err(before) => -before.duration().as_nanos().div_ceil(1_000_000).cast_signed(),
    }
}

/// The nearest number that the type has.
pub(crate) fn saturated(number: i128) -> i64 {
    i64::try_from(number).unwrap_or(if number < 0 { i64::MIN } else { i64::MAX })
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

/// The time at `ms` milliseconds since 1970, or the nearest whole second that the platform has.
pub(crate) fn nearest(ms: i128) -> SystemTime {
    from_unix_ms(ms)
        .or_else(|| from_unix_ms(farthest(ms < 0, |ms| from_unix_ms(ms).is_some())))
        .unwrap_or(SystemTime::UNIX_EPOCH)
}

/// The last whole second that a platform `has`, or the first one if it is to be `before` 1970, in
/// milliseconds since then.
fn farthest(before: bool, has: impl Fn(i128) -> bool) -> i128 {
    let sign = if before { -1000 } else { 1000 };
    (0..63)
        .rev()
        .map(|bit| sign << bit)
        .fold(0, |found, step| if has(found + step) { found + step } else { found })
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

/// A length of time for people, such as "250 ms", "1.5 s" and "1 h": rounded to three digits below
/// 1,000 s, and to whole seconds above.
pub(crate) fn human(length: Duration) -> String {
    const SECOND: u128 = 1_000_000_000;
    let mut ns = length.as_nanos();
    let digits = ns.checked_ilog10().map_or(1, |log| log + 1);
    let place = if ns >= 1000 * SECOND { SECOND } else { 10_u128.pow(digits.saturating_sub(3)) };
    ns = (ns + place / 2) / place * place;
    let is_whole = |seconds: u128| ns > 0 && ns.is_multiple_of(seconds * SECOND);
    let (unit, name) = match ns {
        _ if is_whole(24 * 3600) && ns > 24 * 3600 * SECOND => (24 * 3600 * SECOND, "days"),
        _ if is_whole(24 * 3600) => (24 * 3600 * SECOND, "day"),
        _ if is_whole(3600) => (3600 * SECOND, "h"),
        _ if is_whole(60) => (60 * SECOND, "min"),
        0 | SECOND.. => (SECOND, "s"),
        1_000_000.. => (1_000_000, "ms"),
        1000.. => (1000, "\u{b5}s"),
        _ => (1, "ns"),
    };
    let (whole, rest) = (ns / unit, ns % unit);
    if rest == 0 {
        return format!("{whole} {name}");
    }
    let width = unit.ilog10() as usize;
    let fraction = format!("{rest:0width$}");
    format!("{whole}.{} {name}", fraction.trim_end_matches('0'))
}

/// Like [`utc`], for a time in milliseconds since 1970.
pub(crate) fn utc_ms(ms: i64) -> impl fmt::Display {
    match jiff::Timestamp::from_millisecond(ms) {
        Ok(timestamp) => timestamp.to_string(),
        Err(_) => format!("Unix time {}", ms / 1000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On Windows, times are 63 bits of 100 ns from 1601.
    #[test]
    fn the_farthest_time_is_the_last_second_that_a_platform_has() {
        const FIRST_MS: i128 = -11_644_473_600_000;
        const LAST_MS: i128 = FIRST_MS + (1 << 63) / 10_000;
        let windows = |ms: i128| (FIRST_MS..=LAST_MS).contains(&ms);
        assert_eq!(farthest(true, windows), FIRST_MS);
        assert_eq!(farthest(false, windows), LAST_MS / 1000 * 1000);
        for ms in [0, 1, -1, FIRST_MS, 253_402_300_799_999] {
            assert_eq!(Some(nearest(ms)), from_unix_ms(ms));
        }
        for (ms, is_before) in [(i128::MAX, false), (i128::MIN, true)] {
            let nearest = nearest(ms);
            assert_eq!(nearest < SystemTime::UNIX_EPOCH, is_before);
            let second = Duration::from_secs(2);
            let beyond =
                if is_before { nearest.checked_sub(second) } else { nearest.checked_add(second) };
            assert_eq!(beyond, None);
        }
    }

    #[test]
    fn a_length_of_time_has_three_digits_and_a_unit() {
        for (ns, text) in [
            (0, "0 s"),
            (1, "1 ns"),
            (999, "999 ns"),
            (1000, "1 \u{b5}s"),
            (1_234_567, "1.23 ms"),
            (50_000_000, "50 ms"),
            (999_499_999, "999 ms"),
            (999_999_999, "1 s"),
            (1_005_000_000, "1.01 s"),
            (1_500_000_000, "1.5 s"),
            (12_345_678_901, "12.3 s"),
            (59_999_999_999, "1 min"),
            (90_000_000_000, "90 s"),
            (900_000_000_000, "15 min"),
            (1_234_567_890_123, "1235 s"),
            (3_600_000_000_000, "1 h"),
            (86_400_000_000_000, "1 day"),
            (2_592_000_000_000_000, "30 days"),
        ] {
            assert_eq!(human(Duration::from_nanos(ns)), text, "{ns}");
        }
        assert_eq!(human(Duration::MAX), "18446744073709551616 s");
    }
}

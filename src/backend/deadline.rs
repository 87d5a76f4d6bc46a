//! [`Deadline`]: how long a call may take.

use std::time::Duration;

use crate::clock::Stopwatch;

/// The time that a call has, all in all.
#[derive(Debug)]
pub struct Deadline {
    pub timeout: Duration,
    pub(crate) since: Stopwatch,
}

impl Deadline {
    pub fn after(timeout: Duration) -> Deadline {
        Deadline { timeout, since: Stopwatch::start() }
    }

    /// The time that is left, or a day if it is more: clients add it to the time of a clock, which
    /// has an end.
    #[cfg(any(
        feature = "etcd",
        feature = "http",
        feature = "mysql",
        feature = "postgres",
        feature = "redis",
        feature = "zookeeper"
    ))]
    pub fn left(&self) -> Duration {
        const LONGEST: Duration = Duration::from_secs(24 * 3600);
        self.timeout.saturating_sub(self.since.elapsed()).min(LONGEST)
    }

    /// For how long the call has waited, as an error tells it: in milliseconds, unless it is the
    /// whole timeout.
    #[cfg(any(
        feature = "etcd",
        feature = "mysql",
        feature = "postgres",
        feature = "redis",
        feature = "sqlite",
        feature = "zookeeper"
    ))]
    pub fn waited(&self) -> Duration {
        let waited = self.since.elapsed();
        let ms = Duration::from_millis(u64::try_from(waited.as_millis()).unwrap_or(u64::MAX));
        if waited < self.timeout { ms } else { self.timeout }
    }
}

//! What calls of all stores have in common: how long one may take, and the warning about a store
//! that nobody has used before.

#![cfg_attr(not(feature = "tracing"), allow(unused_variables))]

use std::time::Duration;

use crate::clock::Stopwatch;
use crate::support::callbacks::event;
use crate::sync::{Arc, AtomicBool, Ordering};

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
    #[cfg(feature = "_store")]
    pub fn waited(&self) -> Duration {
        let waited = self.since.elapsed();
        let ms = Duration::from_millis(u64::try_from(waited.as_millis()).unwrap_or(u64::MAX));
        if waited < self.timeout { ms } else { self.timeout }
    }
}

#[allow(dead_code, reason = "the feature http alone has no stores")]
/// Whether it has been told, by any of the clones of what has this.
#[derive(Clone, Debug, Default)]
pub struct NewStoreWarning(Arc<AtomicBool>);

#[allow(dead_code, reason = "the feature http alone has no stores")]
impl NewStoreWarning {
    /// Warns once that nothing was taken from the store `name` before.
    pub fn emit_once(&self, name: &str) {
        // ORDERING: nothing else depends on it.
        let is_first = !self.0.swap(true, Ordering::Relaxed);
        if is_first {
            event!(
                warn,
                "new_store",
                store = name,
                "nothing was taken from this store before; if programs had another one, their ids \
                 come again"
            );
        }
    }
}

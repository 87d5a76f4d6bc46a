//! The atomics, locks and threads of the crate: those of std, or those of loom in the models, or
//! those of shuttle in the scenarios.

pub(crate) use std::sync::Arc;
#[cfg(feature = "contract")]
pub(crate) use std::sync::Barrier;
/// For texts that are made once.
#[cfg(all(
    feature = "series",
    any(feature = "mysql", feature = "postgres", feature = "sqlite")
))]
pub(crate) use std::sync::OnceLock;
/// For the list of generators that a fork visits, which is neither modelled nor in a scenario, and
/// for the scopes of a series.
#[cfg(any(feature = "series", all(unix, not(any(uidring_loom, uidring_shuttle)))))]
pub(crate) use std::sync::Weak;

#[cfg(uidring_loom)]
mod loom_impl;
#[cfg(any(uidring_loom, uidring_shuttle))]
mod park_token;
#[cfg(uidring_shuttle)]
mod shuttle_impl;
#[cfg(not(any(uidring_loom, uidring_shuttle)))]
mod std_impl;

#[cfg(uidring_loom)]
pub(crate) use self::loom_impl::*;
#[cfg(uidring_shuttle)]
pub(crate) use self::shuttle_impl::*;
#[cfg(not(any(uidring_loom, uidring_shuttle)))]
pub(crate) use self::std_impl::*;

/// Locks `mutex`, also after a panic of another holder: no holder leaves a change half made.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Waits for `changed`, at most for `timeout`. It may also return without a reason.
pub(crate) fn wait_timeout<'a, T>(
    changed: &Condvar,
    guard: MutexGuard<'a, T>,
    timeout: std::time::Duration,
) -> MutexGuard<'a, T> {
    let waited = changed.wait_timeout(guard, timeout);
    waited.unwrap_or_else(std::sync::PoisonError::into_inner).0
}

/// A number on which no other state depends.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    pub fn add(&self, count: u64) {
        // ORDERING: a statistic.
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    /// Takes back what was added.
    pub fn take_back(&self, count: u64) {
        // ORDERING: a statistic.
        self.0.fetch_sub(count, Ordering::Relaxed);
    }

    pub fn get(&self) -> u64 {
        // ORDERING: a statistic.
        self.0.load(Ordering::Relaxed)
    }
}

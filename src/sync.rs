//! The atomics, locks and threads of the crate: those of std, or those of loom in the models.

pub(crate) use std::sync::Arc;
#[cfg(feature = "contract")]
pub(crate) use std::sync::Barrier;
/// For the list of generators that a fork visits, which loom does not model.
#[cfg(all(unix, not(uidring_loom)))]
pub(crate) use std::sync::Weak;
/// For waiting on something outside of the process, which loom does not model.
pub(crate) use std::thread::sleep;

#[cfg(uidring_loom)]
pub(crate) use self::loom_impl::*;
#[cfg(not(uidring_loom))]
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

#[cfg(not(uidring_loom))]
mod std_impl {
    pub(crate) use crossbeam_utils::sync::{Parker, Unparker};
    pub(crate) use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
    pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};
    pub(crate) use std::thread::{self, park_timeout};
}

#[cfg(uidring_loom)]
mod loom_impl {
    pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
    pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard};
    pub(crate) use loom::thread;

    use loom::sync::Arc;
    use std::time::Duration;

    /// Loom has no time, so the timeout may end at once.
    pub(crate) fn park_timeout(_: Duration) {
        thread::yield_now();
    }

    /// Replaces crossbeam's `Parker`, whose atomics loom cannot see.
    #[derive(Debug, Default)]
    pub(crate) struct Parker(Arc<(Mutex<bool>, Condvar)>);

    #[derive(Clone, Debug)]
    pub(crate) struct Unparker(Arc<(Mutex<bool>, Condvar)>);

    impl Parker {
        pub(crate) fn new() -> Parker {
            Parker(Arc::new((Mutex::new(false), Condvar::new())))
        }

        pub(crate) fn unparker(&self) -> Unparker {
            Unparker(Arc::clone(&self.0))
        }

        /// Sleeps until unparked. The timeout never ends, so that a lost wake-up shows.
        pub(crate) fn park_timeout(&self, _: Duration) {
            let (token, changed) = &*self.0;
            let mut token = super::lock(token);
            while !*token {
                token = changed.wait(token).unwrap_or_else(std::sync::PoisonError::into_inner);
            }
            *token = false;
        }
    }

    impl Unparker {
        pub(crate) fn unpark(&self) {
            let (token, changed) = &*self.0;
            *super::lock(token) = true;
            changed.notify_one();
        }
    }
}

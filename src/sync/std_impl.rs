//! Std's atomics, locks and threads, and crossbeam's `Parker`.

pub(crate) use crossbeam_utils::sync::{Parker, Unparker};
pub(crate) use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering, fence};
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard, RwLock};
pub(crate) use std::thread::{self, park_timeout, sleep};

use std::cell::Cell;

/// A number that no other thread has had.
///
/// That of `std::thread::current` is gone when a thread has run the destructors of its thread-local
/// values: asking for it panics. A program in C may end a generator after that, in the destructor
/// of a key of POSIX. This number has no destructor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ThreadId(u64);

static LAST: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// 0 until somebody asks.
    static OWN: Cell<u64> = const { Cell::new(0) };
}

/// The calling thread.
pub(crate) fn thread_id() -> ThreadId {
    OWN.with(|own| {
        if own.get() == 0 {
            // ORDERING: only the count itself matters.
            own.set(LAST.fetch_add(1, Ordering::Relaxed) + 1);
        }
        ThreadId(own.get())
    })
}

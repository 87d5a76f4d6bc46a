//! Loom's atomics, locks and threads. Loom has no time.

pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering, fence};
pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard, RwLock};
pub(crate) use loom::thread::{self, ThreadId};
/// For waiting on something outside of the process, which loom does not model.
pub(crate) use std::thread::sleep;

use std::time::Duration;

use super::park_token::Token;

/// The timeout may end at once.
pub(crate) fn park_timeout(_: Duration) {
    thread::yield_now();
}

/// The calling thread.
pub(crate) fn thread_id() -> ThreadId {
    thread::current().id()
}

/// Replaces crossbeam's `Parker`, whose atomics loom cannot see.
#[derive(Debug, Default)]
pub(crate) struct Parker(Token);

pub(crate) type Unparker = Token;

impl Parker {
    pub(crate) fn new() -> Parker {
        Parker::default()
    }

    pub(crate) fn unparker(&self) -> &Unparker {
        &self.0
    }

    /// Sleeps until unparked. The timeout never ends, so that a lost wake-up shows.
    pub(crate) fn park_timeout(&self, _: Duration) {
        self.0.take();
    }
}

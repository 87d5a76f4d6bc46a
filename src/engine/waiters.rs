//! The threads and tasks that wait for a tick to be due.
//!
//! Nobody waits for a UID that is in the ring: this is for a generator that has borrowed as far as
//! it may. A thread keeps its ticket while it waits. A task holds none, since its future may be
//! dropped: tasks stand in a [`Line`].

use std::collections::BTreeMap;
use std::time::Duration;

#[cfg(feature = "async")]
use crate::engine::line::Line;
use crate::sync::{Mutex, lock, thread};

/// Who is woken when something has changed.
#[derive(Debug, Default)]
pub struct Waiters {
    threads: Mutex<Threads>,
    #[cfg(feature = "async")]
    pub line: Line,
}

#[derive(Debug, Default)]
struct Threads {
    /// By the ticket that each waits with, and in the order of their coming.
    waiting: BTreeMap<(u64, u64), thread::Thread>,
    /// How many have come.
    count: u64,
}

impl Waiters {
    /// Has this thread woken from its [`park`] until the result is dropped: when `ticket` may have
    /// a UID, and when what there is to take has changed in any other way. The caller looks once
    /// more before it parks.
    pub fn wait_with(&self, ticket: u64) -> WaitingThread<'_> {
        let mut threads = lock(&self.threads);
        threads.count += 1;
        let key = (ticket, threads.count);
        threads.waiting.insert(key, thread::current());
        WaitingThread { waiters: self, key }
    }

    /// Wakes the threads that wait with a ticket below `end`.
    pub fn wake_threads(&self, end: u64) {
        let threads = lock(&self.threads);
        for thread in threads.waiting.range(..(end, 0)).map(|(_, thread)| thread) {
            thread.unpark();
        }
    }

    /// Wakes all threads, and calls all tasks.
    ///
    /// # Panics
    ///
    /// As a task's waker did, when all others have been woken.
    pub fn wake_all(&self) {
        self.wake_threads(u64::MAX);
        #[cfg(feature = "async")]
        self.line.call_all();
    }

    pub fn is_empty(&self) -> bool {
        #[cfg(feature = "async")]
        if !self.line.is_empty() {
            return false;
        }
        lock(&self.threads).waiting.is_empty()
    }
}

/// A thread among the [`Waiters`].
pub struct WaitingThread<'a> {
    waiters: &'a Waiters,
    key: (u64, u64),
}

impl Drop for WaitingThread<'_> {
    fn drop(&mut self) {
        lock(&self.waiters.threads).waiting.remove(&self.key);
    }
}

/// Sleeps until woken, at most for `timeout`, and now and then for no reason.
pub fn park(timeout: Duration) {
    crate::sync::park_timeout(timeout);
}

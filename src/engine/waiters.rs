//! The threads and tasks that wait for a UID.
//!
//! A take waits only while no UID may be handed out to it: until the clock allows the next tick,
//! the registry has reserved more ticks of the lease, or the filler has taken on another worker id.
//! A thread keeps its ticket while it waits. A task holds no ticket, since its future may be
//! dropped. Tasks wait in a [`WaitQueue`], and get the UIDs for which no thread holds a ticket.

use std::collections::BTreeMap;
use std::time::Duration;

#[cfg(feature = "async")]
use crate::engine::wait_queue::WaitQueue;
use crate::sync::{AtomicU64, Mutex, Ordering, lock, thread};

/// The longest sleep of a waiting taker. It then checks by itself, since the filler may be starved.
pub const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// The shortest sleep of a waiting taker, and of a filler while takers wait.
pub const SHORTEST_WAIT: Duration = Duration::from_millis(1);

/// The threads and tasks to wake when something has changed.
#[derive(Debug)]
pub struct Waiters {
    threads: Mutex<Threads>,
    /// The first ticket that a thread waits with, or the largest number there is. Written under the
    /// lock.
    first_ticket: AtomicU64,
    #[cfg(feature = "async")]
    pub wait_queue: WaitQueue,
}

#[derive(Debug, Default)]
struct Threads {
    /// The threads by the ticket that each waits with, then in the order of arrival.
    waiting: BTreeMap<(u64, u64), thread::Thread>,
    /// How many threads have arrived.
    count: u64,
}

impl Default for Waiters {
    fn default() -> Waiters {
        Waiters {
            threads: Mutex::default(),
            first_ticket: AtomicU64::new(u64::MAX),
            #[cfg(feature = "async")]
            wait_queue: WaitQueue::default(),
        }
    }
}

impl Waiters {
    /// Registers this thread until the result is dropped. It is then woken from [`park`] when
    /// `ticket` may have a UID, and when the state that takes depend on changes in any other way.
    /// The caller checks once more before it parks.
    pub fn wait_with(&self, ticket: u64) -> WaitingThread<'_> {
        let mut threads = lock(&self.threads);
        threads.count += 1;
        let key = (ticket, threads.count);
        threads.waiting.insert(key, thread::current());
        self.note_first(&threads);
        WaitingThread { waiters: self, key }
    }

    /// The first ticket that a thread waits with. Larger than any if none waits.
    pub fn first_ticket(&self) -> u64 {
        // ORDERING: a hint. Where it is missed, a ticket may be lost.
        self.first_ticket.load(Ordering::Relaxed)
    }

    fn note_first(&self, threads: &Threads) {
        let first = threads.waiting.first_key_value().map_or(u64::MAX, |(&(ticket, _), _)| ticket);
        // ORDERING: as in `first_ticket`.
        self.first_ticket.store(first, Ordering::Relaxed);
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
    /// If a waker panics, after all others have been woken.
    pub fn wake_all(&self) {
        self.wake_threads(u64::MAX);
        #[cfg(feature = "async")]
        self.wait_queue.call_all();
    }

    /// Whether neither a thread nor a task waits.
    pub fn is_empty(&self) -> bool {
        #[cfg(feature = "async")]
        if !self.wait_queue.is_empty() {
            return false;
        }
        lock(&self.threads).waiting.is_empty()
    }

    /// How many threads wait.
    #[cfg(test)]
    pub fn threads(&self) -> usize {
        lock(&self.threads).waiting.len()
    }
}

/// The registration of a thread among the [`Waiters`].
pub struct WaitingThread<'a> {
    waiters: &'a Waiters,
    key: (u64, u64),
}

impl Drop for WaitingThread<'_> {
    fn drop(&mut self) {
        let mut threads = lock(&self.waiters.threads);
        threads.waiting.remove(&self.key);
        self.waiters.note_first(&threads);
    }
}

/// Sleeps until woken, at most for `timeout`. It may also wake without a reason.
pub fn park(timeout: Duration) {
    crate::sync::park_timeout(timeout);
}

//! Who waits for the next second to be due.
//!
//! Nobody waits for a UID that is in the ring: this is for a generator that has borrowed as far as it may.

use std::sync::PoisonError;
use std::task::{Wake, Waker};
use std::time::Duration;

use crate::sync::{Arc, Mutex, lock, thread};

/// Threads and tasks to wake when something has changed.
#[derive(Debug, Default)]
pub struct Waiters {
    queue: Mutex<Vec<Waker>>,
}

impl Waiters {
    /// Wakes `waker` at the next change. The caller looks once more before it goes to sleep.
    pub fn register(&self, waker: Waker) {
        let mut queue = lock(&self.queue);
        if !queue.iter().any(|known| known.will_wake(&waker)) {
            queue.push(waker);
        }
    }

    /// Wakes everyone, in the order of their coming.
    pub fn wake_all(&self) {
        let queue = std::mem::take(&mut *lock(&self.queue));
        queue.into_iter().for_each(Waker::wake);
    }

    pub fn is_empty(&self) -> bool {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }
}

/// A waker for this thread when it is in [`park`].
pub fn thread_waker() -> Waker {
    Waker::from(Arc::new(ThreadWaker(thread::current())))
}

/// Sleeps until woken, at most for `timeout`, and now and then for no reason.
pub fn park(timeout: Duration) {
    crate::sync::park_timeout(timeout);
}

struct ThreadWaker(thread::Thread);

impl Wake for ThreadWaker {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

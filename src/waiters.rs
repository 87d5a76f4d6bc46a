//! Who waits for the next second to be due.
//!
//! Nobody waits for a UID that is in the ring: this is for a generator that has borrowed as far as it may.

use std::panic::{catch_unwind, resume_unwind};
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
    ///
    /// # Panics
    ///
    /// As a task's waker did, when all others have been woken.
    pub fn wake_all(&self) {
        let queue = std::mem::take(&mut *lock(&self.queue));
        let mut panics: Vec<_> = queue.into_iter().filter_map(|waker| catch_unwind(|| waker.wake()).err()).collect();
        if let Some(panic) = panics.pop() {
            resume_unwind(panic);
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Notes that it is woken, and panics if its number is 1.
    struct Task {
        number: u32,
        woken: Arc<Mutex<Vec<u32>>>,
    }

    impl Wake for Task {
        fn wake(self: Arc<Self>) {
            lock(&self.woken).push(self.number);
            assert_ne!(self.number, 1, "a waker that panics");
        }
    }

    #[test]
    fn a_waker_that_panics_keeps_nobody_asleep() {
        let (waiters, woken) = (Waiters::default(), Arc::default());
        for number in 0..3 {
            waiters.register(Waker::from(Arc::new(Task { number, woken: Arc::clone(&woken) })));
        }
        assert!(catch_unwind(|| waiters.wake_all()).is_err());
        assert_eq!(*lock(&woken), [0, 1, 2]);
    }
}

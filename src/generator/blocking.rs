//! Work that blocks, for callers that must not.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::sync::thread;

/// Runs `work` on a thread of its own, and returns what it returned. The thread is started before
/// this returns. If the future is dropped, even before its first poll, the work is done all the
/// same, and its result is dropped on a thread of its own.
///
/// Fails if the thread cannot be started. A panic of `work` is the caller's.
pub fn run<T: Send + 'static>(
    name: &'static str,
    work: impl FnOnce() -> T + Send + 'static,
) -> impl Future<Output = io::Result<T>> + Send + 'static {
    let (sender, receiver) = oneshot::channel();
    let body = move || {
        let result = catch_unwind(AssertUnwindSafe(work));
        // Nobody may be waiting any more. Then it is dropped here.
        if let Err(unsent) = sender.send(Unread { result: Some(result), name }) {
            drop(unsent.into_inner().read());
        }
    };
    let started = thread::Builder::new().name(name.to_owned()).spawn(body);
    async move {
        started?;
        match receiver.await.ok().and_then(Unread::read) {
            Some(Ok(result)) => Ok(result),
            Some(Err(panic)) => resume_unwind(panic),
            // Only a thread that was ended from outside sends nothing.
            None => Err(io::Error::other("the thread ended without a result")),
        }
    }
}

/// A result on its way. If its reader goes away after it was sent, dropping it must not block the
/// reader's thread: a generator waits for its registry.
struct Unread<T: Send + 'static> {
    result: Option<T>,
    name: &'static str,
}

impl<T: Send + 'static> Unread<T> {
    fn read(mut self) -> Option<T> {
        self.result.take()
    }
}

impl<T: Send + 'static> Drop for Unread<T> {
    fn drop(&mut self) {
        if let Some(result) = self.result.take() {
            let body = move || drop(result);
            // If the thread cannot be started, this drops `body`, and the result with it.
            drop(thread::Builder::new().name(self.name.to_owned()).spawn(body));
        }
    }
}

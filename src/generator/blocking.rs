//! Work that blocks, for callers that must not.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::sync::thread;

/// Runs `work` on a thread of its own, and returns what it returned. If the future is dropped, the
/// work is done all the same, and its result is dropped.
///
/// Fails if the thread cannot be started. A panic of `work` is the caller's.
pub async fn run<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<T> {
    let (sender, receiver) = oneshot::channel();
    let body = move || {
        let result = catch_unwind(AssertUnwindSafe(work));
        // Nobody may be waiting any more.
        drop(sender.send(result));
    };
    thread::Builder::new().name(name.to_owned()).spawn(body)?;
    match receiver.await {
        Ok(Ok(result)) => Ok(result),
        Ok(Err(panic)) => resume_unwind(panic),
        // Only a thread that was ended from outside sends nothing.
        Err(_) => Err(io::Error::other("the thread ended without a result")),
    }
}

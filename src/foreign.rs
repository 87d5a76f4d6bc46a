//! Calls of foreign code, which may panic: a clock, a registry, a task's waker, a subscriber of
//! events, a recorder of metrics.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The result of `call`, or `None` if it panics.
pub fn caught<T>(call: impl FnOnce() -> T) -> Option<T> {
    let panic = match catch_unwind(AssertUnwindSafe(call)) {
        Ok(result) => return Some(result),
        Err(panic) => panic,
    };
    // What a panic carries may panic itself when it is dropped.
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        mem::forget(panic);
    }
    None
}

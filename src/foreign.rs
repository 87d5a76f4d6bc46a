//! Calls of foreign code, which may panic: a clock, a registry, a task's waker, a subscriber of
//! events, a recorder of metrics.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// The result of `call`, or `None` if it panics.
pub fn caught<T>(call: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(call)).ok()
}

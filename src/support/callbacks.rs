//! Calls of code that is not this library's, which may panic: a clock, a registry, a task's waker,
//! a recorder of metrics, and a subscriber of `tracing`, to whom [`event`] tells of changes.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The result of `call`, or `None` if it panics.
pub fn catch_panic<T>(call: impl FnOnce() -> T) -> Option<T> {
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

/// Emits an event. Programs recognize it by its name. The message is for people.
///
/// A subscriber may panic, as it does where it cannot write to stderr. The code that emits an event
/// has more to do after it, and would otherwise begin again and come to the same panic.
macro_rules! event {
    ($level:ident, $name:literal, $($rest:tt)+) => {
        #[cfg(feature = "tracing")]
        {
            let emit = || tracing::$level!(name: $name, target: "uidring", $($rest)+);
            $crate::support::callbacks::catch_panic(emit);
        }
    };
}
pub(crate) use event;

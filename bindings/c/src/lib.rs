//! The C interface of uidring: `include/uidring.h` is its header.
//!
//! A handle is a number, and not a pointer: one that was closed, or never given, is an error, and
//! cannot lead to freed memory. Each call catches panics, and leaves what went wrong in a text of
//! its thread.

// Pointers come from callers that no compiler checks. What is promised about each of them stands in
// the header.
#![allow(unsafe_code)]

mod calls;
mod handles;
mod last_error;
#[cfg(unix)]
mod sigpipe;
#[cfg(not(unix))]
mod sigpipe {
    /// Makes a call. This system has no such signal.
    pub(crate) fn without_sigpipe<T>(call: impl FnOnce() -> T) -> T {
        call()
    }
}
mod texts;

pub use calls::{claims, events, generator, lend, masked, past, segments, series};
pub use last_error::{uidring_code, uidring_last_error, uidring_version};

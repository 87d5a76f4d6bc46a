//! What a call returns, and the text of the last failure of each thread.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};

use uidring_bindings::{Error, Kind};

/// What a call returns: 0, or why it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
// As types and constants are called in C.
#[allow(clippy::upper_case_acronyms, non_camel_case_types)]
pub enum uidring_code {
    /// It has succeeded.
    UIDRING_OK = 0,
    /// An argument or an option is wrong. Nothing was done.
    UIDRING_INVALID_ARGUMENT = 1,
    /// There is no number for now: a store cannot be reached, or a limit is reached that time
    /// lifts. The same call may succeed later.
    UIDRING_UNAVAILABLE = 2,
    /// The store refuses, or something is used up. Somebody has to change something.
    UIDRING_REFUSED = 3,
    /// The handle was closed.
    UIDRING_CLOSED = 4,
    /// This process was forked from the one that opened the handle. Open another here.
    UIDRING_FORKED = 5,
    /// A mistake in uidring was caught.
    UIDRING_INTERNAL = 6,
}

impl From<Kind> for uidring_code {
    fn from(kind: Kind) -> uidring_code {
        match kind {
            Kind::InvalidArgument => uidring_code::UIDRING_INVALID_ARGUMENT,
            Kind::Unavailable => uidring_code::UIDRING_UNAVAILABLE,
            Kind::Refused => uidring_code::UIDRING_REFUSED,
            Kind::Closed => uidring_code::UIDRING_CLOSED,
            Kind::Forked => uidring_code::UIDRING_FORKED,
            Kind::Internal => uidring_code::UIDRING_INTERNAL,
        }
    }
}

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// Returns why the last call of this thread that failed did so, in UTF-8. The text is valid until
/// the next call of this thread. It is never null. In handlers of `atexit` and while a thread ends
/// it is empty, because the text is gone by then: there, look at the code that the call returned.
#[unsafe(no_mangle)]
pub extern "C" fn uidring_last_error() -> *const c_char {
    LAST.try_with(|last| last.try_borrow().map(|last| last.as_ptr()).ok())
        .ok()
        .flatten()
        .unwrap_or(c"".as_ptr())
}

/// Returns the version of the library, such as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn uidring_version() -> *const c_char {
    const VERSION: &CStr =
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(version) => version,
            Err(_) => c"",
        };
    VERSION.as_ptr()
}

/// Runs a call, catches its panic, and keeps the text of a failure.
#[inline]
pub(crate) fn guarded(call: impl FnOnce() -> Result<(), Error>) -> uidring_code {
    match uidring_bindings::guarded(call) {
        Ok(()) => uidring_code::UIDRING_OK,
        Err(error) => failed(&error),
    }
}

#[cold]
fn failed(error: &Error) -> uidring_code {
    let code = error.kind.into();
    // No text of the library has a zero byte, but one that repeats an argument could.
    let text = CString::new(error.message.replace('\0', "\\0")).unwrap_or_default();
    let _ = LAST.try_with(|last| {
        if let Ok(mut last) = last.try_borrow_mut() {
            *last = text;
        }
    });
    code
}

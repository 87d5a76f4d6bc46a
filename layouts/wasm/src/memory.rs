//! How a page hands over a request and gets the answer: a text in UTF-8, in a part of the module's
//! memory that both know.
//!
//! ```text
//!   page                              module
//!   room(length) ───────────────────▶ makes room, and says where
//!   writes the request there
//!   answer() ───────────────────────▶ puts the answer in its place, and says how long it is
//!   text() ─────────────────────────▶ says where
//!   reads the answer there
//! ```

#![allow(unsafe_code)]

use std::mem;
use std::sync::{Mutex, PoisonError};

static TEXT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Where a request of `length` bytes has to be written.
// SAFETY: no other function of the module has this name.
#[unsafe(no_mangle)]
extern "C" fn room(length: usize) -> *mut u8 {
    let mut text = TEXT.lock().unwrap_or_else(PoisonError::into_inner);
    *text = vec![0; length];
    text.as_mut_ptr()
}

/// Answers the request that was written, and returns the length of the answer in bytes.
// SAFETY: no other function of the module has this name.
#[unsafe(no_mangle)]
extern "C" fn answer() -> usize {
    // Without the lock, because a panic here would leave it held.
    let request = mem::take(&mut *TEXT.lock().unwrap_or_else(PoisonError::into_inner));
    let answer = crate::answer::answer(&String::from_utf8_lossy(&request)).into_bytes();
    let length = answer.len();
    *TEXT.lock().unwrap_or_else(PoisonError::into_inner) = answer;
    length
}

/// Where the answer begins.
// SAFETY: no other function of the module has this name.
#[unsafe(no_mangle)]
extern "C" fn text() -> *const u8 {
    TEXT.lock().unwrap_or_else(PoisonError::into_inner).as_ptr()
}

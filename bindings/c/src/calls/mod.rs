//! The functions of the interface.

pub mod claims;
pub mod events;
pub mod generator;
pub mod lend;
pub mod masked;
pub mod past;
pub mod segments;
pub mod series;
pub mod transactions;

use std::ffi::c_char;

use uidring_bindings::{Close, Error, Open};

use crate::handles::HandleKind;
use crate::last_error::{guarded, uidring_code};
use crate::sigpipe::without_sigpipe;
use crate::texts;

/// Opens what the address of a store and options name. Returns its handle.
///
/// # Safety
/// `address` is as [`texts::text`] takes it, and `options` as [`texts::options`] does.
unsafe fn open<T: HandleKind + Open>(
    address: *const c_char,
    options: *const *const c_char,
) -> Result<u64, Error> {
    // SAFETY: as the caller promises.
    let (address, options) =
        unsafe { (texts::text(address, "address")?, texts::options(options)?) };
    Ok(without_sigpipe(|| T::open(address, &options))?.insert())
}

/// Closes what a handle stands for, unless it was closed before.
fn close<T: HandleKind + Close>(handle: u64) -> uidring_code {
    guarded(|| {
        let Some(open) = T::remove(handle)? else { return Ok(()) };
        without_sigpipe(|| open.close())
    })
}

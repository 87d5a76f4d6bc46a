//! The functions of the interface.

pub mod events;
pub mod generator;
pub mod masked;
pub mod segments;
pub mod series;

use std::ffi::c_char;

use uidring_bindings::Error;

use crate::handles::Kept;
use crate::sigpipe::without_sigpipe;
use crate::texts;

/// Opens what the address of a store and options name. Returns its handle.
///
/// # Safety
/// `address` is as [`texts::text`] takes it, and `options` as [`texts::options`] does.
unsafe fn open<T: Kept>(
    address: *const c_char,
    options: *const *const c_char,
    open: impl Fn(&str, &[(&str, &str)]) -> Result<T, Error>,
) -> Result<u64, Error> {
    // SAFETY: as the caller promises.
    let (address, options) =
        unsafe { (texts::text(address, "address")?, texts::options(options)?) };
    Ok(without_sigpipe(|| open(address, &options))?.keep())
}

//! Ids that tell nothing.

use std::ffi::c_char;

use uidring_bindings::{MaskedIds, OpaqueIds};

use crate::calls::close;
use crate::handles::{HandleKind, handle_kind};
use crate::last_error::{guarded, uidring_code};
use crate::texts;

handle_kind!(MaskedIds, "the keys were");
handle_kind!(OpaqueIds, "the keys were");

/// Masks ids as numbers. Any thread may use it. All zero is none.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[allow(non_camel_case_types)] // as types are called in C
pub struct uidring_masked {
    /// What stands for it. Do not change it.
    pub id: u64,
}

/// Makes opaque texts of ids. Any thread may use it. All zero is none.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[allow(non_camel_case_types)]
pub struct uidring_opaque {
    /// What stands for it. Do not change it.
    pub id: u64,
}

/// Masks ids with `keys`: 64 hexadecimal digits, as `openssl rand -hex 32` prints them, or the text
/// of a file of keys, of which the first masks.
///
/// # Safety
/// `keys` is a text that ends with a zero byte, and `masked` can be written to.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn uidring_masked_open(
    keys: *const c_char,
    masked: *mut uidring_masked,
) -> uidring_code {
    guarded(|| {
        // SAFETY: as the caller promises.
        let (keys, masked) =
            unsafe { (texts::text(keys, "keys")?, texts::place(masked, "masked")?) };
        masked.id = MaskedIds::new(keys)?.insert();
        Ok(())
    })
}

/// Masks an id: a UID, or a dense number. Where it fails, it writes 0.
///
/// # Safety
/// `masked_id` can be written to.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn uidring_mask(
    masked: uidring_masked,
    id: u64,
    masked_id: *mut u64,
) -> uidring_code {
    guarded(|| {
        let mask = || {
            let id = texts::id(id, "an id")?;
            MaskedIds::with(masked.id, |masked| masked.mask(id))?
        };
        // SAFETY: as the caller promises.
        unsafe { texts::number(masked_id, "masked_id", mask) }
    })
}

/// Writes the masked forms of `count` ids in their place, each in a fraction of the time. If one is
/// not an id, all stay as they are.
///
/// # Safety
/// `ids` has `count` numbers.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn uidring_mask_many(
    masked: uidring_masked,
    ids: *mut u64,
    count: usize,
) -> uidring_code {
    guarded(|| {
        // SAFETY: as the caller promises.
        let ids = unsafe { texts::array(ids, count, "ids") }?;
        ids.iter().try_for_each(|&id| texts::id(id, "an id").map(drop))?;
        let forms = MaskedIds::with(masked.id, |masked| masked.mask_many(ids))??;
        ids.copy_from_slice(&forms);
        Ok(())
    })
}

/// Reads a masked id. Each number from 1 to 2^63-1 is the masked form of some id. Where it fails,
/// it writes 0.
///
/// # Safety
/// `id` can be written to.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn uidring_unmask(
    masked: uidring_masked,
    masked_id: u64,
    id: *mut u64,
) -> uidring_code {
    guarded(|| {
        let unmask = || {
            let masked_id = texts::id(masked_id, "a masked id")?;
            MaskedIds::with(masked.id, |masked| masked.unmask(masked_id))?
        };
        // SAFETY: as the caller promises.
        unsafe { texts::number(id, "id", unmask) }
    })
}

/// Overwrites the library's copy of the keys. A second close succeeds.
#[unsafe(no_mangle)]
pub extern "C" fn uidring_masked_close(masked: uidring_masked) -> uidring_code {
    close::<MaskedIds>(masked.id)
}

/// Makes texts with `prefix` of ids, such as `ord_5H7WY7KKXFH1JCEMMC78CF0N9T`, with `keys` as
/// `uidring_masked_open` takes them. Texts of all the keys are read.
///
/// # Safety
/// `keys` and `prefix` are texts that end with a zero byte, and `opaque` can be written to.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn uidring_opaque_open(
    keys: *const c_char,
    prefix: *const c_char,
    opaque: *mut uidring_opaque,
) -> uidring_code {
    guarded(|| {
        // SAFETY: as the caller promises.
        let (keys, prefix, opaque) = unsafe {
            (
                texts::text(keys, "keys")?,
                texts::text(prefix, "prefix")?,
                texts::place(opaque, "opaque")?,
            )
        };
        opaque.id = OpaqueIds::new(keys, prefix)?.insert();
        Ok(())
    })
}

/// Writes the text of an id to `buffer`, which has `size` bytes, with a zero byte behind it, and
/// its length to `length`, which may be null. It has 27 characters behind its prefix. Where it
/// fails, it writes an empty text.
///
/// # Safety
/// `buffer` has room for `size` bytes, and `length` is null or can be written to.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn uidring_opaque_encode(
    opaque: uidring_opaque,
    id: u64,
    buffer: *mut c_char,
    size: usize,
    length: *mut usize,
) -> uidring_code {
    guarded(|| {
        // If the call fails, this is what the caller finds.
        // SAFETY: as the caller promises.
        texts::copy("", unsafe { texts::array(buffer, size, "buffer") }?);
        let id = texts::id(id, "an id")?;
        let text = OpaqueIds::with(opaque.id, |opaque| opaque.encode(id))??;
        // SAFETY: as the caller promises.
        unsafe { texts::write(&text, buffer, size, length) }
    })
}

/// Reads the text of an id. One that was made up, or is of another kind, is an invalid argument.
/// Where it fails, it writes 0.
///
/// # Safety
/// `text` is a text that ends with a zero byte, and `id` can be written to.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn uidring_opaque_decode(
    opaque: uidring_opaque,
    text: *const c_char,
    id: *mut u64,
) -> uidring_code {
    guarded(|| {
        let decode = || {
            // SAFETY: as the caller promises.
            let text = unsafe { texts::text(text, "text") }?;
            OpaqueIds::with(opaque.id, |opaque| opaque.decode(text))?
        };
        // SAFETY: as the caller promises.
        unsafe { texts::number(id, "id", decode) }
    })
}

/// Overwrites the library's copy of the keys. A second close succeeds.
#[unsafe(no_mangle)]
pub extern "C" fn uidring_opaque_close(opaque: uidring_opaque) -> uidring_code {
    close::<OpaqueIds>(opaque.id)
}

//! Ids of times that were.

use std::ffi::c_char;

use uidring_bindings::PastUids;

use crate::calls::generator::uidring_parts;
use crate::calls::{close, open};
use crate::handles::{HandleKind, handle_kind};
use crate::last_error::{guarded, uidring_code};
use crate::sigpipe::without_sigpipe;
use crate::texts;

handle_kind!(PastUids, "the generator was");

/// A generator of ids of times that were, for rows that are older than their ids. Any thread may
/// use it. All zero is none.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[allow(non_camel_case_types)] // as types are called in C
pub struct uidring_past {
    /// What stands for it. Do not change it.
    pub id: u64,
}

/// Opens a generator of ids of times that were, with a worker id that nobody had before, from the
/// store at `address`. Options are as `uidring_open` takes them. Those about worker ids, the
/// layout, `max_new_workers`, `start_deadline` and `timeout` count; `lease` and `state` are
/// refused, and the others have no effect.
///
/// # Safety
/// `address` is a text that ends with a zero byte, `options` is as `uidring_open` takes it, and
/// `past` can be written to.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn uidring_past_open(
    address: *const c_char,
    options: *const *const c_char,
    past: *mut uidring_past,
) -> uidring_code {
    guarded(|| {
        // SAFETY: as the caller promises.
        let past = unsafe { texts::place(past, "past") }?;
        // SAFETY: as the caller promises.
        past.id = unsafe { open::<PastUids>(address, options) }?;
        Ok(())
    })
}

/// Takes a UID whose time is the tick of `unix_ms`, which is in milliseconds since 1970. A time
/// before the epoch of the layout, or after now, is an invalid argument. Where it fails, it writes
/// 0, which is no UID.
///
/// Where all UIDs of the tick are taken, it asks the store for a further worker id, as many in an
/// hour as `max_new_workers` allows.
///
/// # Safety
/// `uid` can be written to.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn uidring_past_take_at(
    past: uidring_past,
    unix_ms: i64,
    uid: *mut u64,
) -> uidring_code {
    guarded(|| {
        let take = || without_sigpipe(|| PastUids::with(past.id, |past| past.take_at(unix_ms))?);
        // SAFETY: as the caller promises.
        unsafe { texts::number(uid, "uid", take) }
    })
}

/// Fills `uids` with a UID for each of `count` times, in their order. All times are looked at
/// before the first UID is taken. Where it fails, it writes 0 to each, and the sentence says which
/// time it is about, counted from 1.
///
/// # Safety
/// `unix_ms` has `count` times, and `uids` has room for `count` numbers. They may be one array.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn uidring_past_take_times(
    past: uidring_past,
    unix_ms: *const i64,
    uids: *mut u64,
    count: usize,
) -> uidring_code {
    guarded(|| {
        // SAFETY: as the caller promises.
        let times = unsafe { texts::read_only(unix_ms, count, "unix_ms") }.map(<[i64]>::to_vec);
        // SAFETY: as the caller promises, and `times` is a copy.
        let uids = unsafe { texts::array(uids, count, "uids") }?;
        // If the call fails, this is what the caller finds.
        uids.fill(0);
        let times = times?;
        let take = || PastUids::with(past.id, |past| past.take_times(&times))?;
        uids.copy_from_slice(&without_sigpipe(take)?);
        Ok(())
    })
}

/// Decodes a UID of this generator's layout.
///
/// # Safety
/// `parts` can be written to.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn uidring_past_decode(
    past: uidring_past,
    uid: u64,
    parts: *mut uidring_parts,
) -> uidring_code {
    guarded(|| {
        // SAFETY: as the caller promises.
        let place = unsafe { texts::place(parts, "parts") }?;
        let uid = texts::id(uid, "a UID")?;
        *place = PastUids::with(past.id, |past| past.parts(uid))??.into();
        Ok(())
    })
}

/// Writes the state of the generator to `buffer`, as `uidring_status` does: `taken` is how many
/// UIDs were taken, `workers` how many worker ids it has taken on, and `ticks` of how many ticks it
/// remembers what was taken.
///
/// # Safety
/// As `uidring_status`.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn uidring_past_status(
    past: uidring_past,
    buffer: *mut c_char,
    size: usize,
    length: *mut usize,
) -> uidring_code {
    guarded(|| {
        // Not what this thread remembers, which may be closed.
        let status = PastUids::find(past.id)?.status();
        // SAFETY: as the caller promises.
        unsafe { texts::write(&status, buffer, size, length) }
    })
}

/// Ends all takes. A second close succeeds.
#[unsafe(no_mangle)]
pub extern "C" fn uidring_past_close(past: uidring_past) -> uidring_code {
    close::<PastUids>(past.id)
}

//! Time-ordered ids.

use std::ffi::c_char;

use uidring_bindings::{Error, Parts, Source as _, Uids};

use crate::calls::{close, open};
use crate::handles::{HandleKind, handle_kind};
use crate::last_error::{guarded, uidring_code};
use crate::sigpipe::without_sigpipe;
use crate::texts;

handle_kind!(Uids, "the generator was");

/// A generator of time-ordered ids. Any thread may use it. All zero is none.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[allow(non_camel_case_types)] // as types are called in C
pub struct uidring_generator {
    /// What stands for it. Do not change it.
    pub id: u64,
}

/// What a UID holds.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[allow(non_camel_case_types)]
pub struct uidring_parts {
    /// The time of its tick, in milliseconds since 1970.
    pub unix_ms: i64,
    /// The worker id.
    pub worker: u64,
    /// The number within the tick.
    pub sequence: u64,
}

impl From<Parts> for uidring_parts {
    fn from(Parts { unix_ms, worker, sequence }: Parts) -> uidring_parts {
        uidring_parts { unix_ms, worker, sequence }
    }
}

/// Opens a generator with a worker id from the store at `address`: the path of a SQLite file, or
/// the address of a server. `options` is null, or an array of texts such as "lease=10m", of which
/// the last is null.
///
/// # Safety
/// `address` is a text that ends with a zero byte, `options` is as said, and `generator` can be
/// written to.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn uidring_open(
    address: *const c_char,
    options: *const *const c_char,
    generator: *mut uidring_generator,
) -> uidring_code {
    guarded(|| {
        // SAFETY: as the caller promises.
        let generator = unsafe { texts::place(generator, "generator") }?;
        // SAFETY: as the caller promises.
        generator.id = unsafe { open::<Uids>(address, options) }?;
        Ok(())
    })
}

/// Opens a generator with a worker id of your own, which no other generator may have at a time.
/// Without the option `state`, a restart may repeat UIDs: those of the tick in which it begins, and
/// those that the first run took ahead of the clock. "state=/data/uidring.state" names a file that
/// keeps which times were used.
///
/// # Safety
/// As `uidring_open`.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn uidring_open_fixed(
    worker_id: u64,
    options: *const *const c_char,
    generator: *mut uidring_generator,
) -> uidring_code {
    guarded(|| {
        // SAFETY: as the caller promises.
        let (options, generator) =
            unsafe { (texts::options(options)?, texts::place(generator, "generator")?) };
        if i64::try_from(worker_id).is_err() {
            let signed = worker_id.cast_signed();
            return Err(Error::argument(format!(
                "a worker id is not negative, and not {worker_id}, which is {signed} with its sign"
            )));
        }
        let opened = without_sigpipe(|| Uids::fixed(worker_id, &options))?;
        generator.id = opened.insert();
        Ok(())
    })
}

/// Takes a UID. Lock-free, unless it has to wait. Where it fails, it writes 0, which is no UID.
///
/// # Safety
/// `uid` can be written to.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn uidring_take(generator: uidring_generator, uid: *mut u64) -> uidring_code {
    guarded(|| {
        // SAFETY: as the caller promises.
        unsafe { texts::number(uid, "uid", || Uids::with(generator.id, Uids::take)?) }
    })
}

/// Takes a UID if there is one now, and writes 0 if it may be worth waiting for one. Lock-free.
///
/// # Safety
/// `uid` can be written to.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn uidring_try_take(
    generator: uidring_generator,
    uid: *mut u64,
) -> uidring_code {
    guarded(|| {
        let take = || Ok(Uids::with(generator.id, Uids::try_take)??.unwrap_or_default());
        // SAFETY: as the caller promises.
        unsafe { texts::number(uid, "uid", take) }
    })
}

/// Fills `uids` with `count` UIDs, which ascend within one worker id: a change of the worker id in
/// between begins again at the present time. Where it fails, as many as it writes to `filled`, from
/// the start, are new and yours to use. `filled` may be null.
///
/// # Safety
/// `uids` has room for `count` numbers, and `filled` is null or can be written to.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn uidring_fill(
    generator: uidring_generator,
    uids: *mut u64,
    count: usize,
    filled: *mut usize,
) -> uidring_code {
    guarded(|| {
        // SAFETY: as the caller promises.
        unsafe {
            texts::fill(uids, count, filled, |uids| {
                Uids::with(generator.id, |generator| generator.fill(uids))
                    .unwrap_or_else(|error| Err((0, error)))
            })
        }
    })
}

/// Decodes a UID of this generator's layout.
///
/// # Safety
/// `parts` can be written to.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn uidring_decode(
    generator: uidring_generator,
    uid: u64,
    parts: *mut uidring_parts,
) -> uidring_code {
    guarded(|| {
        // SAFETY: as the caller promises.
        let place = unsafe { texts::place(parts, "parts") }?;
        let uid = texts::id(uid, "a UID")?;
        *place = Uids::with(generator.id, |generator| generator.parts(uid))??.into();
        Ok(())
    })
}

/// Writes the state of the generator to `buffer`, which has `size` bytes, as a JSON object that
/// ends with a zero byte, and its length to `length`, which may be null. Worker id and layout are
/// in it.
///
/// # Safety
/// `buffer` has room for `size` bytes, and `length` is null or can be written to.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn uidring_status(
    generator: uidring_generator,
    buffer: *mut c_char,
    size: usize,
    length: *mut usize,
) -> uidring_code {
    guarded(|| {
        // Not what this thread remembers, which may be closed.
        let status = Uids::find(generator.id)?.status();
        // SAFETY: as the caller promises.
        unsafe { texts::write(&status, buffer, size, length) }
    })
}

/// Ends all takes, and gives a leased worker id back. A second close succeeds. If it fails, the
/// worker id was not given back in time, and all takes have ended even so.
#[unsafe(no_mangle)]
pub extern "C" fn uidring_close(generator: uidring_generator) -> uidring_code {
    close::<Uids>(generator.id)
}

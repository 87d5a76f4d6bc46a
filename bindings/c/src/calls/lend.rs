//! Worker ids that are lent to generators of others.

use std::ffi::{c_char, c_int, c_void};

use uidring_bindings::{LentId, Loss};

use crate::calls::close;
use crate::handles::{HandleKind, handle_kind};
use crate::last_error::{guarded, uidring_code};
use crate::sigpipe::without_sigpipe;
use crate::texts;

handle_kind!(LentId, "the worker id was");

/// A worker id that is lent to a generator of another's. Any thread may use it. All zero is none.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[allow(non_camel_case_types)] // as types are called in C
pub struct uidring_worker {
    /// What stands for it. Do not change it.
    pub id: u64,
}

/// A worker id that is about to be lost.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[allow(non_camel_case_types)]
pub struct uidring_loss {
    /// The worker id.
    pub worker_id: u64,
    /// For how many milliseconds it may still be used; 0 if not any more.
    pub left_ms: u64,
    /// A line for people, with the reason.
    pub text: [c_char; 1000],
}

/// Is told, once, that a worker id is about to be lost: by `left_ms` the generator must have made
/// its last id. It runs on a thread of the library, gets the `data` of `uidring_worker_lend`, and
/// must not jump out.
#[allow(non_camel_case_types)]
pub type uidring_on_loss =
    Option<unsafe extern "C" fn(loss: *const uidring_loss, data: *mut c_void)>;

/// What the function of a program is called with.
struct Data(*mut c_void);

// SAFETY: the program promises that its function may be called with it on any thread.
unsafe impl Send for Data {}
// SAFETY: as above.
unsafe impl Sync for Data {}

/// Lends an id of the pool `pool` of the store at `address`, for a generator of another's that
/// needs a worker, machine or node number. The ids of the pool have `bits` bits, 1 to 22, of which
/// 0 is never lent. It is renewed until it is closed. Options are "lease=10m", "rest=10m", which is
/// the largest difference between clocks, "host=NAME" for the list of loans, and "timeout=5s".
/// `on_loss` may be null.
///
/// # Safety
/// `address` and `pool` are texts that end with a zero byte, `options` is as `uidring_open` takes
/// it, and `worker` can be written to. Until the close has returned, `on_loss` may be called with
/// `data` on any thread.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn uidring_worker_lend(
    address: *const c_char,
    pool: *const c_char,
    bits: u32,
    options: *const *const c_char,
    on_loss: uidring_on_loss,
    data: *mut c_void,
    worker: *mut uidring_worker,
) -> uidring_code {
    guarded(|| {
        // SAFETY: as the caller promises.
        let (address, pool, options, worker) = unsafe {
            (
                texts::text(address, "address")?,
                texts::text(pool, "pool")?,
                texts::options(options)?,
                texts::place(worker, "worker")?,
            )
        };
        let data = Data(data);
        let tell = move |loss: &Loss| tell(on_loss, &data, loss);
        let lent = without_sigpipe(|| LentId::lend(address, pool, bits, &options, tell))?;
        worker.id = lent.insert();
        Ok(())
    })
}

fn tell(on_loss: uidring_on_loss, data: &Data, loss: &Loss) {
    let Some(on_loss) = on_loss else { return };
    let left_ms = u64::try_from(loss.time_left.as_millis()).unwrap_or(u64::MAX);
    let mut told = uidring_loss { worker_id: loss.id, left_ms, text: [0; 1000] };
    texts::copy(&loss.to_string(), &mut told.text);
    // SAFETY: the program promises that it may be called so.
    unsafe { on_loss(&raw const told, data.0) };
}

/// Writes the worker id: 1 to 2^bits - 1. Where it fails, it writes 0, which is none.
///
/// # Safety
/// `id` can be written to.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn uidring_worker_id(worker: uidring_worker, id: *mut u64) -> uidring_code {
    guarded(|| {
        // SAFETY: as the caller promises.
        unsafe { texts::number(id, "id", || LentId::with(worker.id, LentId::id)?) }
    })
}

/// Writes 1 if ids may be made with it now, else 0, as in a forked process. It asks no store, so a
/// generator may ask before each id.
///
/// # Safety
/// `is_held` can be written to.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn uidring_worker_is_held(
    worker: uidring_worker,
    is_held: *mut c_int,
) -> uidring_code {
    guarded(|| {
        // SAFETY: as the caller promises.
        let place = unsafe { texts::place(is_held, "is_held") }?;
        // If the call fails, this is what the caller finds.
        *place = 0;
        *place = LentId::with(worker.id, LentId::is_held)??.into();
        Ok(())
    })
}

/// Writes the state of the loan to `buffer`, as `uidring_status` does: `state` is "held" or "lost".
///
/// # Safety
/// As `uidring_status`.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn uidring_worker_status(
    worker: uidring_worker,
    buffer: *mut c_char,
    size: usize,
    length: *mut usize,
) -> uidring_code {
    guarded(|| {
        // Not what this thread remembers, which may be closed.
        let status = LentId::find(worker.id)?.status()?;
        // SAFETY: as the caller promises.
        unsafe { texts::write(&status, buffer, size, length) }
    })
}

/// Returns the worker id. Make no more ids with it before. A second close succeeds. If it fails,
/// the id was lost before, or is held until its lease ends.
#[unsafe(no_mangle)]
pub extern "C" fn uidring_worker_close(worker: uidring_worker) -> uidring_code {
    close::<LentId>(worker.id)
}

//! Handles: boxed values whose addresses Java holds as a `long`.

use std::any::Any;
use std::collections::BTreeMap;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jni::EnvUnowned;
use jni::objects::{JClass, JString};
use jni::sys::jlong;
use uidring_bindings::{Close, Open};

use crate::errors::call;
use crate::texts::{JStrings, Options, text};

/// A boxed value of any type, which is freed with this. References to it are made from its address
/// meanwhile, so it is a pointer: a box would promise that there are none.
pub(crate) struct Live(*mut (dyn Any + Send + Sync));

// SAFETY: the value may be sent, and nothing else frees it.
unsafe impl Send for Live {}

impl Drop for Live {
    fn drop(&mut self) {
        // SAFETY: the pointer came from a box in `give`, and is freed here alone.
        drop(unsafe { Box::from_raw(self.0) });
    }
}

/// Each handle that Java holds, by its address.
static LIVE: Mutex<BTreeMap<usize, Live>> = Mutex::new(BTreeMap::new());

pub(crate) fn live() -> MutexGuard<'static, BTreeMap<usize, Live>> {
    // Nothing panics while it is locked.
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Boxes a value and gives its address away.
pub(crate) fn into_handle<T: Any + Send + Sync>(value: T) -> jlong {
    let value = Box::into_raw(Box::new(value));
    let address = value.expose_provenance();
    live().insert(address, Live(value));
    address.cast_signed() as jlong
}

/// Opens what the address of a store and options name, and gives it away.
pub(crate) extern "system" fn open<'local, T: Open>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    address: JString<'local>,
    options: JStrings<'local>,
) -> jlong {
    call(&mut env, |env| {
        let (address, options) = (text(env, &address)?, Options::read(env, &options)?);
        Ok(into_handle(T::open(&address, &options.pairs())?))
    })
}

/// Closes what a handle stands for. Java frees the handle later.
pub(crate) extern "system" fn close<T: Close>(
    mut env: EnvUnowned<'_>,
    _: JClass<'_>,
    handle: jlong,
) {
    // SAFETY: the Java object keeps its handle of this type alive during the call.
    let value = unsafe { value::<T>(handle) };
    call(&mut env, |_| Ok(value.close()?));
}

/// The address that a handle is. It was a `usize` in [`give`], and is one again.
#[allow(clippy::cast_possible_truncation)]
fn address(handle: jlong) -> usize {
    handle.cast_unsigned() as usize
}

/// The value of a handle.
///
/// # Safety
///
/// The handle comes from [`give`] with the same type, and is not freed while the reference is used.
#[inline]
pub(crate) unsafe fn value<'a, T>(handle: jlong) -> &'a T {
    // SAFETY: it is the address of a boxed `T` that lives, as the caller promises.
    unsafe { &*ptr::with_exposed_provenance::<T>(address(handle)) }
}

/// All values that Java has not freed.
pub(crate) fn take_all() -> BTreeMap<usize, Live> {
    mem::take(&mut *live())
}

/// Frees a handle that no Java object holds. A generator that is not closed ends.
pub(crate) extern "system" fn free(_: EnvUnowned<'_>, _: JClass<'_>, handle: jlong) {
    // Not under the lock, because a generator that ends may wait for its store.
    let value = live().remove(&address(handle));
    // Nobody waits for what a panic says here, and the panic hook has printed it.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(value)));
}

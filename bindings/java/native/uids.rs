//! Time-ordered ids.

use std::ffi::c_void;

use jni::EnvUnowned;
use jni::objects::{JClass, JLongArray, JString};
use jni::sys::jlong;
use uidring_bindings::{Error, Uids, guarded};

use crate::errors::{Failure, call, throw_error};
use crate::handles::{self, give, value};
use crate::methods::Method;
use crate::texts::{JStrings, Options};

/// Ids that are copied to an array of Java's at once.
const AT_ONCE: usize = 512;

pub(crate) fn methods() -> [Method; 10] {
    [
        Method("openUids", "(Ljava/lang/String;[Ljava/lang/String;)J", open as *mut c_void),
        Method("fixedUids", "(J[Ljava/lang/String;)J", fixed as *mut c_void),
        Method("takeUid", "(J)J", take as *mut c_void),
        Method("fillUids", "(J[J)V", fill as *mut c_void),
        Method("parts", "(JJ)[J", parts as *mut c_void),
        Method("layout", "(J)Ljava/lang/String;", layout as *mut c_void),
        Method("workerId", "(J)J", worker_id as *mut c_void),
        Method("shownUids", "(J)Ljava/lang/String;", shown as *mut c_void),
        Method("uidStatus", "(J)Ljava/lang/String;", status as *mut c_void),
        Method("closeUids", "(J)V", close as *mut c_void),
    ]
}

extern "system" fn open<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    address: JString<'local>,
    options: JStrings<'local>,
) -> jlong {
    handles::open(&mut env, &address, &options, Uids::open)
}

extern "system" fn fixed<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    worker: jlong,
    options: JStrings<'local>,
) -> jlong {
    call(&mut env, |env| {
        let worker = u64::try_from(worker)
            .map_err(|_| Error::argument(format!("a worker id is not negative, as {worker} is")))?;
        let options = Options::read(env, &options)?;
        Ok(give(Uids::fixed(worker, &options.pairs())?))
    })
}

/// The call that a program makes for each row. It asks nothing of Java unless it fails.
extern "system" fn take(mut env: EnvUnowned<'_>, _: JClass<'_>, handle: jlong) -> jlong {
    // SAFETY: the Java object keeps its handle of this type alive during the call.
    let uids = unsafe { value::<Uids>(handle) };
    match guarded(|| uids.take()) {
        Ok(uid) => uid.cast_signed(),
        Err(error) => throw_error(&mut env, error),
    }
}

extern "system" fn fill<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
    array: JLongArray<'local>,
) {
    // SAFETY: as in `take`.
    let uids = unsafe { value::<Uids>(handle) };
    fill_array(&mut env, &array, |buffer| uids.fill(buffer));
}

/// Fills an array of Java's in parts, each of which is copied once it is complete. A part is not
/// taken in a critical section, which would keep the garbage collector waiting while a take waits.
pub(crate) fn fill_array<'local>(
    env: &mut EnvUnowned<'local>,
    array: &JLongArray<'local>,
    fill: impl Fn(&mut [u64]) -> Result<(), (usize, Error)>,
) {
    call(env, |env| {
        let mut numbers = [0; AT_ONCE];
        let mut signed = [0; AT_ONCE];
        let length = array.len(env)?;
        let mut filled = 0;
        while filled < length {
            let part = AT_ONCE.min(length - filled);
            let result = fill(&mut numbers[..part]);
            let count = result.as_ref().err().map_or(part, |(count, _)| *count);
            for (signed, number) in signed.iter_mut().zip(&numbers[..count]) {
                *signed = number.cast_signed();
            }
            // An array of Java's has fewer elements than an `i32` counts.
            let start = i32::try_from(filled).unwrap_or(i32::MAX);
            array.set_region(env, start, &signed[..count])?;
            filled += count;
            result.map_err(|(_, error)| Failure::Core(error, filled))?;
        }
        Ok(())
    });
}

extern "system" fn parts<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
    uid: jlong,
) -> JLongArray<'local> {
    // SAFETY: as in `take`.
    let uids = unsafe { value::<Uids>(handle) };
    call(&mut env, |env| {
        let uid = u64::try_from(uid)
            .map_err(|_| Error::argument(format!("a UID is not negative, as {uid} is")))?;
        let parts = uids.parts(uid)?;
        let array = env.new_long_array(3)?;
        let fields = [parts.unix_ms, parts.worker.cast_signed(), parts.sequence.cast_signed()];
        array.set_region(env, 0, &fields)?;
        Ok(array)
    })
}

extern "system" fn layout<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
) -> JString<'local> {
    // SAFETY: as in `take`.
    let uids = unsafe { value::<Uids>(handle) };
    call(&mut env, |env| Ok(env.new_string(uids.layout())?))
}

extern "system" fn worker_id(mut env: EnvUnowned<'_>, _: JClass<'_>, handle: jlong) -> jlong {
    // SAFETY: as in `take`.
    let uids = unsafe { value::<Uids>(handle) };
    call(&mut env, |_| Ok(uids.worker_id()?.cast_signed()))
}

extern "system" fn shown<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
) -> JString<'local> {
    // SAFETY: as in `take`.
    let uids = unsafe { value::<Uids>(handle) };
    call(&mut env, |env| {
        let state = match uids.ended() {
            Some(ended) => ended.to_owned(),
            None => format!("worker={}", uids.worker_id()?),
        };
        Ok(env.new_string(format!("{} {state}", uids.layout()))?)
    })
}

extern "system" fn status<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
) -> JString<'local> {
    // SAFETY: as in `take`.
    let uids = unsafe { value::<Uids>(handle) };
    call(&mut env, |env| Ok(env.new_string(uids.status())?))
}

extern "system" fn close(mut env: EnvUnowned<'_>, _: JClass<'_>, handle: jlong) {
    // SAFETY: as in `take`.
    let uids = unsafe { value::<Uids>(handle) };
    call(&mut env, |_| Ok(uids.close()?));
}

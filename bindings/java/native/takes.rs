//! Takes of ids and numbers that may wait in this library.

use jni::EnvUnowned;
use jni::objects::{JClass, JLongArray, JString};
use jni::sys::jlong;
use uidring_bindings::{Source, guarded};

use crate::errors::{Failure, call, throw_error};
use crate::handles::value;

/// Ids that are copied to an array of Java's at once.
pub(crate) const AT_ONCE: usize = 512;

/// The call that a program makes for each row. It asks nothing of Java unless it fails.
pub(crate) extern "system" fn take<S: Source>(
    mut env: EnvUnowned<'_>,
    _: JClass<'_>,
    handle: jlong,
) -> jlong {
    // SAFETY: the Java object keeps its handle of this type alive during the call.
    let source = unsafe { value::<S>(handle) };
    match guarded(|| source.take()) {
        Ok(number) => number.cast_signed(),
        Err(error) => throw_error(&mut env, error),
    }
}

/// Fills an array of Java's in parts, each of which is copied once it is complete. A part is not
/// taken in a critical section, which would keep the garbage collector waiting while a take waits.
pub(crate) extern "system" fn fill<'local, S: Source>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
    array: JLongArray<'local>,
) {
    // SAFETY: as in `take`.
    let source = unsafe { value::<S>(handle) };
    call(&mut env, |env| {
        let mut numbers = [0; AT_ONCE];
        let mut signed = [0; AT_ONCE];
        let length = array.len(env)?;
        let mut filled = 0;
        while filled < length {
            let part = AT_ONCE.min(length - filled);
            let result = source.fill(&mut numbers[..part]);
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

/// The state, for operators.
pub(crate) extern "system" fn status<'local, S: Source>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
) -> JString<'local> {
    // SAFETY: as in `take`.
    let source = unsafe { value::<S>(handle) };
    call(&mut env, |env| Ok(env.new_string(source.status())?))
}

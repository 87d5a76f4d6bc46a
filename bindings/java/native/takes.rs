//! Takes of ids and numbers that may wait in this library.

use std::sync::atomic::AtomicU64;

use jni::objects::{JByteBuffer, JClass, JLongArray};
use jni::sys::{jint, jlong};
use jni::{Env, EnvUnowned};
use uidring_bindings::{Claimed, Source, guarded};

use crate::errors::{Failure, call, throw_error};
use crate::handles::value;
use crate::texts::{JStrings, state};

/// Ids that are copied to an array of Java's at once.
pub(crate) const AT_ONCE: usize = 512;

/// As many are a small array.
const FEW: usize = 16;

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
    call(&mut env, |env| match array.len(env)? {
        // To set what few ids do not need would last longer than to take them.
        length @ 0..=FEW => fill_by::<S, FEW>(env, source, &array, length),
        length => fill_by::<S, AT_ONCE>(env, source, &array, length),
    });
}

/// Fills an array of this length in parts of `PART` elements.
fn fill_by<S: Source, const PART: usize>(
    env: &mut Env<'_>,
    source: &S,
    array: &JLongArray<'_>,
    length: usize,
) -> Result<(), Failure> {
    let mut numbers = [0; PART];
    let mut signed = [0; PART];
    let mut filled = 0;
    while filled < length {
        let part = PART.min(length - filled);
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
}

/// Claims numbers for Java to hand out. Returns the first, and writes to an array how many there
/// are, the number past the last one, and the distance between two. 0 if there is none now.
pub(crate) extern "system" fn claim<'local, S: Source>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
    count: jint,
    written: JLongArray<'local>,
) -> jlong {
    // SAFETY: as in `take`.
    let source = unsafe { value::<S>(handle) };
    call(&mut env, |env| {
        let Some(claimed) = source.try_claim(count.cast_unsigned())? else { return Ok(0) };
        let Claimed { first, length, end, step } = claimed;
        written.set_region(env, 0, &[length, end, step].map(u64::cast_signed))?;
        Ok(first.cast_signed())
    })
}

/// The word that Java compares claimed numbers with. Null if numbers are not claimed.
pub(crate) extern "system" fn claims_end<'local, S: Source>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
) -> JByteBuffer<'local> {
    // SAFETY: as in `take`.
    let source = unsafe { value::<S>(handle) };
    call(&mut env, |env| {
        let Some(word) = source.claims_end() else { return Ok(JByteBuffer::default()) };
        // SAFETY: the word lives as long as the handle, and the Java object that has the buffer
        // keeps that alive. Java only reads the word, as an atomic.
        Ok(unsafe { env.new_direct_byte_buffer(word.as_ptr().cast(), size_of::<AtomicU64>()) }?)
    })
}

/// The state, for operators.
pub(crate) extern "system" fn status<'local, S: Source>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
) -> JStrings<'local> {
    // SAFETY: as in `take`.
    let source = unsafe { value::<S>(handle) };
    call(&mut env, |env| state(env, &source.status()))
}

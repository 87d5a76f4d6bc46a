//! Dense numbers, counted per tag.

use std::ffi::c_void;

use jni::EnvUnowned;
use jni::objects::{JClass, JLongArray, JString};
use jni::sys::jlong;
use uidring_bindings::{Numbers, TagNumbers, guarded};

use crate::errors::{call, throw_error};
use crate::handles::{self, give, value};
use crate::methods::Method;
use crate::texts::{JStrings, Options, text};
use crate::uids::fill_array;

pub(crate) fn methods() -> [Method; 7] {
    [
        Method("openSegments", "(Ljava/lang/String;[Ljava/lang/String;)J", open as *mut c_void),
        Method("createTag", "(JLjava/lang/String;[Ljava/lang/String;)J", create as *mut c_void),
        Method("findTag", "(JLjava/lang/String;)J", find as *mut c_void),
        Method("takeNumber", "(J)J", take as *mut c_void),
        Method("fillNumbers", "(J[J)V", fill as *mut c_void),
        Method("tagStatus", "(J)Ljava/lang/String;", status as *mut c_void),
        Method("closeSegments", "(J)V", close as *mut c_void),
    ]
}

extern "system" fn open<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    address: JString<'local>,
    options: JStrings<'local>,
) -> jlong {
    handles::open(&mut env, &address, &options, Numbers::open)
}

extern "system" fn create<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
    tag: JString<'local>,
    options: JStrings<'local>,
) -> jlong {
    // SAFETY: the Java object keeps its handle of this type alive during the call.
    let numbers = unsafe { value::<Numbers>(handle) };
    call(&mut env, |env| {
        let (tag, options) = (text(env, &tag)?, Options::read(env, &options)?);
        Ok(give(numbers.create(&tag, &options.pairs())?))
    })
}

extern "system" fn find<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
    tag: JString<'local>,
) -> jlong {
    // SAFETY: as in `create`.
    let numbers = unsafe { value::<Numbers>(handle) };
    call(&mut env, |env| Ok(give(numbers.tag(&text(env, &tag)?)?)))
}

/// Asks nothing of Java unless it fails.
extern "system" fn take(mut env: EnvUnowned<'_>, _: JClass<'_>, handle: jlong) -> jlong {
    // SAFETY: as in `create`.
    let tag = unsafe { value::<TagNumbers>(handle) };
    match guarded(|| tag.take()) {
        Ok(number) => number.cast_signed(),
        Err(error) => throw_error(&mut env, error),
    }
}

extern "system" fn fill<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
    array: JLongArray<'local>,
) {
    // SAFETY: as in `create`.
    let tag = unsafe { value::<TagNumbers>(handle) };
    fill_array(&mut env, &array, |buffer| tag.fill(buffer));
}

extern "system" fn status<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
) -> JString<'local> {
    // SAFETY: as in `create`.
    let tag = unsafe { value::<TagNumbers>(handle) };
    call(&mut env, |env| Ok(env.new_string(tag.status())?))
}

extern "system" fn close(mut env: EnvUnowned<'_>, _: JClass<'_>, handle: jlong) {
    // SAFETY: as in `create`.
    let numbers = unsafe { value::<Numbers>(handle) };
    call(&mut env, |_| Ok(numbers.close()?));
}

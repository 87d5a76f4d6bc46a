//! Ids of times that were.

use std::ffi::c_void;

use jni::EnvUnowned;
use jni::objects::{JClass, JLongArray, JString};
use jni::sys::jlong;
use uidring_bindings::PastUids;

use crate::errors::call;
use crate::handles::{self, value};
use crate::methods::Method;
use crate::texts::{JStrings, state};
use crate::uids::{parts_array, uid};

pub(crate) fn methods() -> [Method; 8] {
    [
        Method(
            "openPast",
            "(Ljava/lang/String;[Ljava/lang/String;)J",
            handles::open::<PastUids> as *mut c_void,
        ),
        Method("takeAt", "(JJ)J", take_at as *mut c_void),
        Method("takeTimes", "(J[J)[J", take_times as *mut c_void),
        Method("partsOfPast", "(JJ)[J", parts as *mut c_void),
        Method("layoutOfPast", "(J)Ljava/lang/String;", layout as *mut c_void),
        Method("workerIdOfPast", "(J)J", worker_id as *mut c_void),
        Method("pastStatus", "(J)[Ljava/lang/String;", status as *mut c_void),
        Method("closePast", "(J)V", handles::close::<PastUids> as *mut c_void),
    ]
}

extern "system" fn take_at(
    mut env: EnvUnowned<'_>,
    _: JClass<'_>,
    handle: jlong,
    time: jlong,
) -> jlong {
    // SAFETY: the Java object keeps its handle of this type alive during the call.
    let past = unsafe { value::<PastUids>(handle) };
    call(&mut env, |_| Ok(past.take_at(time)?.cast_signed()))
}

extern "system" fn take_times<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
    times: JLongArray<'local>,
) -> JLongArray<'local> {
    // SAFETY: as in `take_at`.
    let past = unsafe { value::<PastUids>(handle) };
    call(&mut env, |env| {
        let mut wanted = vec![0; times.len(env)?];
        times.get_region(env, 0, &mut wanted)?;
        // Before the ids are taken, as none may be lost where memory is used up.
        let array = JLongArray::new(env, wanted.len())?;
        let uids: Vec<jlong> =
            past.take_times(&wanted)?.into_iter().map(u64::cast_signed).collect();
        array.set_region(env, 0, &uids)?;
        Ok(array)
    })
}

extern "system" fn parts<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
    id: jlong,
) -> JLongArray<'local> {
    // SAFETY: as in `take_at`.
    let past = unsafe { value::<PastUids>(handle) };
    call(&mut env, |env| parts_array(env, past.parts(uid(id)?)?))
}

extern "system" fn layout<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
) -> JString<'local> {
    // SAFETY: as in `take_at`.
    let past = unsafe { value::<PastUids>(handle) };
    call(&mut env, |env| Ok(env.new_string(past.layout())?))
}

extern "system" fn worker_id(mut env: EnvUnowned<'_>, _: JClass<'_>, handle: jlong) -> jlong {
    // SAFETY: as in `take_at`.
    let past = unsafe { value::<PastUids>(handle) };
    call(&mut env, |_| Ok(past.worker_id()?.cast_signed()))
}

extern "system" fn status<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
) -> JStrings<'local> {
    // SAFETY: as in `take_at`.
    let past = unsafe { value::<PastUids>(handle) };
    call(&mut env, |env| state(env, &past.status()))
}

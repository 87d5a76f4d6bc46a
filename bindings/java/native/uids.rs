//! Time-ordered ids.

use std::ffi::c_void;

use jni::objects::{JClass, JLongArray, JString};
use jni::sys::jlong;
use jni::{Env, EnvUnowned};
use uidring_bindings::{Error, Parts, Uids};

use crate::errors::{Failure, call};
use crate::handles::{self, into_handle, value};
use crate::methods::Method;
use crate::takes;
use crate::texts::{JStrings, Options};

pub(crate) fn methods() -> [Method; 12] {
    [
        Method(
            "openUids",
            "(Ljava/lang/String;[Ljava/lang/String;)J",
            handles::open::<Uids> as *mut c_void,
        ),
        Method("fixedUids", "(J[Ljava/lang/String;)J", fixed as *mut c_void),
        Method("takeUid", "(J)J", takes::take::<Uids> as *mut c_void),
        Method("claimUids", "(JI[J)J", takes::claim::<Uids> as *mut c_void),
        Method(
            "uidClaimsEnd",
            "(J)Ljava/nio/ByteBuffer;",
            takes::claims_end::<Uids> as *mut c_void,
        ),
        Method("fillUids", "(J[J)V", takes::fill::<Uids> as *mut c_void),
        Method("parts", "(JJ)[J", parts as *mut c_void),
        Method("layout", "(J)Ljava/lang/String;", layout as *mut c_void),
        Method("workerId", "(J)J", worker_id as *mut c_void),
        Method("describeUids", "(J)Ljava/lang/String;", describe as *mut c_void),
        Method("uidStatus", "(J)[Ljava/lang/String;", takes::status::<Uids> as *mut c_void),
        Method("closeUids", "(J)V", handles::close::<Uids> as *mut c_void),
    ]
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
        Ok(into_handle(Uids::fixed(worker, &options.pairs())?))
    })
}

extern "system" fn parts<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
    uid: jlong,
) -> JLongArray<'local> {
    // SAFETY: the Java object keeps its handle of this type alive during the call.
    let uids = unsafe { value::<Uids>(handle) };
    call(&mut env, |env| {
        let parts = uids.parts(self::uid(uid)?)?;
        parts_array(env, parts)
    })
}

/// A UID of Java's.
pub(crate) fn uid(uid: jlong) -> Result<u64, Error> {
    u64::try_from(uid).map_err(|_| Error::argument(format!("a UID is not negative, as {uid} is")))
}

/// What a UID holds, as Java reads it.
pub(crate) fn parts_array<'local>(
    env: &mut Env<'local>,
    parts: Parts,
) -> Result<JLongArray<'local>, Failure> {
    let array = env.new_long_array(3)?;
    let fields = [parts.unix_ms, parts.worker.cast_signed(), parts.sequence.cast_signed()];
    array.set_region(env, 0, &fields)?;
    Ok(array)
}

extern "system" fn layout<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
) -> JString<'local> {
    // SAFETY: as in `parts`.
    let uids = unsafe { value::<Uids>(handle) };
    call(&mut env, |env| Ok(env.new_string(uids.layout())?))
}

extern "system" fn worker_id(mut env: EnvUnowned<'_>, _: JClass<'_>, handle: jlong) -> jlong {
    // SAFETY: as in `parts`.
    let uids = unsafe { value::<Uids>(handle) };
    call(&mut env, |_| Ok(uids.worker_id()?.cast_signed()))
}

extern "system" fn describe<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
) -> JString<'local> {
    // SAFETY: as in `parts`.
    let uids = unsafe { value::<Uids>(handle) };
    call(&mut env, |env| {
        let state = match uids.ended() {
            Some(ended) => ended.to_owned(),
            None => format!("worker={}", uids.worker_id()?),
        };
        Ok(env.new_string(format!("{} {state}", uids.layout()))?)
    })
}

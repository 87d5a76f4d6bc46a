//! Ids that tell nothing.

use std::ffi::c_void;

use jni::EnvUnowned;
use jni::objects::{JClass, JLongArray, JString};
use jni::sys::jlong;
use uidring_bindings::{Error, MaskedIds, OpaqueIds, Zeroizing, not_an_id};

use crate::errors::call;
use crate::handles::{self, into_handle, value};
use crate::methods::Method;
use crate::texts::text;

pub(crate) fn methods() -> [Method; 9] {
    [
        Method("newMasked", "(Ljava/lang/String;)J", new_masked as *mut c_void),
        Method("mask", "(JJ)J", mask as *mut c_void),
        Method("maskMany", "(J[J)[J", mask_many as *mut c_void),
        Method("unmask", "(JJ)J", unmask as *mut c_void),
        Method("closeMasked", "(J)V", handles::close::<MaskedIds> as *mut c_void),
        Method("newOpaque", "(Ljava/lang/String;Ljava/lang/String;)J", new_opaque as *mut c_void),
        Method("encode", "(JJ)Ljava/lang/String;", encode as *mut c_void),
        Method("decode", "(JLjava/lang/String;)J", decode as *mut c_void),
        Method("closeOpaque", "(J)V", handles::close::<OpaqueIds> as *mut c_void),
    ]
}

/// An id of Java's, which is `what` in the sentence of an error.
fn id(id: jlong, what: &str) -> Result<u64, Error> {
    u64::try_from(id).map_err(|_| not_an_id(what, id))
}

extern "system" fn new_masked<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    keys: JString<'local>,
) -> jlong {
    call(&mut env, |env| {
        let keys = Zeroizing::new(text(env, &keys)?);
        Ok(into_handle(MaskedIds::new(&keys)?))
    })
}

extern "system" fn mask(
    mut env: EnvUnowned<'_>,
    _: JClass<'_>,
    handle: jlong,
    unmasked: jlong,
) -> jlong {
    // SAFETY: the Java object keeps its handle of this type alive during the call.
    let masked = unsafe { value::<MaskedIds>(handle) };
    call(&mut env, |_| Ok(masked.mask(id(unmasked, "an id")?)?.cast_signed()))
}

extern "system" fn mask_many<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
    ids: JLongArray<'local>,
) -> JLongArray<'local> {
    // SAFETY: as in `mask`.
    let masked = unsafe { value::<MaskedIds>(handle) };
    call(&mut env, |env| {
        let mut numbers = vec![0; ids.len(env)?];
        ids.get_region(env, 0, &mut numbers)?;
        let ids = numbers.into_iter().map(|number| id(number, "an id"));
        let numbers = ids.collect::<Result<Vec<u64>, Error>>()?;
        let forms = masked.mask_many(&numbers)?;
        let forms: Vec<jlong> = forms.into_iter().map(u64::cast_signed).collect();
        let array = JLongArray::new(env, forms.len())?;
        array.set_region(env, 0, &forms)?;
        Ok(array)
    })
}

extern "system" fn unmask(
    mut env: EnvUnowned<'_>,
    _: JClass<'_>,
    handle: jlong,
    form: jlong,
) -> jlong {
    // SAFETY: as in `mask`.
    let masked = unsafe { value::<MaskedIds>(handle) };
    call(&mut env, |_| Ok(masked.unmask(id(form, "a masked id")?)?.cast_signed()))
}

extern "system" fn new_opaque<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    keys: JString<'local>,
    prefix: JString<'local>,
) -> jlong {
    call(&mut env, |env| {
        let keys = Zeroizing::new(text(env, &keys)?);
        Ok(into_handle(OpaqueIds::new(&keys, &text(env, &prefix)?)?))
    })
}

extern "system" fn encode<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
    unmasked: jlong,
) -> JString<'local> {
    // SAFETY: as in `mask`.
    let opaque = unsafe { value::<OpaqueIds>(handle) };
    call(&mut env, |env| Ok(env.new_string(opaque.encode(id(unmasked, "an id")?)?)?))
}

extern "system" fn decode<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
    form: JString<'local>,
) -> jlong {
    // SAFETY: as in `mask`.
    let opaque = unsafe { value::<OpaqueIds>(handle) };
    call(&mut env, |env| Ok(opaque.decode(&text(env, &form)?)?.cast_signed()))
}

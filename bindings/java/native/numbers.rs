//! Dense numbers, counted per tag.

use std::ffi::c_void;

use jni::EnvUnowned;
use jni::objects::{JClass, JString};
use jni::sys::jlong;
use uidring_bindings::{Numbers, TagNumbers};

use crate::errors::call;
use crate::handles::{self, into_handle, value};
use crate::methods::Method;
use crate::takes;
use crate::texts::{JStrings, Options, text};

pub(crate) fn methods() -> [Method; 10] {
    [
        Method(
            "openSegments",
            "(Ljava/lang/String;[Ljava/lang/String;)J",
            handles::open::<Numbers> as *mut c_void,
        ),
        Method("createTag", "(JLjava/lang/String;[Ljava/lang/String;)J", create as *mut c_void),
        Method("findTag", "(JLjava/lang/String;)J", find as *mut c_void),
        Method("takeNumber", "(J)J", takes::take::<TagNumbers> as *mut c_void),
        Method("claimNumbers", "(JI[J)J", takes::claim::<TagNumbers> as *mut c_void),
        Method(
            "tagClaimsEnd",
            "(J)Ljava/nio/ByteBuffer;",
            takes::claims_end::<TagNumbers> as *mut c_void,
        ),
        Method("giveBackNumbers", "(JJ)V", give_back as *mut c_void),
        Method("fillNumbers", "(J[J)V", takes::fill::<TagNumbers> as *mut c_void),
        Method("tagStatus", "(J)[Ljava/lang/String;", takes::status::<TagNumbers> as *mut c_void),
        Method("closeSegments", "(J)V", handles::close::<Numbers> as *mut c_void),
    ]
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
        Ok(into_handle(numbers.create(&tag, &options.pairs())?))
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
    call(&mut env, |env| Ok(into_handle(numbers.tag(&text(env, &tag)?)?)))
}

/// Gives back what is left of the last claim, of which so many were given.
extern "system" fn give_back(mut env: EnvUnowned<'_>, _: JClass<'_>, handle: jlong, used: jlong) {
    // SAFETY: as in `create`.
    let numbers = unsafe { value::<TagNumbers>(handle) };
    call(&mut env, |_| {
        numbers.give_back(used.cast_unsigned());
        Ok(())
    });
}

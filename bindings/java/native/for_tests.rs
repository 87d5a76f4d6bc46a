//! Native methods of the tests.

use std::ffi::c_void;

use jni::EnvUnowned;
use jni::objects::JClass;
use jni::sys::jint;
use uidring_bindings::{Error, Kind};

use crate::Method;
use crate::errors::{Failure, call};
use crate::handles::live;

pub(crate) fn methods() -> [Method; 2] {
    [Method("fail", "(I)V", fail as *mut c_void), Method("handles", "()I", handles as *mut c_void)]
}

/// Fails in the way of a kind, by its code. A panic is a real one.
#[allow(clippy::panic)] // that is what is asked for
extern "system" fn fail(mut env: EnvUnowned<'_>, _: JClass<'_>, code: jint) {
    call(&mut env, |_| -> Result<(), Failure> {
        let kind = Kind::ALL.into_iter().find(|kind| *kind as jint == code);
        match kind {
            Some(Kind::Internal) => panic!("asked for by a test"),
            Some(kind) => Err(Error { kind, message: "asked for by a test".to_owned() }.into()),
            None => Err(Error::argument(format!("there is no kind {code}")).into()),
        }
    });
}

/// How many handles Java has not freed.
extern "system" fn handles(_: EnvUnowned<'_>, _: JClass<'_>) -> jint {
    jint::try_from(live().len()).unwrap_or(jint::MAX)
}

//! Native methods of the tests.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};

use jni::EnvUnowned;
use jni::objects::JClass;
use jni::sys::jint;
use uidring_bindings::{Error, Kind};

use crate::errors::{Failure, call};
use crate::handles::live;
use crate::methods::Method;

/// Whether the next event cannot be read.
static FAILS_NEXT_EVENT: AtomicBool = AtomicBool::new(false);

pub(crate) fn methods() -> [Method; 3] {
    [
        Method("fail", "(I)V", fail as *mut c_void),
        Method("failNextEvent", "()V", fail_next_event as *mut c_void),
        Method("handles", "()I", handles as *mut c_void),
    ]
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

extern "system" fn fail_next_event(_: EnvUnowned<'_>, _: JClass<'_>) {
    FAILS_NEXT_EVENT.store(true, Ordering::SeqCst);
}

/// Fails once if a test has asked for it.
pub(crate) fn read_event() -> Result<(), Failure> {
    if FAILS_NEXT_EVENT.swap(false, Ordering::SeqCst) {
        return Err(Error::internal("asked for by a test").into());
    }
    Ok(())
}

/// How many handles Java has not freed.
extern "system" fn handles(_: EnvUnowned<'_>, _: JClass<'_>) -> jint {
    jint::try_from(live().len()).unwrap_or(jint::MAX)
}

//! What `io.uidring.Events` tells the log of the program.

use std::ffi::c_void;

use jni::EnvUnowned;
use jni::objects::JClass;
use uidring_bindings::events::{self, Level};

use crate::errors::call;
use crate::methods::Method;
use crate::texts::{JStrings, strings};

pub(crate) fn methods() -> [Method; 4] {
    [
        Method("listen", "()V", listen as *mut c_void),
        Method("takeEvent", "()[Ljava/lang/String;", take as *mut c_void),
        Method("waitForEvent", "()V", wait as *mut c_void),
        Method("wake", "()V", wake as *mut c_void),
    ]
}

extern "system" fn listen(mut env: EnvUnowned<'_>, _: JClass<'_>) {
    call(&mut env, |_| {
        events::listen();
        Ok(())
    });
}

/// The level as `System.Logger` calls it, and what the event says.
extern "system" fn take<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
) -> JStrings<'local> {
    call(&mut env, |env| {
        let Some(event) = events::take() else { return Ok(JStrings::null()) };
        #[cfg(feature = "for-tests")]
        crate::for_tests::read_event()?;
        let level = match event.level {
            Level::Error => "ERROR",
            Level::Warn => "WARNING",
            Level::Info => "INFO",
            Level::Debug => "DEBUG",
        };
        Ok(strings(env, &[Some(level), Some(&event.text())])?)
    })
}

extern "system" fn wait(mut env: EnvUnowned<'_>, _: JClass<'_>) {
    call(&mut env, |_| {
        events::wait(None);
        Ok(())
    });
}

extern "system" fn wake(mut env: EnvUnowned<'_>, _: JClass<'_>) {
    call(&mut env, |_| {
        events::wake();
        Ok(())
    });
}

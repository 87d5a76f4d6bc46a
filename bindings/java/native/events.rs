//! What `io.uidring.Events` tells the log of the program.

use std::ffi::c_void;

use jni::EnvUnowned;
use jni::objects::JClass;
use uidring_bindings::events::{self, Level, Value};

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

/// The level as `System.Logger` calls it, the line of a log, the time, the name, the message, and
/// then the name and the value of each field: numbers begin with `i`, and texts with `t`.
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
        let (text, time) = (event.text(), event.unix_ms().to_string());
        let fields: Vec<(&str, String)> = event.fields.iter().map(field).collect();
        let mut texts = vec![level, &text, &time, event.name, &event.message];
        texts.extend(fields.iter().flat_map(|(name, value)| [*name, value.as_str()]));
        let texts: Vec<Option<&str>> = texts.into_iter().map(Some).collect();
        Ok(strings(env, &texts)?)
    })
}

fn field<'a>((name, value): &'a (&'static str, Value)) -> (&'a str, String) {
    let value = match value {
        Value::Number(number) => format!("i{number}"),
        Value::Text(text) => format!("t{text}"),
    };
    (name, value)
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

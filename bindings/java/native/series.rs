//! Numbers that people see.

use std::ffi::c_void;

use jni::objects::{JClass, JString};
use jni::sys::jlong;
use jni::{Env, EnvUnowned};
use uidring_bindings::{Error, Issued, SeriesStore};

use crate::errors::{Failure, call};
use crate::handles::{self, value};
use crate::methods::Method;
use crate::texts::{JStrings, Options, optional, strings, text};

pub(crate) fn methods() -> [Method; 8] {
    [
        Method(
            "openSeries",
            "(Ljava/lang/String;[Ljava/lang/String;)J",
            handles::open::<SeriesStore> as *mut c_void,
        ),
        Method(
            "createSeries",
            "(JLjava/lang/String;Ljava/lang/String;[Ljava/lang/String;)V",
            create as *mut c_void,
        ),
        Method(
            "next",
            "(JLjava/lang/String;Ljava/lang/String;Ljava/lang/String;)[Ljava/lang/String;",
            next as *mut c_void,
        ),
        Method(
            "tryNext",
            "(JLjava/lang/String;Ljava/lang/String;)[Ljava/lang/String;",
            try_next as *mut c_void,
        ),
        Method(
            "nextMany",
            "(JLjava/lang/String;JLjava/lang/String;Ljava/lang/String;)[Ljava/lang/String;",
            next_many as *mut c_void,
        ),
        Method(
            "parse",
            "(JLjava/lang/String;Ljava/lang/String;)[Ljava/lang/String;",
            parse as *mut c_void,
        ),
        Method(
            "seriesStatus",
            "(JLjava/lang/String;Ljava/lang/String;)Ljava/lang/String;",
            status as *mut c_void,
        ),
        Method("closeSeries", "(J)V", handles::close::<SeriesStore> as *mut c_void),
    ]
}

extern "system" fn create<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
    name: JString<'local>,
    pattern: JString<'local>,
    options: JStrings<'local>,
) {
    // SAFETY: the Java object keeps its handle of this type alive during the call.
    let series = unsafe { value::<SeriesStore>(handle) };
    call(&mut env, |env| {
        let (name, pattern) = (text(env, &name)?, text(env, &pattern)?);
        let options = Options::read(env, &options)?;
        Ok(series.create(&name, &pattern, &options.pairs())?)
    });
}

/// The texts of numbers in Java: text, value, period and scope of each.
fn issued<'local>(env: &mut Env<'local>, numbers: &[Issued]) -> Result<JStrings<'local>, Failure> {
    let values: Vec<String> = numbers.iter().map(|number| number.value.to_string()).collect();
    let texts: Vec<Option<&str>> = numbers
        .iter()
        .zip(&values)
        .flat_map(|(number, value)| {
            [Some(&*number.text), Some(value), Some(&*number.period), number.scope.as_deref()]
        })
        .collect();
    Ok(strings(env, &texts)?)
}

extern "system" fn next<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
    name: JString<'local>,
    scope: JString<'local>,
    date: JString<'local>,
) -> JStrings<'local> {
    // SAFETY: as in `create`.
    let series = unsafe { value::<SeriesStore>(handle) };
    call(&mut env, |env| {
        let (scope, date) = (optional(env, &scope)?, optional(env, &date)?);
        let number = series.next(&text(env, &name)?, scope.as_deref(), date.as_deref())?;
        issued(env, &[number])
    })
}

extern "system" fn try_next<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
    name: JString<'local>,
    scope: JString<'local>,
) -> JStrings<'local> {
    // SAFETY: as in `create`.
    let series = unsafe { value::<SeriesStore>(handle) };
    call(&mut env, |env| {
        let (name, scope) = (text(env, &name)?, optional(env, &scope)?);
        match series.try_next(&name, scope.as_deref()) {
            Some(number) => issued(env, &[number]),
            None => Ok(JStrings::null()),
        }
    })
}

extern "system" fn next_many<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
    name: JString<'local>,
    count: jlong,
    scope: JString<'local>,
    date: JString<'local>,
) -> JStrings<'local> {
    // SAFETY: as in `create`.
    let series = unsafe { value::<SeriesStore>(handle) };
    call(&mut env, |env| {
        let (scope, date) = (optional(env, &scope)?, optional(env, &date)?);
        let count = u64::try_from(count)
            .map_err(|_| Error::argument(format!("a count is not negative, as {count} is")))?;
        let name = text(env, &name)?;
        issued(env, &series.next_many(&name, scope.as_deref(), date.as_deref(), count)?)
    })
}

extern "system" fn parse<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
    name: JString<'local>,
    number: JString<'local>,
) -> JStrings<'local> {
    // SAFETY: as in `create`.
    let series = unsafe { value::<SeriesStore>(handle) };
    call(&mut env, |env| {
        let (name, number) = (text(env, &name)?, text(env, &number)?);
        issued(env, &[series.parse(&name, &number)?])
    })
}

extern "system" fn status<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
    name: JString<'local>,
    scope: JString<'local>,
) -> JString<'local> {
    // SAFETY: as in `create`.
    let series = unsafe { value::<SeriesStore>(handle) };
    call(&mut env, |env| {
        let (name, scope) = (text(env, &name)?, optional(env, &scope)?);
        let status = series.status(&name, scope.as_deref())?;
        Ok(env.new_string(status)?)
    })
}

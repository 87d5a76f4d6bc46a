//! Numbers that people see.

use std::ffi::c_void;

use jni::EnvUnowned;
use jni::objects::{JByteArray, JClass, JString};
use jni::sys::jlong;
use uidring_bindings::{Error, OneSeries, PeriodText, SeriesStore};

use crate::errors::call;
use crate::handles::{self, into_handle, value};
use crate::methods::Method;
use crate::packed::{pack, pack_all};
use crate::texts::{JStrings, Options, Short, optional, state, strings, text};

pub(crate) fn methods() -> [Method; 11] {
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
            "(JLjava/lang/String;Ljava/lang/String;Ljava/lang/String;)[B",
            next as *mut c_void,
        ),
        Method("usedSeries", "(JLjava/lang/String;)J", used as *mut c_void),
        Method("tryNext", "(JLjava/lang/String;[B)[B", try_next as *mut c_void),
        Method(
            "nextMany",
            "(JLjava/lang/String;JLjava/lang/String;Ljava/lang/String;)[B",
            next_many as *mut c_void,
        ),
        Method(
            "parse",
            "(JLjava/lang/String;Ljava/lang/String;)[Ljava/lang/String;",
            parse as *mut c_void,
        ),
        Method(
            "format",
            "(JLjava/lang/String;JLjava/lang/String;Ljava/lang/String;)Ljava/lang/String;",
            format as *mut c_void,
        ),
        Method("widen", "(JLjava/lang/String;Ljava/lang/String;)V", widen as *mut c_void),
        Method(
            "seriesStatus",
            "(JLjava/lang/String;Ljava/lang/String;)[Ljava/lang/String;",
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

extern "system" fn next<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
    name: JString<'local>,
    scope: JString<'local>,
    date: JString<'local>,
) -> JByteArray<'local> {
    // SAFETY: as in `create`.
    let series = unsafe { value::<SeriesStore>(handle) };
    call(&mut env, |env| {
        let (scope, date) = (optional(env, &scope)?, optional(env, &date)?);
        let number = series.next(&text(env, &name)?, scope.as_deref(), date.as_deref())?;
        pack_all(env, &[number])
    })
}

/// A series that has been used, for `try_next`; 0 if it has not.
extern "system" fn used<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
    name: JString<'local>,
) -> jlong {
    // SAFETY: as in `create`.
    let series = unsafe { value::<SeriesStore>(handle) };
    call(&mut env, |env| Ok(series.used(&text(env, &name)?).map_or(0, into_handle)))
}

extern "system" fn try_next<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
    scope: JString<'local>,
    reply: JByteArray<'local>,
) -> JByteArray<'local> {
    // SAFETY: as in `create`.
    let series = unsafe { value::<OneSeries>(handle) };
    call(&mut env, |env| {
        let scope = Short::optional(env, &scope)?;
        match series.try_next(scope.as_ref().map(Short::as_str)) {
            Some(number) => pack(env, &number, reply),
            None => Ok(JByteArray::null()),
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
) -> JByteArray<'local> {
    // SAFETY: as in `create`.
    let series = unsafe { value::<SeriesStore>(handle) };
    call(&mut env, |env| {
        let (scope, date) = (optional(env, &scope)?, optional(env, &date)?);
        let count = u64::try_from(count)
            .map_err(|_| Error::argument(format!("a count is not negative, as {count} is")))?;
        let name = text(env, &name)?;
        pack_all(env, &series.next_many(&name, scope.as_deref(), date.as_deref(), count)?)
    })
}

/// The texts of a number that is read: value, period, shown period and scope.
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
        let read = series.parse(&name, &number)?;
        let value = read.value.to_string();
        let periods = [read.period, read.shown].map(PeriodText::of);
        let [period, shown] = periods.each_ref().map(|period| Some(period.as_str()));
        Ok(strings(env, &[Some(&value), period, shown, read.scope.as_deref()])?)
    })
}

extern "system" fn format<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
    name: JString<'local>,
    number: jlong,
    scope: JString<'local>,
    date: JString<'local>,
) -> JString<'local> {
    // SAFETY: as in `create`.
    let series = unsafe { value::<SeriesStore>(handle) };
    call(&mut env, |env| {
        let (scope, date) = (optional(env, &scope)?, optional(env, &date)?);
        let number = u64::try_from(number)
            .map_err(|_| Error::argument(format!("a number is not negative, as {number} is")))?;
        let name = text(env, &name)?;
        let written = series.format(&name, number, scope.as_deref(), date.as_deref())?;
        Ok(env.new_string(written)?)
    })
}

extern "system" fn widen<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
    name: JString<'local>,
    pattern: JString<'local>,
) {
    // SAFETY: as in `create`.
    let series = unsafe { value::<SeriesStore>(handle) };
    call(&mut env, |env| Ok(series.widen(&text(env, &name)?, &text(env, &pattern)?)?));
}

extern "system" fn status<'local>(
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
        let status = series.status(&name, scope.as_deref())?;
        state(env, &status)
    })
}

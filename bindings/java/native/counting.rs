//! What is done by statements that a driver of JDBC runs.

use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};

use jni::objects::{JClass, JString};
use jni::sys::{jboolean, jint, jlong};
use jni::{Env, EnvUnowned};
use uidring_bindings::{
    AskError, Counting, Error, PeriodText, Places, Reading, Rows, SeriesStore, SqlValue, Statement,
    Step, dialect,
};

use crate::errors::{Failure, call};
use crate::handles::{into_handle, value};
use crate::methods::Method;
use crate::texts::{JStrings, optional, strings, text};

pub(crate) fn methods() -> [Method; 5] {
    [
        Method("seriesInTransactions", "()J", in_transactions as *mut c_void),
        Method(
            "countIn",
            "(JLjava/lang/String;Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;)J",
            count_in as *mut c_void,
        ),
        Method("readIn", "(JLjava/lang/String;Ljava/lang/String;)J", read_in as *mut c_void),
        Method("step", "(J[Ljava/lang/String;I)[Ljava/lang/String;", step as *mut c_void),
        Method(
            "isTransient",
            "(Ljava/lang/String;Ljava/lang/String;)Z",
            is_transient as *mut c_void,
        ),
    ]
}

/// A number that is being counted, or a series that is being read.
enum Work {
    Count(Counting),
    Read(Reading),
}

extern "system" fn in_transactions(mut env: EnvUnowned<'_>, _: JClass<'_>) -> jlong {
    call(&mut env, |_| Ok(into_handle(SeriesStore::in_transactions())))
}

extern "system" fn count_in<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
    name: JString<'local>,
    scope: JString<'local>,
    date: JString<'local>,
    database: JString<'local>,
) -> jlong {
    // SAFETY: the Java object keeps its handle of this type alive during the call.
    let series = unsafe { value::<SeriesStore>(handle) };
    call(&mut env, |env| {
        let (name, dialect) = (text(env, &name)?, dialect(&text(env, &database)?)?);
        let (scope, date) = (optional(env, &scope)?, optional(env, &date)?);
        // Java asks the connection whether it has begun a transaction.
        let counting = series.count_in(&name, scope.as_deref(), date.as_deref(), dialect, true)?;
        Ok(into_handle(Mutex::new(Work::Count(counting))))
    })
}

/// 0 if the store of the series is open.
extern "system" fn read_in<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
    name: JString<'local>,
    database: JString<'local>,
) -> jlong {
    // SAFETY: as in `count_in`.
    let series = unsafe { value::<SeriesStore>(handle) };
    call(&mut env, |env| {
        let dialect = dialect(&text(env, &database)?)?;
        let reading = series.read_in(&text(env, &name)?, dialect);
        Ok(reading.map_or(0, |reading| into_handle(Mutex::new(Work::Read(reading)))))
    })
}

/// Goes on with the rows of the last statement, whose columns follow on one another, at first with
/// null. Returns a statement and its values, or the text, the value and the periods of the number
/// after a null.
extern "system" fn step<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    handle: jlong,
    rows: JStrings<'local>,
    columns: jint,
) -> JStrings<'local> {
    // SAFETY: as in `count_in`.
    let work = unsafe { value::<Mutex<Work>>(handle) };
    call(&mut env, |env| {
        let answer = if rows.is_null() { None } else { Some(read(env, &rows, columns)?) };
        let mut work = work.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *work {
            Work::Count(counting) => match counting.step(answer.map(Ok)).map_err(other)? {
                Step::Run(statement) => asked(env, &statement),
                Step::Done(number) => {
                    let value = number.value().to_string();
                    let periods = [number.period(), number.shown()].map(PeriodText::of);
                    let [period, shown] = periods.each_ref().map(PeriodText::as_str);
                    let number = [number.as_str(), &value, period, shown].map(Some);
                    Ok(strings(env, &[&[None], &number[..]].concat())?)
                }
            },
            Work::Read(reading) => match reading.step(answer.map(Ok)).map_err(other)? {
                Step::Run(statement) => asked(env, &statement),
                Step::Done(()) => Ok(strings(env, &[None])?),
            },
        }
    })
}

extern "system" fn is_transient<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    database: JString<'local>,
    code: JString<'local>,
) -> jboolean {
    call(&mut env, |env| Ok(dialect(&text(env, &database)?)?.is_transient(&text(env, &code)?)))
}

/// What failed is no driver: Java keeps the errors of those.
fn other(error: AskError) -> Error {
    match error {
        AskError::Driver => Error::internal("a driver's error came from nowhere"),
        AskError::Other(error) => error,
    }
}

fn read(env: &mut Env<'_>, rows: &JStrings<'_>, columns: jint) -> Result<Rows, Failure> {
    let mut values = Vec::new();
    for index in 0..rows.len(env)? {
        let element = rows.get_element(env, index)?;
        values.push(optional(env, &element)?);
        env.delete_local_ref(element);
    }
    let columns = usize::try_from(columns).unwrap_or(0).max(1);
    Ok(values.chunks(columns).map(<[Option<String>]>::to_vec).collect())
}

/// A statement, and its values: whole numbers begin with `i`, and texts with `t`.
fn asked<'local>(
    env: &mut Env<'local>,
    statement: &Statement,
) -> Result<JStrings<'local>, Failure> {
    let values = statement.values.iter().map(|value| match value {
        SqlValue::Integer(number) => format!("i{number}"),
        SqlValue::Text(text) => format!("t{text}"),
    });
    let values: Vec<String> = values.collect();
    let sql = statement.sql_with(Places::Question);
    let all = [Some(sql.as_str())].into_iter();
    let all: Vec<Option<&str>> = all.chain(values.iter().map(|value| Some(&**value))).collect();
    Ok(strings(env, &all)?)
}

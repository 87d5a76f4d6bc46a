//! What is done by statements that a driver of JavaScript's runs.

use std::sync::{Arc, Mutex, PoisonError};

use napi::bindgen_prelude::{BigInt, Either, External};
use napi_derive::napi;
use uidring_bindings::{
    AskError, Counting, Error, Places, Reading, Rows, SeriesStore, SqlValue, Step, dialect,
};

use crate::door::{Answer, Door};
use crate::errors::{Result, call};
use crate::handle::Handle;
use crate::series::{Series, issued};

/// A number that is being counted, or a series that is being read.
pub(crate) struct Work {
    task: Mutex<Task>,
    places: Places,
}

enum Task {
    Count(Counting),
    Read(Reading),
}

impl Work {
    fn new(task: Task, database: &str) -> Work {
        let places = if database == "postgres" { Places::Own } else { Places::Question };
        Work { task: Mutex::new(task), places }
    }
}

/// What is next.
#[napi(object)]
pub struct Asked {
    /// The statement to run. None if the work is done.
    pub sql: Option<String>,
    /// Those of its places.
    pub values: Vec<Either<String, BigInt>>,
    /// The number, as `issued` has it. None of a series that was read.
    pub number: Option<Vec<String>>,
}

fn count(
    series: &SeriesStore,
    (name, scope, date): (&str, Option<&str>, Option<&str>),
    database: &str,
    has_begun: bool,
) -> std::result::Result<Work, Error> {
    let counting = series.count_in(name, scope, date, dialect(database)?, has_begun)?;
    Ok(Work::new(Task::Count(counting), database))
}

/// Begins to count a number. It does not wait where no store is open.
#[napi]
pub(crate) fn count_now(
    series: &Series,
    name: String,
    scope: Option<String>,
    date: Option<String>,
    database: String,
    has_begun: bool,
) -> Result<External<Handle<Work>>> {
    call(|| {
        let of = (&*name, scope.as_deref(), date.as_deref());
        Ok(External::new(Handle::new(count(series, of, &database, has_begun)?)))
    })
}

/// The same of a series whose store may have to be asked first.
#[napi]
#[allow(clippy::too_many_arguments)] // those of JavaScript
pub(crate) fn count_in(
    door: &External<Arc<Door>>,
    to: u32,
    series: &Series,
    name: String,
    scope: Option<String>,
    date: Option<String>,
    database: String,
    has_begun: bool,
) {
    let series = SeriesStore::clone(series);
    door.ask(to, move || {
        let of = (&*name, scope.as_deref(), date.as_deref());
        Ok(Answer::held(count(&series, of, &database, has_begun)?))
    });
}

/// Whether the store is asked before a number of this series is counted.
#[napi]
pub(crate) fn asks_store(series: &Series, name: String) -> bool {
    series.asks_store(&name)
}

/// Begins to read a series. None where a store is open.
#[napi]
pub(crate) fn read_now(
    series: &Series,
    name: String,
    database: String,
) -> Result<Option<External<Handle<Work>>>> {
    call(|| {
        let reading = series.read_in(&name, dialect(&database)?);
        let work = |reading| Work::new(Task::Read(reading), &database);
        Ok(reading.map(|reading| External::new(Handle::new(work(reading)))))
    })
}

/// Goes on with the rows of the last statement, at first with none, or with what the driver said
/// when it failed. None if the driver's error is the program's.
#[napi]
pub(crate) fn step(
    work: &External<Handle<Work>>,
    rows: Option<Vec<Vec<Option<String>>>>,
    failure: Option<String>,
) -> Result<Option<Asked>> {
    let answer: Option<std::result::Result<Rows, String>> = failure.map(Err).or(rows.map(Ok));
    let mut task = work.task.lock().unwrap_or_else(PoisonError::into_inner);
    let stepped = match &mut *task {
        Task::Count(counting) => counting.step(answer).map(|step| match step {
            Step::Run(statement) => Step::Run(statement),
            Step::Done(number) => Step::Done(Some(issued(&number).to_vec())),
        }),
        Task::Read(reading) => reading.step(answer).map(|step| match step {
            Step::Run(statement) => Step::Run(statement),
            Step::Done(()) => Step::Done(None),
        }),
    };
    call(|| match stepped {
        Ok(Step::Run(statement)) => {
            let sql = Some(statement.sql_with(work.places));
            let value = |value| match value {
                SqlValue::Integer(number) => Either::B(BigInt::from(number)),
                SqlValue::Text(text) => Either::A(text),
            };
            let values = statement.values.into_iter().map(value).collect();
            Ok(Some(Asked { sql, values, number: None }))
        }
        Ok(Step::Done(number)) => Ok(Some(Asked { sql: None, values: Vec::new(), number })),
        Err(AskError::Driver) => Ok(None),
        Err(AskError::Other(error)) => Err(error),
    })
}

/// Whether another transaction may not meet an error of this code of a driver's.
#[napi]
pub(crate) fn is_transient(database: String, code: String) -> Result<bool> {
    call(|| Ok(dialect(&database)?.is_transient(&code)))
}

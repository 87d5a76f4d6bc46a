//! Numbers that people see.

use std::sync::Arc;

use napi::bindgen_prelude::{BigInt, External};
use napi_derive::napi;
use uidring_bindings::{Close as _, Period, PeriodText, SeriesNumber, SeriesStore};

use crate::door::{Answer, Door};
use crate::errors::{Result, call};
use crate::handle::Handle;
use crate::values::{id_of, paired};

pub(crate) type Series = External<Handle<SeriesStore>>;

/// A number as JavaScript gets it: its text, the number itself, its period, and the one shown.
pub(crate) fn issued(number: &SeriesNumber) -> [String; 4] {
    let (of, shown) = (written(number.period()), written(number.shown()));
    [number.as_str().to_owned(), number.value().to_string(), of, shown]
}

fn written(period: Period) -> String {
    PeriodText::of(period).as_str().to_owned()
}

/// Opens the series of a store.
#[napi]
pub(crate) fn open_series(
    door: &External<Arc<Door>>,
    to: u32,
    address: String,
    options: Vec<String>,
) {
    door.open(to, address, options, Answer::held::<SeriesStore>);
}

/// Series that are counted in the program's transactions alone.
#[napi]
pub(crate) fn series_in_transactions() -> Series {
    External::new(Handle::new(SeriesStore::in_transactions()))
}

/// Creates a series.
#[napi]
pub(crate) fn create_series(
    door: &External<Arc<Door>>,
    to: u32,
    series: &Series,
    name: String,
    pattern: String,
    options: Vec<String>,
) {
    let series = SeriesStore::clone(series);
    door.ask(to, move || {
        series.create(&name, &pattern, &paired(&options)).map(|()| Answer::Nothing)
    });
}

/// The next number of today if it is in memory.
#[napi]
pub(crate) fn try_next(
    series: &Series,
    name: String,
    scope: Option<String>,
) -> Result<Option<Vec<String>>> {
    call(|| Ok(series.try_next(&name, scope.as_deref()).map(|number| issued(&number).into())))
}

/// Takes the next numbers, each as [`issued`] has it.
#[napi]
pub(crate) fn next_numbers(
    door: &External<Arc<Door>>,
    to: u32,
    series: &Series,
    name: String,
    scope: Option<String>,
    date: Option<String>,
    count: u32,
) {
    let series = SeriesStore::clone(series);
    door.ask(to, move || {
        let (scope, date) = (scope.as_deref(), date.as_deref());
        let numbers = match count {
            1 => vec![series.next(&name, scope, date)?],
            count => series.next_many(&name, scope, date, u64::from(count))?,
        };
        Ok(Answer::Texts(numbers.iter().flat_map(issued).collect()))
    });
}

/// Reads a number: as [`issued`] has it, with the scope where the text shows it.
#[napi]
pub(crate) fn parse_number(
    door: &External<Arc<Door>>,
    to: u32,
    series: &Series,
    name: String,
    text: String,
) {
    let series = SeriesStore::clone(series);
    door.ask(to, move || {
        let read = series.parse(&name, &text)?;
        let (of, shown) = (written(read.period), written(read.shown));
        let mut all = vec![text, read.value.to_string(), of, shown];
        all.extend(read.scope);
        Ok(Answer::Texts(all))
    });
}

/// Writes a number.
#[napi]
pub(crate) fn format_number(
    door: &External<Arc<Door>>,
    to: u32,
    series: &Series,
    name: String,
    number: BigInt,
    scope: Option<String>,
    date: Option<String>,
) {
    let series = SeriesStore::clone(series);
    door.ask(to, move || {
        let number = id_of("a number", &number)?;
        Ok(Answer::Text(series.format(&name, number, scope.as_deref(), date.as_deref())?))
    });
}

/// Gives a series a wider number.
#[napi]
pub(crate) fn widen_series(
    door: &External<Arc<Door>>,
    to: u32,
    series: &Series,
    name: String,
    pattern: String,
) {
    let series = SeriesStore::clone(series);
    door.ask(to, move || series.widen(&name, &pattern).map(|()| Answer::Nothing));
}

/// The state of a series, as JSON.
#[napi]
pub(crate) fn series_status(
    door: &External<Arc<Door>>,
    to: u32,
    series: &Series,
    name: String,
    scope: Option<String>,
) {
    let series = SeriesStore::clone(series);
    door.ask(to, move || Ok(Answer::Text(series.status(&name, scope.as_deref())?)));
}

/// Ends all takes.
#[napi]
pub(crate) fn close_series(door: &External<Arc<Door>>, to: u32, series: &Series) {
    door.close(to, SeriesStore::clone(series));
}

/// The same at the end of the program, which waits.
#[napi]
pub(crate) fn close_series_now(series: &Series) -> Result<()> {
    call(|| series.close())
}

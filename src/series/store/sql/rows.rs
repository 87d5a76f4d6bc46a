//! The rows of series, of their versions and of counters, as a database answers them.

use crate::backend::sql::{Cause, Error, Row, Transaction, Value};
use crate::clock::from_unix_ms;
use crate::series::form::date::Date;
use crate::series::form::definition::SeriesDefinition;
use crate::series::form::first_day::FirstDay;
use crate::series::form::period::Unit;
use crate::series::store::counter::Counter;
use crate::series::store::{CounterRecord, SeriesRecord, SeriesVersion};

/// The columns of `uidring_series` that a process reads.
pub const SERIES: &str =
    "name, time_zone, fiscal_year_from, gapless, closed_before, revision, created";
/// Those of `uidring_series_version`.
pub const VERSIONS: &str = "series, version, pattern, step, first_number, begins, restart";
/// The one counter with these three values.
pub const ITS_KEY: &str = "series = ? AND scope = ? AND period = ?";

pub fn key(counter: &Counter<'_>) -> [Value; 3] {
    let period = counter.period.to_string();
    [counter.series.into(), counter.scope.into(), period.as_str().into()]
}

/// The row of a counter.
#[derive(Clone, Copy)]
pub struct CounterRow {
    pub last: u64,
    pub version: u32,
    pub created: i64,
}

/// The row of a counter, which is locked until the end of the transaction, if it is there.
pub fn find_counter(
    transaction: &mut Transaction<'_>,
    counter: &Counter<'_>,
) -> Result<Option<CounterRow>, Error> {
    let sql = format!(
        "SELECT last_number, version, created FROM uidring_series_counter \
         WHERE {ITS_KEY} {{for update}}"
    );
    let found = |row: Row| {
        let (last, version) = (unsigned(&row, 0, "last_number")?, version(&row, 1)?);
        Ok(CounterRow { last, version, created: int(&row, 2, "created")? })
    };
    transaction.row("uidring_series_counter", &sql, &key(counter))?.map(found).transpose()
}

/// The series in a row with the columns [`SERIES`], and its versions in rows with [`VERSIONS`].
pub fn record<'a>(
    row: &[Value],
    versions: impl Iterator<Item = &'a Row>,
) -> Result<SeriesRecord, Error> {
    let (zone, is_gapless) = (text(row, 1, "time_zone")?, int(row, 3, "gapless")? == 1);
    let fiscal_year_from = match row.get(2) {
        None | Some(Value::Null) => None,
        _ => Some(month_and_day(text(row, 2, "fiscal_year_from")?)?),
    };
    let version = |row: &Row| {
        let pattern = text(row, 2, "pattern")?;
        let unexpected =
            |problem: String| unexpected(&format!("the column pattern holds {problem}"));
        let mut definition = SeriesDefinition::new(pattern)
            .map_err(|error| unexpected(format!("{pattern:?}: {error}")))?
            .time_zone(zone)
            .step(unsigned(row, 3, "step")?)
            .first(unsigned(row, 4, "first_number")?);
        if is_gapless {
            definition = definition.gapless();
        }
        if let Some((month, day)) = fiscal_year_from {
            definition = definition.fiscal_year_from(month, day);
        }
        if let Some(unit) = restart(row, fiscal_year_from)? {
            definition = definition.restart(unit);
        }
        definition.check().map_err(|error| unexpected(format!("{pattern:?}: {error}")))?;
        Ok(SeriesVersion { number: self::version(row, 1)?, begins: date(row, 5)?, definition })
    };
    let versions = versions.map(version).collect::<Result<Vec<_>, Error>>()?;
    if versions.is_empty() {
        return Err(unexpected("a series has no row in uidring_series_version"));
    }
    let name = text(row, 0, "name")?.to_owned();
    let (revision, created) = (int(row, 5, "revision")?, int(row, 6, "created")?);
    Ok(SeriesRecord { name, versions, closed_before: date(row, 4)?, revision, created })
}

/// The series in rows of texts that another driver has read, with the same columns.
#[allow(dead_code, reason = "without a feature's transactions there are no gapless series")]
pub(crate) fn record_of_texts(
    series: &[Option<String>],
    versions: &[Vec<Option<String>>],
) -> Result<SeriesRecord, Cause> {
    let values = |row: &[Option<String>], numbers: &[usize]| -> Row {
        let value = |(index, text): (usize, &Option<String>)| match text {
            None => Value::Null,
            Some(text) if numbers.contains(&index) => {
                text.parse().map_or_else(|_| Value::Text(text.clone()), Value::Int)
            }
            Some(text) => Value::Text(text.clone()),
        };
        row.iter().enumerate().map(value).collect()
    };
    let versions: Vec<Row> = versions.iter().map(|row| values(row, &[1, 3, 4])).collect();
    record(&values(series, &[3, 5, 6]), versions.iter()).map_err(|error| match error {
        Error::IncompatibleTables(Some(cause)) => cause,
        _ => Cause::from("the row of the series cannot be read"),
    })
}

pub fn counter_of(row: &[Value]) -> Result<CounterRecord, Error> {
    let period = text(row, 1, "period")?;
    let time = |index, name| int(row, index, name).map(|ms| from_unix_ms(ms.into()));
    Ok(CounterRecord {
        scope: text(row, 0, "scope")?.to_owned(),
        period: period
            .parse()
            .map_err(|error| unexpected(&format!("the column period holds {error}")))?,
        version: version(row, 2)?,
        last: unsigned(row, 3, "last_number")?,
        created: time(4, "created")?,
        updated: time(5, "modified")?,
    })
}

pub fn text<'a>(row: &'a [Value], index: usize, name: &str) -> Result<&'a str, Error> {
    match row.get(index) {
        Some(Value::Text(text)) => Ok(text),
        other => Err(unexpected(&format!("the column {name} holds {}", shown(other)))),
    }
}

pub fn int(row: &[Value], index: usize, name: &str) -> Result<i64, Error> {
    let number = row.get(index).and_then(Value::int);
    number.ok_or_else(|| unexpected(&format!("the column {name} holds {}", shown(row.get(index)))))
}

pub fn unsigned(row: &[Value], index: usize, name: &str) -> Result<u64, Error> {
    let number = int(row, index, name)?;
    u64::try_from(number).map_err(|_| unexpected(&format!("the column {name} holds {number}")))
}

pub fn version(row: &[Value], index: usize) -> Result<u32, Error> {
    let number = int(row, index, "version")?;
    u32::try_from(number).map_err(|_| unexpected(&format!("the column version holds {number}")))
}

pub fn date(row: &[Value], index: usize) -> Result<Date, Error> {
    let text = text(row, index, "of a day")?;
    text.parse().map_err(|error| unexpected(&format!("a column of a day holds: {error}")))
}

/// With what the numbers of a version begin anew, where that does not follow from its pattern.
fn restart(row: &Row, fiscal_year_from: Option<(u8, u8)>) -> Result<Option<Unit>, Error> {
    if let None | Some(Value::Null) = row.get(6) {
        return Ok(None);
    }
    let unit = Unit::from_name(text(row, 6, "restart")?, fiscal_year_from);
    unit.map(Some).map_err(|error| unexpected(&format!("the column restart holds: {error}")))
}

/// The month and the day in a text such as `04-06`.
fn month_and_day(text: &str) -> Result<(u8, u8), Error> {
    let problem = || unexpected(&format!("the column fiscal_year_from holds {text:?}"));
    FirstDay::read(text).ok_or_else(problem)
}

pub fn shown(value: Option<&Value>) -> String {
    match value {
        Some(Value::Text(text)) => format!("the text {text:?}"),
        Some(Value::Int(number)) => format!("the number {number}"),
        Some(Value::Null) | None => "nothing".to_owned(),
    }
}

pub fn unexpected(problem: &str) -> Error {
    Error::IncompatibleTables(Some(Cause::from(problem.to_owned())))
}

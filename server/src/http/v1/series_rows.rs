//! Series as they are shown.

use std::time::SystemTime;

use jiff::Timestamp;
use serde::Serialize;
use uidring::series::{CounterRecord, Date, SeriesRecord, SeriesVersion};
use uidring_args::first_day_text;
use utoipa::ToSchema;

/// What a series is.
#[derive(Serialize, ToSchema)]
pub(crate) struct SeriesRow {
    name: String,
    time_zone: String,
    gapless: bool,
    /// The month and the day that fiscal years begin with, such as `04-06`.
    fiscal_year_from: Option<String>,
    /// Periods that end before this day are closed.
    closed_before: Option<String>,
    /// The oldest first.
    versions: Vec<VersionRow>,
    /// Only where they are asked for. By period, then by scope.
    #[serde(skip_serializing_if = "Option::is_none")]
    counters: Option<Vec<CounterRow>>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct SeriesRows {
    pub(crate) series: Vec<SeriesRow>,
}

/// How the numbers of a series are written, from a day on.
#[derive(Serialize, ToSchema)]
struct VersionRow {
    /// Counted from 1.
    version: u32,
    pattern: String,
    /// With what the number begins anew: `day`, `week`, `month`, `quarter`, `year`, `fiscal-year`
    /// or `never`.
    restart: String,
    /// The first day; null for the first version.
    begins: Option<String>,
    /// How many numbers a process takes at once.
    step: String,
    /// The first number of each period.
    first: String,
    /// The largest number that fits the pattern.
    largest: String,
}

/// What a series has counted in one period of one scope.
#[derive(Serialize, ToSchema)]
struct CounterRow {
    /// Empty if none was named.
    scope: String,
    period: String,
    /// The version that writes its numbers.
    version: u32,
    /// The last number given. Processes may still have some of them in memory.
    last: String,
    created: Option<String>,
    updated: Option<String>,
}

impl SeriesRow {
    pub(crate) fn of(record: &SeriesRecord, counters: Option<Vec<CounterRecord>>) -> SeriesRow {
        let newest = &record.newest().definition;
        SeriesRow {
            name: record.name.clone(),
            time_zone: newest.time_zone_name().to_owned(),
            gapless: newest.is_gapless(),
            fiscal_year_from: newest.fiscal_first_day().map(first_day_text),
            closed_before: day(record.closed_before),
            versions: record.versions.iter().map(VersionRow::of).collect(),
            counters: counters.map(|all| all.into_iter().map(CounterRow::of).collect()),
        }
    }
}

impl VersionRow {
    fn of(version: &SeriesVersion) -> VersionRow {
        let definition = &version.definition;
        VersionRow {
            version: version.number,
            pattern: definition.pattern().to_string(),
            restart: definition.pattern().unit().name().to_owned(),
            begins: day(version.begins),
            step: definition.step_size().to_string(),
            first: definition.first_number().to_string(),
            largest: definition.pattern().largest().to_string(),
        }
    }
}

impl CounterRow {
    fn of(counter: CounterRecord) -> CounterRow {
        CounterRow {
            scope: counter.scope,
            period: counter.period.to_string(),
            version: counter.version,
            last: counter.last.to_string(),
            created: counter.created.and_then(time),
            updated: counter.updated.and_then(time),
        }
    }
}

/// A day, unless it is the first of all, which stands for none.
fn day(day: Date) -> Option<String> {
    (Date::new(0, 1, 1) != Some(day)).then(|| day.to_string())
}

fn time(time: SystemTime) -> Option<String> {
    Timestamp::try_from(time).ok().map(|time| time.to_string())
}

//! `uidring series list`: the series, and the counters of one of them.

use std::time::SystemTime;

use anstyle::Style;
use indicatif::HumanCount;
use serde::Serialize;
use uidring::clock::{Clock, SystemClock};
use uidring::series::{CounterRecord, SeriesDefinition, SeriesRecord, SeriesVersion};
use uidring_args::{first_day_text, quantity};

use super::{about, begins, closed_before, describe, existing, percent};
use crate::args::db::{self, DbArg};
use crate::args::wait_notice::with_wait_notice;
use crate::text::table::{Column, Table};
use crate::text::words::{counted, distance};
use crate::text::{self, BOLD, DIM, Failure, SEQUENCE, TIME, Times, command, paint, paragraph};

/// List the series, the newest first, or one with its versions and its counters
///
/// A counter is one period of one scope. Those of the newest periods come first. The last number of
/// a counter may still be in the memory of a process. Nothing is written.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  uidring series list
  uidring series list orders
  uidring series list --json | jq -r '.series[].series'
  uidring series list orders --json | jq '.counters | length'")]
pub(crate) struct Args {
    /// The series of which to list the versions and the counters [default: all series]
    #[arg(value_name = "NAME")]
    series: Option<String>,

    /// Show only the newest N
    #[arg(long, value_name = "N", default_value = "1000", value_parser = quantity::count)]
    last: u64,

    /// Print one JSON object
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    db: DbArg,
}

#[derive(Serialize)]
struct Report<'a> {
    /// How many series there are, shown or not.
    rows: u64,
    series: Vec<Row<'a>>,
}

/// A series, as its newest version is.
#[derive(Serialize)]
struct Row<'a> {
    series: &'a str,
    time_zone: &'a str,
    gapless: bool,
    /// The month and the day that fiscal years begin with.
    fiscal_year_from: Option<String>,
    closed_before: Option<String>,
    #[serde(flatten)]
    newest: Version,
}

#[derive(Serialize)]
#[allow(clippy::struct_field_names)] // the names in JSON
struct Version {
    version: u32,
    /// The first day; `None` for the first version.
    begins: Option<String>,
    pattern: String,
    /// With what its numbers begin anew.
    restart: &'static str,
    step: u64,
    /// A string, because JavaScript's numbers end at 2^53.
    first: String,
    largest: String,
}

/// One series.
#[derive(Serialize)]
struct SeriesReport<'a> {
    #[serde(flatten)]
    series: Row<'a>,
    versions: Vec<Version>,
    /// How many counters there are, shown or not.
    rows: u64,
    counters: Vec<Counter<'a>>,
}

#[derive(Serialize)]
struct Counter<'a> {
    period: String,
    scope: &'a str,
    version: u32,
    last: String,
    largest: String,
    /// How much of what fits has been given.
    percent: u64,
    created: Option<String>,
    updated: Option<String>,
}

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let db = self.db.db()?;
        let Some(name) = &self.series else {
            let read =
                || Ok::<_, Failure>(db::existing_series(&db)?.newest(quantity::size(self.last))?);
            let (all, rows) = with_wait_notice(&db, read)?;
            if self.json {
                let series = all.iter().map(row).collect();
                return text::print(&text::json(&Report { rows, series })?);
            }
            if all.is_empty() {
                let create = about(&db, "create", "NAME", &["PATTERN"]);
                let create = command("no series yet; to create one:", &create, text::columns());
                return text::print(&paint(DIM, create));
            }
            return text::print(&table(&all, rows));
        };
        let (record, (mut counters, rows)) = with_wait_notice(&db, || {
            let series = existing(&db, name)?;
            let counters = series.newest_counters(quantity::size(self.last))?;
            Ok::<_, Failure>((series.record()?, counters))
        })?;
        counters.sort_by(|one, other| {
            other.period.cmp(&one.period).then_with(|| one.scope.cmp(&other.scope))
        });
        text::print(&if self.json {
            text::json(&SeriesReport {
                series: row(&record),
                versions: record.versions.iter().map(version).collect(),
                rows,
                counters: counters.iter().map(|it| counter(&record, it)).collect(),
            })?
        } else {
            page(&record, &counters, rows, SystemClock.now())
        })
    }
}

fn row(record: &SeriesRecord) -> Row<'_> {
    let newest = record.newest();
    Row {
        series: &record.name,
        time_zone: newest.definition.time_zone_name(),
        gapless: newest.definition.is_gapless(),
        fiscal_year_from: newest.definition.fiscal_first_day().map(first_day_text),
        closed_before: closed_before(record),
        newest: version(newest),
    }
}

fn version(version: &SeriesVersion) -> Version {
    let definition = &version.definition;
    Version {
        version: version.number,
        begins: begins(version.begins),
        pattern: definition.pattern().to_string(),
        restart: definition.pattern().unit().name(),
        step: definition.step_size(),
        first: definition.first_number().to_string(),
        largest: definition.pattern().largest().to_string(),
    }
}

fn counter<'a>(record: &SeriesRecord, counter: &'a CounterRecord) -> Counter<'a> {
    let largest = writes(record, counter).pattern().largest();
    let time = |time: Option<SystemTime>| time.and_then(|time| Times::registry().rfc3339(time));
    Counter {
        period: counter.period.to_string(),
        scope: &counter.scope,
        version: counter.version,
        last: counter.last.to_string(),
        largest: largest.to_string(),
        percent: percent(counter.last, largest),
        created: time(counter.created),
        updated: time(counter.updated),
    }
}

/// The definition that writes the numbers of a counter.
fn writes<'a>(record: &'a SeriesRecord, counter: &CounterRecord) -> &'a SeriesDefinition {
    let version = record.versions.iter().find(|version| version.number == counter.version);
    &version.unwrap_or_else(|| record.newest()).definition
}

/// Those of `rows` series that are shown.
fn table(all: &[SeriesRecord], rows: u64) -> String {
    let mut table = Table::new([
        Column::text("SERIES", BOLD),
        Column::text("PATTERN", Style::new()),
        Column::text("ZONE", Style::new()),
        Column::text("KIND", Style::new()),
        Column::text("CLOSED BEFORE", TIME),
        Column::number("VERSION", Style::new()),
        Column::text("FROM", TIME),
    ]);
    for record in all {
        let SeriesVersion { number, begins: from, definition, .. } = record.newest();
        table.row([
            record.name.clone(),
            definition.pattern().to_string(),
            definition.time_zone_name().to_owned(),
            if definition.is_gapless() { "gapless" } else { "fast" }.to_owned(),
            closed_before(record).unwrap_or_default(),
            number.to_string(),
            begins(*from).unwrap_or_default(),
        ]);
    }
    // The word is the same for one and for several.
    let count = HumanCount(rows);
    let hidden = text::hidden(rows, all.len() as u64);
    let footer = format!("{count} series; `uidring series list NAME` tells the counters of one");
    format!("{table}{hidden}{}", text::footnote(&footer))
}

/// The page of one series, which has so many counters.
fn page(record: &SeriesRecord, counters: &[CounterRecord], rows: u64, now: SystemTime) -> String {
    let mut page = paragraph(&format!("the series {}", record.name));
    for version in &record.versions {
        let from =
            begins(version.begins).map_or_else(String::new, |day| format!("from {day} on, "));
        let widened = record
            .versions
            .iter()
            .rev()
            .find(|before| before.begins == version.begins && before.number < version.number);
        let from = match widened {
            Some(before) => format!("{from}in place of version {}, ", before.number),
            None => from,
        };
        page += &text::row::<9>(
            &format!("version {}", version.number),
            DIM,
            format_args!("{from}{}", describe(&version.definition)),
        );
    }
    if let Some(before) = closed_before(record) {
        page += &text::row::<9>("closed", DIM, format_args!("before {before}"));
    }
    if rows == 0 {
        return page + &text::footnote("it has given no number");
    }
    let mut table = Table::new([
        Column::text("PERIOD", TIME),
        Column::text("SCOPE", BOLD),
        Column::number("LAST", SEQUENCE),
        Column::number("USED", Style::new()),
        Column::text("UPDATED", TIME),
    ]);
    for counter in counters {
        let pattern = writes(record, counter).pattern();
        let used = || format!("{} %", percent(counter.last, pattern.largest()));
        table.row([
            counter.period.to_string(),
            counter.scope.clone(),
            HumanCount(counter.last).to_string(),
            pattern.width().map(|_| used()).unwrap_or_default(),
            counter.updated.map(|updated| distance(updated.min(now), now)).unwrap_or_default(),
        ]);
    }
    let hidden = text::hidden(rows, counters.len() as u64);
    let footer = counted(rows, "counter");
    format!("{page}\n{table}{hidden}{}", text::footnote(&footer))
}

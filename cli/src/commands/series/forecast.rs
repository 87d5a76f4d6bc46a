//! `uidring series forecast`: whether the numbers of a period last.

use std::time::{Duration, SystemTime};

use anstyle::Style;
use indicatif::HumanCount;
use serde::Serialize;
use uidring::clock::{Clock, SystemClock};
use uidring::series::Forecast;

use super::existing;
use crate::args::db::DbArg;
use crate::args::wait_notice::with_wait_notice;
use crate::text::table::{Column, Table};
use crate::text::words::{distance, span};
use crate::text::{
    self, BOLD, Failure, RED, SEQUENCE, TIME, Times, YELLOW, footnote, paint, paragraph,
};

/// Say whether the numbers of the present period last until its end
///
/// Each scope goes on at its mean pace since its first number, once that is 15 minutes ago. If the
/// period has given no number yet, the newest one before it is told as it ended. From 80 % of the
/// largest number on, now or at the end, it is time for a pattern with a wider number, which
/// `uidring series change` sets. Nothing is written.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  uidring series forecast orders
  uidring series forecast orders --json | jq '.counters[] | select(.tight)'
  uidring series forecast orders --db postgres://shop@db.example.com/shop")]
pub(crate) struct Args {
    /// Its name
    #[arg(value_name = "NAME")]
    series: String,

    /// Print one JSON object
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    db: DbArg,
}

#[derive(Serialize)]
struct Report<'a> {
    series: &'a str,
    counters: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    period: String,
    scope: &'a str,
    /// A string, because JavaScript's numbers end at 2^53.
    last: String,
    largest: String,
    percent: u64,
    given: String,
    since: Option<String>,
    expected: Option<String>,
    full_at: Option<String>,
    tight: bool,
}

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let db = self.db.db()?;
        let all =
            with_wait_notice(&db, || Ok::<_, Failure>(existing(&db, &self.series)?.forecast()?))?;
        text::print(&if self.json {
            text::json(&Report { series: &self.series, counters: all.iter().map(row).collect() })?
        } else {
            page(&self.series, &all, SystemClock.now())
        })
    }
}

fn row(forecast: &Forecast) -> Row<'_> {
    let time = |time: Option<SystemTime>| time.and_then(|time| Times::registry().rfc3339(time));
    Row {
        period: forecast.period.to_string(),
        scope: &forecast.scope,
        last: forecast.last.to_string(),
        largest: forecast.largest.to_string(),
        percent: forecast.percent(),
        given: forecast.given.to_string(),
        since: time(forecast.since),
        expected: forecast.expected.map(|expected| expected.to_string()),
        full_at: time(forecast.full_at),
        tight: forecast.is_tight(),
    }
}

fn page(series: &str, all: &[Forecast], now: SystemTime) -> String {
    if all.is_empty() {
        return footnote(&format!("the series {series} has given no number yet"));
    }
    let mut table = Table::new([
        Column::text("PERIOD", TIME),
        Column::text("SCOPE", BOLD),
        Column::number("LAST", SEQUENCE),
        Column::number("LARGEST", Style::new()),
        Column::number("USED", Style::new()),
        Column::text("GIVEN", Style::new()),
        Column::number("AT THE END", Style::new()),
        Column::text("FULL", RED),
    ]);
    for forecast in all {
        let count = |number: u64| HumanCount(number).to_string();
        // Without a width there is no end that anybody would see.
        let has_width = forecast.largest < i64::MAX.unsigned_abs();
        let shown = |text: String| if has_width { text } else { String::new() };
        table.row([
            forecast.period.to_string(),
            forecast.scope.clone(),
            count(forecast.last),
            shown(count(forecast.largest)),
            shown(format!("{} %", forecast.percent())),
            count_and_time(forecast, now),
            forecast.expected.map(count).unwrap_or_default(),
            forecast.full_at.map(|at| distance(at, now)).unwrap_or_default(),
        ]);
    }
    let tight = all.iter().filter(|forecast| forecast.is_tight()).count();
    let last = match (tight, all.len()) {
        (0, _) => footnote("below 80 % of what fits"),
        (1, 1) => warning(series, "it has"),
        (tight, all) => warning(series, &format!("{tight} of {all} counters have")),
    };
    format!("{table}{last}")
}

fn warning(series: &str, who: &str) -> String {
    let text = format!(
        "{who} 80 % of what fits, now or at the end of the period: `uidring series change \
         {series} PATTERN --from now` gives it a pattern with a wider number at once"
    );
    paint(YELLOW, paragraph(&text))
}

/// "1,234 in 5 h 40 min".
fn count_and_time(forecast: &Forecast, now: SystemTime) -> String {
    let since = forecast.since.and_then(|since| now.duration_since(since).ok());
    let given = HumanCount(forecast.given);
    match since {
        Some(since) if since > Duration::ZERO => format!("{given} in {}", span(since)),
        _ => given.to_string(),
    }
}

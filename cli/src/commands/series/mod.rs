//! `uidring series` and its subcommands: numbers that people see.

mod close;
mod define;
mod forecast;
mod list;
mod next;
mod parse;

use clap::Subcommand;
use indicatif::HumanCount;
use serde::Serialize;
use uidring::series::{Date, SeriesDefinition, SeriesError, SeriesGenerator, SeriesRecord, Unit};
use uidring_args::{Db, first_day_text, with_causes};

use crate::args::db;
use crate::text::words::counted;
use crate::text::{Failure, failure_with_command};

/// Take and read numbers that people see, such as SO20261124-000042
///
/// A series has a pattern, by which its numbers are written, and counts anew with each day, week,
/// month or year that the pattern shows, for each scope, such as a shop. Its definition is in the
/// store, so that all programs write alike: a SQLite file, or a server of PostgreSQL or MySQL.
#[derive(Debug, clap::Args)]
#[command(
    arg_required_else_help = true,
    disable_help_subcommand = true,
    after_help = "\
Examples:
  uidring series create orders 'SO{yyyy}{MM}{dd}-{n:6}'
  uidring series next orders -n 5
  uidring series parse orders SO20261124-000042
  uidring series list
  uidring series forecast orders
  uidring series <COMMAND> --help   more of each"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

/// A number, in JSON.
#[derive(Serialize)]
struct Record<'a> {
    number: &'a str,
    /// A string, because JavaScript's numbers end at 2^53.
    value: String,
    /// In which it was counted.
    period: String,
    /// The part of it that the text shows.
    shown: String,
    scope: Option<&'a str>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Create(define::Create),
    List(list::Args),
    Next(next::Args),
    Parse(parse::Args),
    Change(define::Change),
    Close(close::Close),
    Prune(close::Prune),
    Forecast(forecast::Args),
}

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        match self.command {
            Command::Create(args) => args.run(),
            Command::List(args) => args.run(),
            Command::Next(args) => args.run(),
            Command::Parse(args) => args.run(),
            Command::Change(args) => args.run(),
            Command::Close(args) => args.run(),
            Command::Prune(args) => args.run(),
            Command::Forecast(args) => args.run(),
        }
    }
}

/// A command about a series, to be copied into a shell: its verb, the series, and the rest.
fn about(db: &Db, verb: &str, series: &str, rest: &[&str]) -> Vec<String> {
    let mut words: Vec<String> = ["uidring", "series", verb].map(str::to_owned).to_vec();
    words.extend(db::option(db));
    if series.starts_with('-') {
        words.push("--".to_owned());
    }
    words.push(series.to_owned());
    words.extend(rest.iter().map(|word| (*word).to_owned()));
    words
}

/// The series `name`.
fn existing(db: &Db, name: &str) -> Result<SeriesGenerator, Failure> {
    db::existing_series(db)?.get(name).map_err(|error| failure(db, &error))
}

/// The failure for `error`, with the command that fixes it.
fn failure(db: &Db, error: &SeriesError) -> Failure {
    let why = with_causes(error);
    match error {
        SeriesError::NoSuchSeries { series, .. } => {
            failure_with_command(&(why + ":"), &about(db, "create", series, &["PATTERN"]))
        }
        SeriesError::Full { series, .. } => match wider(db, series) {
            Some(pattern) => failure_with_command(
                &(why + ":"),
                &about(db, "change", series, &[&pattern, "--from", "now"]),
            ),
            None => Failure::Failed(why),
        },
        _ => Failure::Failed(why),
    }
}

/// The present pattern of a series with a wider number.
fn wider(db: &Db, series: &str) -> Option<String> {
    let pattern = db::existing_series(db).ok()?.get(series).ok()?.pattern();
    let (text, width) = (pattern.to_string(), pattern.width()?);
    // It has at most 18 digits, and otherwise as many as it needs.
    let wider = if width < 18 { format!("{{n:{}}}", width + 1) } else { "{n}".to_owned() };
    let number = format!("{{n:{width}}}");
    text.contains(&number).then(|| text.replacen(&number, &wider, 1))
}

/// "SO{yyyy}{MM}{dd}-{n:6}, anew each day of Asia/Shanghai, up to 999,999; fast, ..".
fn describe(definition: &SeriesDefinition) -> String {
    let pattern = definition.pattern();
    let first = match definition.first_number() {
        1 => String::new(),
        first => format!(" from {}", HumanCount(first)),
    };
    let most = match pattern.width() {
        None => String::new(),
        Some(_) => format!(" up to {}", HumanCount(pattern.largest())),
    };
    let numbers = if first.is_empty() && most.is_empty() { "" } else { ", numbers" };
    let kind = if definition.is_gapless() {
        "gapless, each number counted in the transaction that stores the document".to_owned()
    } else {
        let count = definition.step_size().min(definition.most_at_once());
        format!("fast, a process takes {} at a time", counted(count, "number"))
    };
    format!("{pattern}, {}{numbers}{first}{most}; {kind}", restart_rule(definition))
}

/// With what it begins anew, and where: "anew each day of Asia/Shanghai".
fn restart_rule(definition: &SeriesDefinition) -> String {
    let zone = definition.time_zone_name();
    let unit = match definition.pattern().unit() {
        Unit::Ever => return "never anew".to_owned(),
        Unit::FiscalYear { first_month, first_day } => {
            let first_day = first_day_text((first_month, first_day));
            return format!("anew each fiscal year from {first_day} on, of {zone}");
        }
        Unit::Day => "day",
        Unit::Week => "week",
        Unit::Month => "month",
        Unit::Quarter => "quarter",
        _ => "year",
    };
    format!("anew each {unit} of {zone}")
}

/// The day on which a version begins. The first one has none.
fn begins(begins: Date) -> Option<String> {
    (begins.year() > 0).then(|| begins.to_string())
}

/// The day before which all periods are closed, if any is.
fn closed_before(record: &SeriesRecord) -> Option<String> {
    begins(record.closed_before)
}

/// The part of the `largest` number that `last` is, in percent, rounded down.
fn percent(last: u64, largest: u64) -> u64 {
    let percent = u128::from(last) * 100 / u128::from(largest.max(1));
    u64::try_from(percent).unwrap_or(u64::MAX)
}

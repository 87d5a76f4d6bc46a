//! `uidring tags`: the tags, their next numbers, and how long their segments last.

use std::thread;
use std::time::{Duration, SystemTime};

use anstyle::Style;
use clap::Subcommand;
use indicatif::HumanCount;
use serde::Serialize;
use uidring::clock::{Clock, SystemClock};
use uidring::segment::{SegmentSource, TagRecord};
use uidring_args::{quantity, some_length};

use crate::args::db;
use crate::args::tag_store::{TagStore, TagStoreArgs};
use crate::args::wait_notice::with_wait_notice;
use crate::commands::tags::changes::{Create, Remove, Set};
use crate::text::command;
use crate::text::table::{Column, Table};
use crate::text::words::{counted, distance, measured, span};
use crate::text::{self, BOLD, DIM, Failure, SEQUENCE, TIME, Times, paint};

/// List the tags, the last changed one first, or change them
///
/// A tag counts numbers up, and has a row with its next one. A process takes a segment of numbers
/// from it at a time, a step or more. With --for the rows are read twice: what was taken meanwhile
/// is the pace, and tells how long a step lasts, unless it is of CosId, whose programs each have
/// their own. As numbers are taken in whole segments, measure for longer than they last. Nothing is
/// written.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true,
    after_help = "\
Examples:
  uidring tags
  uidring tags --for 1m --db postgres://orders@db.example.com/orders
  uidring tags --db mysql://leaf@db.example.com/leaf --table leaf
  uidring tags --db redis://db.example.com --table cosid
  uidring tags --json | jq -r '.tags[] | [.tag, .next] | @tsv'
  uidring tags create orders --first 5000 --step 1000
  uidring tags set orders --step 20000
  uidring tags remove orders"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    store: TagStoreArgs,

    /// Read the rows again after this time, and tell the pace: 10s, 1m, 1h
    #[arg(long = "for", value_name = "LENGTH", value_parser = some_length)]
    length: Option<Duration>,

    /// Show only the N that were changed last
    #[arg(long, value_name = "N", default_value = "1000", value_parser = quantity::count)]
    last: u64,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    Create(Create),
    Set(Set),
    Remove(Remove),
}

#[derive(Serialize)]
struct Report<'a> {
    /// For how many seconds the pace was measured.
    over_seconds: Option<f64>,
    /// How many rows there are, shown or not.
    rows: u64,
    tags: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    tag: &'a str,
    /// A string, because JavaScript's numbers end at 2^53.
    next: String,
    /// `None` where each program has its own.
    step: Option<u64>,
    max_step: Option<u64>,
    delta: u64,
    description: Option<&'a str>,
    /// When numbers were last taken, or the row was changed otherwise.
    updated: Option<String>,
    pace: Option<Pace>,
    #[serde(skip)]
    record: &'a TagRecord,
}

/// How fast the numbers of a tag are taken.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct Pace {
    /// How many were taken in the time.
    taken: u64,
    /// How long a step lasts at this pace; `None` where none was taken, or there is no step.
    step_lasts_seconds: Option<f64>,
}

impl Pace {
    /// `before` and `after` are the rows of one tag, so much time apart.
    #[allow(clippy::cast_precision_loss)] // it is a measurement
    fn between(before: &TagRecord, after: &TagRecord, step: Option<u64>, apart: Duration) -> Pace {
        let taken = after.next.saturating_sub(before.next) / after.delta.max(1);
        // tinyid's steps are among all numbers, and not only its own.
        let step = step.filter(|_| taken > 0).map(|step| step / after.delta.max(1));
        let lasts = step.map(|step| apart.as_secs_f64() * step as f64 / taken as f64);
        Pace { taken, step_lasts_seconds: lasts }
    }

    /// How long a step lasts. If none was taken in the time measured, the last segment has lasted
    /// since the row was `updated`.
    fn step_lasts(self, updated: Option<SystemTime>, apart: Duration, now: SystemTime) -> String {
        if let Some(seconds) = self.step_lasts_seconds {
            return measured(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
        }
        let since = updated.and_then(|updated| now.duration_since(updated).ok());
        format!("over {}", span(since.unwrap_or_default().max(apart)))
    }
}

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        match self.command {
            Some(Command::Create(args)) => args.run(),
            Some(Command::Set(args)) => args.run(),
            Some(Command::Remove(args)) => args.run(),
            None => text::print(&self.list()?),
        }
    }

    fn list(&self) -> Result<String, Failure> {
        let db = self.store.db()?;
        let read = || {
            with_wait_notice(&db, || {
                let tags = db::existing_tags(&db, self.store.table())?;
                let (tags, rows) = tags.newest_tags(quantity::size(self.last))?;
                Ok::<_, Failure>((tags, rows, SystemClock.now()))
            })
        };
        let (mut tags, mut rows, mut now) = read()?;
        let mut before = Vec::new();
        let mut apart = None;
        if let Some(length) = self.length {
            thread::sleep(length);
            let (first, since) = (tags, now);
            (tags, rows, now) = read()?;
            before = first;
            // A clock that is set meanwhile would make it wrong.
            apart = Some(now.duration_since(since).unwrap_or(length).max(length));
        }
        let has_steps = self.store.table().has_steps();
        let step = |record: &TagRecord| has_steps.then_some(record.step);
        let pace = |after: &TagRecord| {
            let before = before.iter().find(|before| before.tag == after.tag)?;
            Some(Pace::between(before, after, step(after), apart?))
        };
        let report = Report {
            over_seconds: apart.map(|apart| apart.as_secs_f64()),
            rows,
            tags: tags.iter().map(|record| Row::of(record, step(record), pace(record))).collect(),
        };
        if self.json {
            return text::json(&report);
        }
        Ok(page(&report, self.store.store(&db), apart, now))
    }
}

impl<'a> Row<'a> {
    fn of(record: &'a TagRecord, step: Option<u64>, pace: Option<Pace>) -> Row<'a> {
        Row {
            tag: &record.tag,
            next: record.next.to_string(),
            step,
            max_step: record.max_step,
            delta: record.delta,
            description: record.description.as_deref(),
            updated: record.updated.and_then(|updated| Times::registry().rfc3339(updated)),
            pace,
            record,
        }
    }
}

fn table(rows: &[Row<'_>], apart: Option<Duration>, now: SystemTime) -> String {
    let mut table = Table::new([
        Column::text("TAG", BOLD),
        Column::number("NEXT", SEQUENCE),
        Column::number("STEP", Style::new()),
        Column::number("AT MOST", Style::new()),
        Column::number("DELTA", Style::new()),
        Column::text("CHANGED", TIME),
        Column::number("TAKEN", Style::new()),
        Column::text("A STEP LASTS", Style::new()),
        Column::text("DESCRIPTION", DIM),
    ]);
    for row in rows {
        let TagRecord { tag, next, max_step, delta, updated, .. } = row.record;
        let count = |number: u64| HumanCount(number).to_string();
        table.row([
            tag.clone(),
            count(*next),
            row.step.map(count).unwrap_or_default(),
            max_step.map(count).unwrap_or_default(),
            if *delta == 1 { String::new() } else { count(*delta) },
            updated.map(|updated| distance(updated.min(now), now)).unwrap_or_default(),
            row.pace.map(|pace| count(pace.taken)).unwrap_or_default(),
            row.pace
                .zip(apart)
                .filter(|_| row.step.is_some())
                .map(|(pace, apart)| pace.step_lasts(*updated, apart, now))
                .unwrap_or_default(),
            row.description.unwrap_or_default().to_owned(),
        ]);
    }
    table.to_string()
}

fn page(
    report: &Report<'_>,
    store: TagStore<'_>,
    apart: Option<Duration>,
    now: SystemTime,
) -> String {
    if report.tags.is_empty() {
        let create = store.create("NAME", None);
        return paint(DIM, command("no tags yet; to create one:", &create, text::columns()));
    }
    let footer = if let Some(apart) = apart {
        let taken = report.tags.iter().filter_map(|row| row.pace).map(|pace| pace.taken).sum();
        format!("{} taken in {}", counted(taken, "number"), span(apart))
    } else {
        let tags = counted(report.rows, "tag");
        if store.table.has_steps() {
            format!("{tags}; --for 1m tells how long a step lasts at the present pace")
        } else {
            format!("{tags}; --for 1m tells how many numbers are taken meanwhile")
        }
    };
    let hidden = text::hidden(report.rows, report.tags.len() as u64);
    table(&report.tags, apart, now) + &hidden + &text::footnote(&footer)
}

//! `uidring layout`: draws how a UID is split.

use std::time::SystemTime;

use anstyle::Style;
use indicatif::HumanCount;
use serde::Serialize;
use uidring::clock::{Clock, SystemClock};
use uidring::{FieldOrder, Layout};

use crate::args::layout::LayoutOrDb;
use crate::commands::plan::sizing::Split;
use crate::text::output::{
    self, DIM, Failure, RED, SEQUENCE, TIME, Times, WORKER, columns, paint, row,
};
use crate::text::words::{self, counted};

/// Show how a UID is split, and what fits
///
/// Check this before choosing a layout: it cannot be changed later.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  uidring layout
  uidring layout --preset seata
  uidring layout --layout 41,10,12 --tick 1ms
  uidring layout --layout 31,14,18 --epoch 2026-01-01
  uidring layout --db uidring.db")]
pub(crate) struct Args {
    /// Print one JSON object
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    layout: LayoutOrDb,
}

#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    split: Split,
    worker_first: bool,
    epoch: Option<String>,
    expires: Option<String>,
    expired: bool,
    workers: u64,
    uids_per_tick: u64,
    uids_per_second: u64,
}

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let layout = self.layout.layout()?;
        let now = SystemClock.now();
        let page =
            if self.json { output::json(&report(&layout, now))? } else { page(&layout, now) };
        output::print(&page)
    }
}

fn report(layout: &Layout, now: SystemTime) -> Report {
    let times = Times::of(layout);
    let split = Split::of(layout);
    Report {
        split,
        worker_first: layout.order() == FieldOrder::WorkerFirst,
        epoch: times.rfc3339(layout.epoch()),
        expires: times.rfc3339(layout.expires_at()),
        expired: layout.expires_at() <= now,
        workers: layout.max_worker() + 1,
        uids_per_tick: layout.max_sequence() + 1,
        uids_per_second: split.uids_per_second(),
    }
}

fn page(layout: &Layout, now: SystemTime) -> String {
    let report = report(layout, now);
    let times = Times::of(layout);
    let (epoch, expires) = (layout.epoch(), layout.expires_at());
    let lifetime = expires.duration_since(epoch).map(words::span).unwrap_or_default();
    let counts = if report.split.tick_ms == 1000 {
        "seconds".to_owned()
    } else {
        format!("ticks of {} ms", report.split.tick_ms)
    };
    let mut rate = counted(report.uids_per_second, "UID") + " a second";
    if report.split.tick_ms != 1000 {
        rate = format!(
            "{} a tick or {} a second",
            counted(report.uids_per_tick, "UID"),
            HumanCount(report.uids_per_second)
        );
    }
    let end = if report.expired {
        paint(RED, format_args!("{}, ended {}", times.utc(expires), words::distance(expires, now)))
    } else {
        format!("{}, {}", times.utc(expires), words::distance(expires, now))
    };
    picture(layout, columns())
        + "\n"
        + &row::<8>("time", TIME, format!("{counts} for {lifetime} from {}", times.utc(epoch)))
        + &row::<8>(
            "worker",
            WORKER,
            format!("{} ids; each start of a generator uses one", HumanCount(report.workers)),
        )
        + &row::<8>(
            "sequence",
            SEQUENCE,
            format!("{rate} of each worker; more are borrowed from the future"),
        )
        + &row::<8>("ends", DIM, end)
}

/// A field in the picture.
struct Cell {
    name: &'static str,
    style: Style,
    bits: u32,
    /// The index of its highest bit.
    high: u32,
    width: usize,
}

/// Draws the 64 bits as boxes. A box is as wide as its field has bits, within limits, and smaller
/// where they would not fit.
pub(crate) fn picture(layout: &Layout, columns: usize) -> String {
    let mut high = 64;
    let unused = 64 - layout.time_bits() - layout.worker_bits() - layout.sequence_bits();
    let time = ("time", TIME, layout.time_bits(), 10..=32);
    let worker = ("worker", WORKER, layout.worker_bits(), 10..=32);
    let (top, middle) = match layout.order() {
        FieldOrder::TimeFirst => (time, worker),
        FieldOrder::WorkerFirst => (worker, time),
    };
    // As wide as what is written below it.
    let of_unused = if unused == 1 { 3..=3 } else { 8..=10 };
    let mut cells = [
        ("0", Style::new(), unused, of_unused),
        top,
        middle,
        ("sequence", SEQUENCE, layout.sequence_bits(), 10..=32),
    ]
    .map(|(name, style, bits, widths)| {
        high -= bits;
        let width = (bits as usize).clamp(*widths.start(), *widths.end());
        Cell { name, style, bits, high: high + bits - 1, width }
    });
    let walls = cells.len() + 1;
    while walls + cells.iter().map(|cell| cell.width).sum::<usize>() > columns {
        let fields = cells[1..].iter_mut().filter(|cell| cell.width > cell.name.len() + 2);
        let Some(widest) = fields.max_by_key(|cell| cell.width) else { break };
        widest.width -= 1;
    }
    let edge = |left: &str, between: &str, right: &str| {
        let lines: Vec<String> = cells.iter().map(|cell| "─".repeat(cell.width)).collect();
        paint(DIM, format_args!("{left}{}{right}", lines.join(between))) + "\n"
    };
    let wall = paint(DIM, "│");
    let names = cells
        .each_ref()
        .map(|cell| paint(cell.style, format_args!(" {:<1$}", cell.name, cell.width - 1)));
    let numbers: String = cells.iter().map(numbers).collect();
    let widths: String = cells.iter().map(width).collect();
    format!(
        "{}\n{}{wall}{}{wall}\n{}{}\n",
        paint(DIM, numbers.trim_end()),
        edge("┌", "┬", "┐"),
        names.join(&wall),
        edge("└", "┴", "┘"),
        paint(DIM, widths.trim_end())
    )
}

/// The indices of a cell's first and last bit.
fn numbers(cell: &Cell) -> String {
    let (high, low) = (cell.high, cell.high + 1 - cell.bits);
    if cell.bits == 1 {
        format!(" {high:^0$}", cell.width)
    } else {
        format!(" {high}{low:>0$}", cell.width - high.to_string().len())
    }
}

/// How many bits a cell has. The first cell holds the sign and the bits that no field uses.
fn width(cell: &Cell) -> String {
    let text = match (cell.name, cell.bits) {
        ("0", 1) => "sign".to_owned(),
        ("0", bits) => format!("{bits} unused"),
        (_, 1) => "1 bit".to_owned(),
        (_, bits) => format!("{bits} bits"),
    };
    format!(" {text:^0$}", cell.width)
}

//! `uidring layout`: draws how a UID is split.

use std::time::SystemTime;

use indicatif::HumanCount;
use serde::Serialize;
use uidring::clock::{Clock, SystemClock};
use uidring::{FieldOrder, Layout};
use uidring_layouts::plan::FieldWidths;

use crate::args::layout::LayoutOrDb;
use crate::text::words::{self, counted};
use crate::text::{
    self, DIM, Failure, RED, SEQUENCE, TIME, Times, WORKER, columns, paint, picture, row,
};

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
    split: FieldWidths,
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
        let page = if self.json { text::json(&report(&layout, now))? } else { page(&layout, now) };
        text::print(&page)
    }
}

fn report(layout: &Layout, now: SystemTime) -> Report {
    let times = Times::of(layout);
    let split = FieldWidths::of(layout);
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

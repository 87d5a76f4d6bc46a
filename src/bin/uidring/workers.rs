//! `uidring workers`: who was given which worker id.

use std::path::PathBuf;

use serde::Serialize;
use uidring::Layout;
use uidring::registry::{SqliteRegistry, Worker};

use crate::output::{self, BOLD, DIM, Failure, TIME, Times, WORKER, grouped, paint};
use crate::table::{Column, Table};

/// Show who was given which worker id, and how many are left
///
/// Each start of a generator has a row. Nothing is written.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  uidring workers
  uidring workers --last 3 --db /var/lib/orders/uidring.db
  uidring workers --json | jq -r '.workers[] | [.id, .host] | @tsv'")]
pub(crate) struct Args {
    /// The registry, a SQLite file
    #[arg(long, value_name = "FILE", default_value = "uidring.db")]
    db: PathBuf,

    /// Show the newest N only
    #[arg(long, value_name = "N", default_value_t = 20)]
    last: usize,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report<'a> {
    /// The largest id given: ids are given in order, and those of deleted rows are used up as well.
    used: u64,
    capacity: u64,
    /// Rows, shown or not.
    rows: usize,
    workers: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    id: u64,
    host: &'a str,
    port: &'a str,
    #[serde(rename = "type")]
    kind: String,
    launched: Option<String>,
}

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let registry = SqliteRegistry::open_existing(&self.db)?;
        let layout = registry.layout()?.unwrap_or_default();
        let workers = registry.workers()?;
        let page = if self.json {
            output::json(&report(&workers, self.last, &layout))?
        } else {
            table(&report(&workers, self.last, &layout))
        };
        output::print(&page)
    }
}

fn report<'a>(workers: &'a [Worker], last: usize, layout: &Layout) -> Report<'a> {
    let shown = &workers[workers.len().saturating_sub(last)..];
    // These are times of the registry, not of UIDs.
    let times = Times::of(&Layout::DEFAULT);
    Report {
        used: workers.last().map_or(0, |worker| worker.id),
        // The first is 1.
        capacity: layout.max_worker(),
        rows: workers.len(),
        workers: shown
            .iter()
            .map(|worker| Row {
                id: worker.id,
                host: &worker.host_name,
                port: &worker.port,
                kind: worker.kind.to_string(),
                launched: times.rfc3339(worker.launched),
            })
            .collect(),
    }
}

fn table(report: &Report<'_>) -> String {
    let mut page = String::new();
    if !report.workers.is_empty() {
        let mut table = Table::new([
            Column::number("ID", WORKER),
            Column::text("HOST", BOLD),
            Column::number("PORT OR PID", DIM),
            Column::text("TYPE", DIM),
            Column::text("LAUNCHED (UTC)", TIME),
        ]);
        for worker in &report.workers {
            table.row([
                worker.id.to_string(),
                worker.host.to_owned(),
                worker.port.to_owned(),
                worker.kind.clone(),
                worker.launched.clone().unwrap_or_default(),
            ]);
        }
        page += &table.to_string();
    }
    let hidden = report.rows - report.workers.len();
    if hidden > 0 {
        page += &paint(
            DIM,
            format_args!("and {} before these; --last {} shows all\n", grouped(hidden as u64), report.rows),
        );
    }
    page + &paint(DIM, format_args!("{} of {} worker ids used", grouped(report.used), grouped(report.capacity))) + "\n"
}

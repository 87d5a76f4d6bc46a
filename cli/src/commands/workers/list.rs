//! `uidring workers`: who was given which worker id.

use std::time::SystemTime;

use anstyle::Style;
use clap::Subcommand;
use indicatif::HumanCount;
use serde::Serialize;
use uidring::Layout;
use uidring::clock::{Clock, SystemClock};
use uidring::registry::{RegistryAdmin, WorkerRecord};
use uidring_args::{Db, quantity};

use crate::args::db::{self, DbArg};
use crate::args::wait_notice::with_wait_notice;
use crate::commands::workers::lease::{LeaseText, State, time_of};
use crate::commands::workers::pace::Pace;
use crate::commands::workers::release;
use crate::text::table::{Column, Table};
use crate::text::words::counted;
use crate::text::{
    self, BOLD, DIM, Failure, GREEN, TIME, Times, WORKER, YELLOW, footnote, paint, paragraph,
};

/// List who was given which worker id, and how many ids are left
///
/// Each start has a row, but a leased worker id has only that of its last start. Nothing is
/// written.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true,
    after_help = "\
Examples:
  uidring workers
  uidring workers --last 3 --db /var/lib/orders/uidring.db
  uidring workers --db postgres://orders@db.example.com/orders
  uidring workers --json | jq -r '.workers[] | [.id, .host] | @tsv'
  uidring workers release 7"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    db: DbArg,

    /// List the ids that the table `WORKER_NODE` of Baidu's `UidGenerator` has given, on the MySQL
    /// server of --db
    #[arg(long)]
    uid_generator: bool,

    /// Show only the newest N
    #[arg(long, value_name = "N", default_value = "20", value_parser = quantity::count)]
    last: u64,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    Release(release::Args),
}

#[derive(Serialize)]
struct Report<'a> {
    /// How many ids were given, including those of deleted rows.
    used: u64,
    /// `None` for the table of `UidGenerator`, which does not know its layout.
    capacity: Option<u64>,
    /// How many rows there are, shown or not.
    rows: usize,
    leased: Leased,
    pace: Option<Pace>,
    workers: Vec<Row<'a>>,
}

/// How many rows have a lease, shown or not.
#[derive(Default, Serialize)]
struct Leased {
    held: usize,
    expired: usize,
    given_back: usize,
    /// Ids that can be given again: expired or given back.
    free: usize,
}

#[derive(Serialize)]
struct Row<'a> {
    id: u64,
    host: &'a str,
    port: &'a str,
    #[serde(rename = "type")]
    kind: String,
    launched: Option<String>,
    created: Option<String>,
    /// `None` for an id that is given only once.
    lease: Option<Lease<'a>>,
}

#[derive(Serialize)]
struct Lease<'a> {
    state: State,
    until: Option<String>,
    /// When the last tick begins that any holder may use.
    reserved_until: Option<String>,
    #[serde(skip)]
    in_words: LeaseText<'a>,
}

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        if let Some(Command::Release(args)) = self.command {
            return args.run();
        }
        let db = self.db.db()?;
        text::print(&with_wait_notice(&db, || self.list(&db))?)
    }

    fn list(&self, db: &Db) -> Result<String, Failure> {
        let registry = db::open_existing(db, self.uid_generator)?;
        let layout = registry.layout()?.unwrap_or_default();
        let workers = registry.workers()?;
        let ids = registry.ids()?.unwrap_or(1..=layout.max_worker());
        let largest = registry.largest_given()?;
        let now = SystemClock.now();
        let created: Vec<_> = workers.iter().map(|worker| (worker.id, worker.created)).collect();
        let last = usize::try_from(self.last).unwrap_or(usize::MAX);
        let shown = &workers[workers.len().saturating_sub(last)..];
        let report = Report {
            // Ids are given in order.
            used: (largest + 1).saturating_sub(*ids.start()),
            capacity: (!self.uid_generator).then(|| (ids.end() + 1).saturating_sub(*ids.start())),
            rows: workers.len(),
            leased: Leased::count(&workers, now),
            pace: Pace::of(&created, largest, ids.end().saturating_sub(largest), now)
                .filter(|_| !self.uid_generator),
            workers: shown.iter().map(|worker| Row::of(worker, &layout, now)).collect(),
        };
        if self.json { text::json(&report) } else { Ok(page(&report)) }
    }
}

impl Leased {
    fn count(workers: &[WorkerRecord], now: SystemTime) -> Leased {
        let mut leased = Leased::default();
        for lease in workers.iter().filter_map(|worker| worker.lease.as_ref()) {
            match State::of(lease, now) {
                State::Held => leased.held += 1,
                State::Expired => leased.expired += 1,
                State::GivenBack => leased.given_back += 1,
            }
        }
        leased.free = leased.expired + leased.given_back;
        leased
    }
}

impl<'a> Row<'a> {
    fn of(worker: &'a WorkerRecord, layout: &Layout, now: SystemTime) -> Row<'a> {
        let times = Times::registry();
        Row {
            id: worker.id,
            host: &worker.host_name,
            port: &worker.port,
            kind: worker.kind.to_string(),
            launched: times.rfc3339(worker.launched),
            created: times.rfc3339(worker.created),
            lease: worker.lease.as_ref().map(|lease| Lease {
                state: State::of(lease, now),
                until: times.rfc3339(lease.until),
                reserved_until: time_of(layout, lease.reserved_until)
                    .and_then(|time| Times::of(layout).rfc3339(time)),
                in_words: LeaseText { lease, now },
            }),
        }
    }
}

/// If an id is leased, columns for leases take the place of those for the type and the port.
fn table(rows: &[Row<'_>]) -> String {
    let has_leases = rows.iter().any(|row| row.lease.is_some());
    let mut table = Table::new([
        Column::number("ID", WORKER),
        Column::text(if has_leases { "HOST/PORT OR PID" } else { "HOST" }, BOLD),
        Column::number("PORT OR PID", DIM),
        Column::text("TYPE", DIM),
        Column::text("LAUNCHED (UTC)", TIME),
        Column::text("LEASE", Style::new()).painted(),
        Column::text("RESERVED UNTIL (UTC)", TIME),
    ]);
    for row in rows {
        let lease = match &row.lease {
            None if has_leases => paint(DIM, "given once"),
            None => String::new(),
            Some(Lease { state, in_words, .. }) => {
                let style = match state {
                    State::Held => GREEN,
                    State::Expired => YELLOW,
                    State::GivenBack => DIM,
                };
                paint(style, in_words)
            }
        };
        let [host, port, kind] = if has_leases {
            [format!("{}/{}", row.host, row.port), String::new(), String::new()]
        } else {
            [row.host.to_owned(), row.port.to_owned(), row.kind.clone()]
        };
        table.row([
            row.id.to_string(),
            host,
            port,
            kind,
            row.launched.clone().unwrap_or_default(),
            lease,
            row.lease.as_ref().and_then(|lease| lease.reserved_until.clone()).unwrap_or_default(),
        ]);
    }
    table.to_string()
}

fn page(report: &Report<'_>) -> String {
    let mut page = if report.workers.is_empty() { String::new() } else { table(&report.workers) };
    let hidden = report.rows - report.workers.len();
    if hidden > 0 {
        page += &footnote(&format!(
            "and {} before these; --last {} shows all",
            HumanCount(hidden as u64),
            report.rows
        ));
    }
    let Leased { held, free, .. } = report.leased;
    let leased = match held + free {
        0 => String::new(),
        leased => format!(
            "; {} leased, {} of them free to be given again",
            HumanCount(leased as u64),
            HumanCount(free as u64)
        ),
    };
    let used = HumanCount(report.used);
    let summary = match report.capacity {
        Some(capacity) => format!("{used} of {} worker ids used{leased}", HumanCount(capacity)),
        None => format!(
            "{} used; the layout, which the table does not know, tells how many there are",
            counted(report.used, "worker id")
        ),
    };
    page += &footnote(&summary);
    if let Some(pace) = report.pace {
        let style = if pace.is_alarming() { YELLOW } else { DIM };
        page += &paint(style, paragraph(&pace.to_string()));
    }
    page
}

//! `uidring workers`: who was given which worker id.

use std::time::SystemTime;

use anstyle::Style;
use clap::Subcommand;
use indicatif::HumanCount;
use serde::Serialize;
use uidring::clock::{Clock, SystemClock};
use uidring::registry::{RegistryAdmin, WorkerCounts, WorkerRecord};
use uidring::store::StoreRegistry;
use uidring::{Layout, RegistryError};
use uidring_args::{Db, quantity};

use crate::args::db::{self, DbArg};
use crate::args::wait_notice::with_wait_notice;
use crate::commands::workers::lease::{LeaseText, State, time_of};
use crate::commands::workers::pace::Pace;
use crate::commands::workers::{lend, pools, release};
use crate::text::table::{Column, Table};
use crate::text::words::counted;
use crate::text::{
    self, BOLD, DIM, Failure, GREEN, TIME, Times, WORKER, YELLOW, footnote, paint, paragraph,
};

/// List who was given which worker id, the newest first, and how many ids are left
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
  uidring workers release 7
  uidring workers lend --pool shop --env WORKER_ID -- ./shop
  uidring workers list"
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
    Lend(lend::Args),
    List(pools::Args),
}

/// What is told of all ids. In JSON, a list of those that are shown follows.
#[derive(Serialize)]
struct Report {
    /// How many ids were given, including those of deleted rows.
    used: u64,
    /// `None` for the table of `UidGenerator`, which does not know its layout.
    capacity: Option<u64>,
    /// How many rows there are, shown or not.
    rows: u64,
    leased: Leased,
    pace: Option<Pace>,
}

/// How many rows have a lease, shown or not.
#[derive(Default, Serialize)]
struct Leased {
    held: u64,
    expired: u64,
    given_back: u64,
    /// Ids that can be given again: expired or given back.
    free: u64,
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
        match self.command {
            Some(Command::Release(args)) => return args.run(),
            Some(Command::Lend(args)) => return args.run(),
            Some(Command::List(args)) => return args.run(),
            None => {}
        }
        let db = self.db.db()?;
        let (registry, layout, report, now) = with_wait_notice(&db, || self.report(&db))?;
        if self.json {
            let report = text::json(&report)?;
            let open = report.strip_suffix("}\n").unwrap_or(&report);
            text::print_raw(&format!("{open},\"workers\":["))?;
        }
        let mut shown = 0;
        for page in Pages::of(&registry, self.last) {
            let page = page?;
            let rows: Vec<Row<'_>> = page.iter().map(|it| Row::of(it, &layout, now)).collect();
            if self.json {
                let rows = text::json(&rows)?;
                let comma = if shown > 0 { "," } else { "" };
                text::print_raw(&format!("{comma}{}", rows.trim_end().trim_matches(['[', ']'])))?;
            } else {
                text::print(&table(&rows))?;
            }
            shown += page.len() as u64;
        }
        if self.json { text::print_raw("]}\n") } else { text::print(&remarks(&report, shown)) }
    }

    fn report(&self, db: &Db) -> Result<Found, Failure> {
        let registry = db::open_existing(db, self.uid_generator)?;
        let layout = registry.layout()?.unwrap_or_default();
        let ids = registry.ids()?.unwrap_or(1..=layout.max_worker());
        let largest = registry.largest_given()?;
        let now = SystemClock.now();
        let counts = registry.count_workers(now)?;
        let pace = if self.uid_generator {
            None
        } else {
            let left = ids.end().saturating_sub(largest);
            let newest_by = |time| newest_by(&registry, time);
            Pace::of(counts.first_created, largest, left, now, newest_by)?
        };
        let report = Report {
            // Ids are given in order.
            used: (largest + 1).saturating_sub(*ids.start()),
            capacity: (!self.uid_generator).then(|| (ids.end() + 1).saturating_sub(*ids.start())),
            rows: counts.all,
            leased: Leased::of(counts),
            pace,
        };
        Ok((registry, layout, report, now))
    }
}

/// What is told, where it is from, and when it was.
type Found = (StoreRegistry, Layout, Report, SystemTime);

/// How many records are in memory at one time.
const PAGE: u64 = 10_000;

/// The newest ids of a registry, the largest first, a page at a time.
struct Pages<'a> {
    registry: &'a dyn RegistryAdmin,
    /// All that follow are below.
    end: u64,
    /// How many may follow.
    left: u64,
}

impl<'a> Pages<'a> {
    fn of(registry: &'a dyn RegistryAdmin, most: u64) -> Pages<'a> {
        Pages { registry, end: u64::MAX, left: most }
    }
}

impl Iterator for Pages<'_> {
    type Item = Result<Vec<WorkerRecord>, RegistryError>;

    fn next(&mut self) -> Option<Self::Item> {
        let most = self.left.min(PAGE);
        if most == 0 {
            return None;
        }
        let page = self.registry.workers_below(self.end, quantity::size(most));
        match page.as_deref() {
            Ok([.., last]) => self.end = last.id,
            Ok([]) => return None,
            Err(_) => self.left = 0,
        }
        self.left = self.left.saturating_sub(page.as_ref().map_or(0, Vec::len) as u64);
        Some(page)
    }
}

/// The newest id that was first given by `time`.
fn newest_by(registry: &dyn RegistryAdmin, time: SystemTime) -> Result<Option<u64>, RegistryError> {
    for page in Pages::of(registry, u64::MAX) {
        if let Some(worker) = page?.iter().find(|worker| worker.created <= time) {
            return Ok(Some(worker.id));
        }
    }
    Ok(None)
}

impl Leased {
    fn of(counts: WorkerCounts) -> Leased {
        let WorkerCounts { held, expired, given_back, .. } = counts;
        Leased { held, expired, given_back, free: expired + given_back }
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

/// What is told below the rows, of which so many are shown.
fn remarks(report: &Report, shown: u64) -> String {
    let mut page = text::hidden(report.rows, shown);
    let Leased { held, free, .. } = report.leased;
    let leased = match held + free {
        0 => String::new(),
        leased => format!(
            "; {} leased, {} of them free to be given again",
            HumanCount(leased),
            HumanCount(free)
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

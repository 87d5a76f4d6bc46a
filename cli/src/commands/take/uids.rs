//! `uidring take`: prints new UIDs.

use std::io::{self, ErrorKind, IsTerminal};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use console::Term;
use uidring::{Uid, UidGenerator};
use uidring_args::quantity::{self, Quantity};
use uidring_args::{GeneratorArgs, LayoutArgs, Table, some_length, time};

use crate::args::db::DbArg;
use crate::args::generator;
use crate::commands::take::explained::{explain, is_explained};
use crate::commands::take::numbers::Order;
use crate::commands::take::past::Times;
use crate::run::lines::{Format, UidLines};
use crate::run::live::{self, Panel};
use crate::run::load::{Load, Run};
use crate::run::progress::{Progress, target};
use crate::run::stream::{self, Uids};
use crate::text::{self, Failure, error_columns};

/// The interval at which the panel is redrawn.
const FRAME: Duration = Duration::from_millis(200);

/// Print new UIDs, one a line
///
/// Each run takes a worker id of its own from the registry, a SQLite file that is created if it is
/// missing, or a server. UIDs are unique among all runs that share it: without --db, those of this
/// user on this machine. On a terminal, up to 20 of them come in a table with their fields.
///
/// With --tag it prints numbers of a tag: small, with few gaps and without time, counted up in a
/// row of the registry. `uidring tags create` makes a tag. What is left of the segment that is
/// taken for it is given back.
///
/// With --at or --times, the UIDs have times that were: for rows that are older than their ids. The
/// run has a worker id of its own then, so none of them is any other's.
///
/// With --rate, --for, --threads or --no-output the run is a load test: standard error shows what
/// the generator does, and a summary at the end. Ctrl-C ends the run with the summary.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  uidring take                              one UID
  uidring take -n 5                         five
  uidring take -n 5 --format base32         in 13 characters each
  uidring take -n 5 --format json | jq .time
  uidring take --db postgres://orders@db.example.com/orders --lease 10m
  uidring take --db etcd://h1:2379,h2:2379,h3:2379/orders
  uidring take --tag orders -n 5            five numbers of a tag
  uidring take --at 2019-05-02T10:15:00Z    one for a row of that time
  uidring take --times times.txt            one for each line, which is a time
  uidring take -n 100000000 | gzip > uids.gz
  uidring take --rate 500 --for 10s > uids.txt
  uidring take --for 2s --threads 4 --no-output   as fast as the generator can")]
pub(crate) struct Args {
    /// How many UIDs to take: 500, 20k, 1.5M [default: 1; with --rate or --for: no end]
    #[arg(short = 'n', long, value_name = "N", value_parser = quantity::count)]
    count: Option<u64>,

    /// Take numbers of this tag, which are dense and have no time in them, instead of UIDs
    #[arg(
        long, value_name = "NAME",
        conflicts_with_all = ["GeneratorArgs", "LayoutArgs", "WorkerIdArgs"]
    )]
    tag: Option<String>,

    /// The table with the tag
    #[arg(long, value_name = "TABLE", value_enum, requires = "tag", default_value_t = Table::Own)]
    table: Table,

    /// The most numbers of the tag in memory, which are lost if the tool is killed: 500, 20k. A
    /// larger step of the tag goes first [default: as many as the rate asks for]
    #[arg(long, value_name = "N", requires = "tag", value_parser = in_memory)]
    max_in_memory: Option<u64>,

    /// Take UIDs of this time, which was: RFC 3339, or a date
    #[arg(long, value_name = "TIME", value_parser = time, conflicts_with_all = OF_THE_PRESENT)]
    at: Option<SystemTime>,

    /// Take a UID for each line of this file, which is a time that was; - is standard input
    #[arg(
        long, value_name = "FILE",
        conflicts_with_all = OF_THE_PRESENT, conflicts_with_all = ["at", "count"]
    )]
    times: Option<PathBuf>,

    #[command(flatten)]
    db: DbArg,

    /// What each line contains [default: decimal]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,

    /// UIDs a second, of all threads together: 500, 20k, 1.5M [default: as many as possible]
    #[arg(long, value_name = "R", help_heading = "Load options", value_parser = some_rate)]
    rate: Option<Quantity>,

    /// For how long: 10s, 2m, 1h30m
    #[arg(long = "for", value_name = "LENGTH", help_heading = "Load options",
        value_parser = some_length)]
    length: Option<Duration>,

    /// How many threads take UIDs. Each thread's lines are in order, in batches between those of
    /// the others
    #[arg(
        long, value_name = "N", help_heading = "Load options", default_value_t = 1,
        value_parser = quantity::threads
    )]
    threads: u16,

    /// Take UIDs and drop them
    #[arg(long, help_heading = "Load options", conflicts_with = "format")]
    no_output: bool,

    #[command(flatten)]
    generator: GeneratorArgs,

    #[command(flatten)]
    layout: LayoutArgs,
}

/// What says nothing about times that were.
const OF_THE_PRESENT: [&str; 10] = [
    "tag",
    "rate",
    "length",
    "threads",
    "no_output",
    "exact_time",
    "max_lead",
    "max_lag",
    "on_lead_limit",
    "slots",
];

fn in_memory(text: &str) -> Result<u64, String> {
    quantity::count_of(text, "numbers in memory", 1..=u64::MAX)
}

fn some_rate(text: &str) -> Result<Quantity, String> {
    match quantity::quantity(text)? {
        Quantity { thousandths: 0 } => Err("no UID comes at a rate of 0".to_owned()),
        rate => Ok(rate),
    }
}

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let asked = self.layout.requested()?;
        if self.count == Some(0) {
            return Ok(());
        }
        let db = self.db.db()?;
        let endless = self.rate.is_some() || self.length.is_some();
        let count = self.count.or(if endless { None } else { Some(1) });
        let load = Load { threads: self.threads, rate: self.rate, count, length: self.length };
        let is_test = endless || self.threads > 1 || self.no_output;
        if let Some(tag) = &self.tag {
            let format = self.format.unwrap_or(Format::Decimal);
            let format = (!self.no_output).then_some(format);
            let max_in_memory = self.max_in_memory;
            return Order { tag, table: self.table, max_in_memory, load, format, is_test }.run(&db);
        }
        let of_the_past = match (self.at, &self.times) {
            (Some(time), _) => Some(Times::Each(time, count.unwrap_or(1))),
            (None, Some(file)) => Some(Times::Lines(file.clone())),
            (None, None) => None,
        };
        if let Some(times) = of_the_past {
            let past = generator::open_past(&self.generator, &db, asked)?;
            return times.run(&past, self.format, &db);
        }
        let uids = generator::open(&self.generator, &db, asked)?;
        if is_test {
            return self.run_test(&uids, load);
        }
        match (self.format, count) {
            (None, Some(count)) if is_explained(count) => {
                let taken: Vec<Uid> = (0..count).map(|_| uids.take()).collect::<Result<_, _>>()?;
                explain(uids.layout(), &taken, uids.worker_id(), self.generator.is_leased(), &db)
            }
            _ => self.list(&uids, load),
        }
    }

    /// Prints the UIDs, one a line.
    fn list(&self, uids: &UidGenerator, load: Load) -> Result<(), Failure> {
        let progress = load.count.and_then(|all| Progress::new(all, "UID"));
        let run = Run::start(load);
        run.stop_on_interrupt()?;
        stream::print(
            Uids::of(uids, &self.generator),
            &run,
            &self.lines(uids),
            progress,
            Duration::MAX,
            || {},
        )?;
        match load.count {
            Some(all) if run.done() < all && run.is_stopped() => {
                Err(Failure::Interrupted { done: run.done(), all, what: "UID" })
            }
            _ => Ok(()),
        }
    }

    fn lines(&self, uids: &UidGenerator) -> UidLines {
        UidLines::new(self.format.unwrap_or(Format::Decimal), *uids.layout())
    }

    /// Runs a load test and prints its summary. A panel is shown if standard error is a terminal
    /// and the UIDs do not appear on it.
    fn run_test(&self, uids: &UidGenerator, load: Load) -> Result<(), Failure> {
        let is_visible =
            io::stderr().is_terminal() && (self.no_output || !io::stdout().is_terminal());
        let stderr = || target(Term::buffered_stderr());
        let panel = || Panel::new(stderr(), error_columns, uids, load, &self.generator);
        let mut panel = is_visible.then(panel);
        let run = Run::start(load);
        run.stop_on_interrupt()?;
        let look = || {
            if let Some(panel) = &mut panel {
                panel.show(&uids.status(), run.elapsed());
            }
        };
        let done = if self.no_output {
            stream::drop_all(Uids::of(uids, &self.generator), &run, FRAME, look)
        } else {
            stream::print(
                Uids::of(uids, &self.generator),
                &run,
                &self.lines(uids),
                None,
                FRAME,
                look,
            )
        };
        if let Some(panel) = panel {
            panel.clear();
        }
        // If the reader has closed the pipe, it wants no summary either.
        if !matches!(&done, Err(Failure::Output(error)) if error.kind() == ErrorKind::BrokenPipe) {
            text::print_note(&live::summary(&run, &uids.status()));
        }
        done
    }
}

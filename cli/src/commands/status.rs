//! `uidring status`: tries a generator under load.

use std::io::{self, IsTerminal};
use std::ops::RangeInclusive;
use std::time::Duration;

use console::Term;
use uidring::registry::{Lease, Request, WorkerRegistry};
use uidring::{Layout, RegistryError};
use uidring_args::quantity::{self, Quantity};
use uidring_args::{Db, GeneratorArgs, LayoutArgs, some_length};

use crate::args::generator;
use crate::run::live::{self, Panel, RateMeter, Record};
use crate::run::load::{Load, Run};
use crate::run::progress::target;
use crate::run::stream::{self, Uids};
use crate::text::{self, Failure};

/// How long a run without --watch lasts: long enough for a rate.
const A_MOMENT: Duration = Duration::from_secs(1);

/// Try a generator under a load, and show its status
///
/// The generator runs in this process, for this trial only. It says nothing about generators in
/// other programs, which show their own by `UidGenerator::status`. Its UIDs are dropped. Without
/// --db nothing is written, and worker ids are counted in memory, from 1.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  uidring status                                 after a second of load
  uidring status --watch --rate 20k --for 1m     as it goes
  uidring status --watch --rate 0 --for 30s      idling
  uidring status --watch --rate max --max-lead 1h --for 10s
  uidring status --watch --for 1m | jq .lead_ms  JSON, as on any pipe")]
pub(crate) struct Args {
    /// Show the status each second, until --for is over or Ctrl-C is pressed
    #[arg(long)]
    watch: bool,

    /// UIDs taken a second, by all threads together: 500, 20k, 1.5M, 0, or `max` for as many as
    /// possible
    #[arg(long, value_name = "R", default_value = "1000", value_parser = rate_or_max)]
    rate: Rate,

    /// For how long, such as 10s, 2m or 1h30m [default: 1s; with --watch: no end]
    #[arg(long = "for", value_name = "LENGTH", value_parser = some_length)]
    length: Option<Duration>,

    /// How many threads take
    #[arg(long, value_name = "N", default_value_t = 1,
        value_parser = quantity::threads)]
    threads: u16,

    /// Take worker ids from this registry, a SQLite file or the address of a server, as a real
    /// start does: without --lease they are used up. `UIDRING_DB` is ignored, so that a trial uses
    /// no worker id up unless it is told to
    #[arg(long, value_name = "FILE|URL", value_parser = Db::parser())]
    db: Option<Db>,

    /// Print JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    generator: GeneratorArgs,

    #[command(flatten)]
    layout: LayoutArgs,
}

/// `None` for as many as possible.
#[derive(Clone, Copy, Debug)]
struct Rate(Option<Quantity>);

fn rate_or_max(text: &str) -> Result<Rate, String> {
    if text == "max" {
        Ok(Rate(None))
    } else {
        quantity::quantity(text).map(|rate| Rate(Some(rate)))
    }
}

/// A registry in memory, for a trial.
struct InMemoryRegistry {
    last: u64,
}

impl WorkerRegistry for InMemoryRegistry {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        if self.last == request.layout.max_worker() {
            return Err(RegistryError::Exhausted {
                used: self.last,
                capacity: self.last,
                next: None,
            });
        }
        self.last += 1;
        Ok(Lease::permanent(self.last, &request.layout))
    }

    fn worker_ids_of(&self, layout: &Layout) -> Option<RangeInclusive<u64>> {
        Some(1..=layout.max_worker())
    }
}

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let asked = self.layout.requested()?;
        let uids = match &self.db {
            Some(db) => generator::open(&self.generator, db, asked)?,
            None if self.generator.wants_registry() => {
                return Err(Failure::Usage(
                    "--lease, --partition, --worker-ids and --uid-generator are about a \
                     registry: name one with --db"
                        .to_owned(),
                ));
            }
            None => {
                let builder = self.generator.builder().start_deadline(Duration::ZERO);
                let builder = builder.layout(asked.unwrap_or_default());
                builder.registry(InMemoryRegistry { last: 0 }).build()?
            }
        };
        let length = if self.watch { self.length } else { self.length.or(Some(A_MOMENT)) };
        let load = Load { threads: self.threads, rate: self.rate.0, count: None, length };
        let source = Uids::of(&uids, &self.generator);
        let run = Run::start(load);
        run.stop_on_interrupt()?;
        let second = Duration::from_secs(1);
        let record = |meter: &mut RateMeter| {
            text::json(&Record::new(uids.layout(), &uids.status(), run.elapsed(), meter))
        };
        if !self.watch {
            let done = stream::drop_all(source, &run, second, || {});
            text::print(&if self.json {
                record(&mut RateMeter::new())?
            } else {
                live::summary(&run, &uids.status())
            })?;
            return done;
        }
        if !self.json && io::stdout().is_terminal() {
            let mut panel = Panel::new(
                target(Term::buffered_stdout()),
                text::columns,
                &uids,
                load,
                &self.generator,
            );
            let mut show = || panel.show(&uids.status(), run.elapsed());
            show();
            let done = stream::drop_all(source, &run, second, &mut show);
            show();
            return done.and(panel.keep_on_screen());
        }
        let (mut meter, mut printed) = (RateMeter::new(), Ok(()));
        let mut print = || {
            if printed.is_ok() {
                printed = record(&mut meter).and_then(|line| text::print(&line));
                if printed.is_err() {
                    run.stop();
                }
            }
        };
        let done = stream::drop_all(source, &run, second, &mut print);
        print();
        printed.and(done)
    }
}

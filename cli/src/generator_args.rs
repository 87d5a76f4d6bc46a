//! The options that set up a generator.

use std::time::Duration;

use uidring::registry::{FixedWorker, WorkerRegistry};
use uidring::{BuildError, Builder, Layout, LeadLimit, UidGenerator};

use crate::db::Db;
use crate::output::Failure;
use crate::quantity;

/// Defaults are the library's.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Generator options")]
pub(crate) struct GeneratorArgs {
    /// Lease a worker id for so long, in place of using one up: it is given back at the end, or
    /// when the lease expires, and given again
    #[arg(long, value_name = "LENGTH", value_parser = lease)]
    lease: Option<Duration>,

    /// Take worker ids from part I of N equal parts, from 0: for N machines that each have a SQLite
    /// file
    #[arg(long, value_name = "I/N", value_parser = partition)]
    partition: Option<(u64, u64)>,

    /// How far the time of UIDs may run ahead of the clock
    #[arg(long, value_name = "LENGTH", default_value = "1d", value_parser = quantity::length)]
    max_lead: Duration,

    /// How far the time of UIDs may fall behind the clock
    #[arg(long, value_name = "LENGTH", default_value = "1s", value_parser = quantity::length)]
    max_lag: Duration,

    /// What happens when --max-lead is used up: new-worker if it is an hour or more, and else wait,
    /// unless given
    #[arg(long, value_name = "POLICY")]
    on_lead_limit: Option<Policy>,

    /// How many further worker ids may be used up in an hour: a ten-thousandth of the layout's
    /// unless given
    #[arg(long, value_name = "N")]
    max_new_workers: Option<u32>,

    /// How many ticks' worth of UIDs the ring holds, a power of two
    #[arg(long, value_name = "N", default_value_t = 64)]
    slots: usize,
}

/// [`LeadLimit`] on the command line.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Policy {
    /// Go on with another worker id, from the present second
    NewWorker,
    /// Wait until the next second is due
    Wait,
    /// End with an error
    Fail,
}

fn lease(text: &str) -> Result<Duration, String> {
    let length = quantity::length(text)?;
    if length < Duration::from_secs(1) {
        Err("a lease lasts a second at least".to_owned())
    } else {
        Ok(length)
    }
}

fn partition(text: &str) -> Result<(u64, u64), String> {
    let number = |text: &str| text.parse::<u64>().ok();
    let numbers = text.split_once('/').and_then(|(index, of)| Some((number(index)?, number(of)?)));
    numbers
        .filter(|(index, of)| index < of)
        .ok_or_else(|| "a part is such as 0/4 to 3/4, those of four".to_owned())
}

impl GeneratorArgs {
    pub(crate) fn is_leased(&self) -> bool {
        self.lease.is_some()
    }

    /// Whether an option asks something of a registry.
    pub(crate) fn wants_registry(&self) -> bool {
        self.lease.is_some() || self.partition.is_some()
    }

    pub(crate) fn max_lead(&self) -> Duration {
        self.max_lead
    }

    pub(crate) fn slots(&self) -> usize {
        self.slots
    }

    /// A generator with a worker id from `db`: from a file that is made if there is none, or from a
    /// server.
    pub(crate) fn open(&self, db: &Db, asked: Option<Layout>) -> Result<UidGenerator, Failure> {
        // What cannot be built leaves no new registry behind.
        if asked.is_some() || db.is_missing() {
            self.build(asked.unwrap_or_default(), FixedWorker::new(1))?;
        }
        let mut registry = db.open()?;
        if let Some(duration) = self.lease {
            registry = registry.leased(duration);
        }
        if let Some((index, of)) = self.partition {
            registry = registry.partition(index, of)?;
        }
        // A registry serves one layout: without another wish, its own.
        let layout = match asked {
            Some(layout) => layout,
            None => registry.layout()?.unwrap_or_default(),
        };
        Ok(self.build(layout, registry.boxed())?)
    }

    pub(crate) fn build(
        &self,
        layout: Layout,
        registry: impl WorkerRegistry,
    ) -> Result<UidGenerator, BuildError> {
        self.builder().registry(registry).layout(layout).build()
    }

    fn builder(&self) -> Builder {
        let mut builder =
            UidGenerator::builder().max_lead(self.max_lead).max_lag(self.max_lag).slots(self.slots);
        if let Some(policy) = self.on_lead_limit {
            builder = builder.on_lead_limit(match policy {
                Policy::NewWorker => LeadLimit::NewWorker,
                Policy::Wait => LeadLimit::Wait,
                Policy::Fail => LeadLimit::Fail,
            });
        }
        if let Some(per_hour) = self.max_new_workers {
            builder = builder.max_new_workers(per_hour);
        }
        builder
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct CommandLine {
        #[command(flatten)]
        generator: GeneratorArgs,
    }

    #[test]
    fn defaults_are_the_librarys() {
        let CommandLine { generator } = CommandLine::parse_from(["uidring"]);
        assert_eq!(format!("{:?}", generator.builder()), format!("{:?}", UidGenerator::builder()));
    }
}

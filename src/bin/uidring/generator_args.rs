//! The options that set up a generator.

use std::path::Path;
use std::time::Duration;

use uidring::registry::{FixedWorker, SqliteRegistry, WorkerRegistry};
use uidring::{BuildError, Layout, LeadLimit, UidGenerator};

use crate::output::Failure;
use crate::quantity;

/// Defaults are the library's.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Generator options")]
pub(crate) struct GeneratorArgs {
    /// How far the time of UIDs may run ahead of the clock
    #[arg(long, value_name = "LENGTH", default_value = "1d", value_parser = quantity::length)]
    max_lead: Duration,

    /// How far the time of UIDs may fall behind the clock
    #[arg(long, value_name = "LENGTH", default_value = "1s", value_parser = quantity::length)]
    max_lag: Duration,

    /// What happens when --max-lead is used up
    #[arg(long, value_name = "POLICY", default_value = "new-worker")]
    on_lead_limit: Policy,

    /// How many ticks' worth of UIDs the ring holds, a power of two
    #[arg(long, value_name = "N", default_value_t = 8)]
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

impl GeneratorArgs {
    pub(crate) fn max_lead(&self) -> Duration {
        self.max_lead
    }

    pub(crate) fn slots(&self) -> usize {
        self.slots
    }

    /// A generator with a worker id from the file `db`, which is made if there is none.
    pub(crate) fn open(&self, db: &Path, asked: Option<Layout>) -> Result<UidGenerator, Failure> {
        // What cannot be built leaves no new registry behind.
        if asked.is_some() || !db.exists() {
            self.build(asked.unwrap_or_default(), FixedWorker::new(1))?;
        }
        let registry = SqliteRegistry::open(db)?;
        // A registry serves one layout: without another wish, its own.
        let layout = match asked {
            Some(layout) => layout,
            None => registry.layout()?.unwrap_or_default(),
        };
        Ok(self.build(layout, registry)?)
    }

    pub(crate) fn build(&self, layout: Layout, registry: impl WorkerRegistry) -> Result<UidGenerator, BuildError> {
        let on_lead_limit = match self.on_lead_limit {
            Policy::NewWorker => LeadLimit::NewWorker,
            Policy::Wait => LeadLimit::Wait,
            Policy::Fail => LeadLimit::Fail,
        };
        UidGenerator::builder()
            .registry(registry)
            .layout(layout)
            .max_lead(self.max_lead)
            .max_lag(self.max_lag)
            .on_lead_limit(on_lead_limit)
            .slots(self.slots)
            .build()
    }
}

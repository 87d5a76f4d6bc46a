//! The options that set up a generator.

use std::ops::RangeInclusive;
use std::time::{Duration, SystemTime};

use uidring::registry::{Lease, RegistryAdmin as _, Request, WorkerRegistry};
use uidring::store::StoreRegistry;
use uidring::{BuildError, Builder, Layout, LeadLimit, RegistryError, UidGenerator};
use uidring_layouts::{length, quantity};

use crate::registry_config::RegistryConfig;
use crate::worker_id_args::WorkerIdArgs;

/// The defaults are those of the library.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Generator options")]
pub struct GeneratorArgs {
    #[command(flatten)]
    worker_ids: WorkerIdArgs,

    /// Take worker ids from the table `WORKER_NODE` of Baidu's `UidGenerator`, on the MySQL server
    /// of --db, as Java programs do at the same time. The layout must be theirs
    #[arg(long, conflicts_with = "WorkerIdArgs")]
    uid_generator: bool,

    /// Give each UID the time of its take, neither older nor ahead: for ticks of a few
    /// milliseconds, as those of --preset twitter. A take reads the clock, and waits when a tick is
    /// full
    #[arg(long)]
    pub exact_time: bool,

    /// How far the time of UIDs may run ahead of the clock [default: 1d, or 0s with --exact-time]
    #[arg(long, value_name = "LENGTH", value_parser = length)]
    max_lead: Option<Duration>,

    /// How far the time of UIDs may fall behind the clock
    #[arg(long, value_name = "LENGTH", default_value = "1s", value_parser = length)]
    max_lag: Duration,

    /// What happens when --max-lead is used up [default: new-worker if --max-lead is an hour or
    /// more, else wait]
    #[arg(long, value_name = "POLICY")]
    on_lead_limit: Option<Policy>,

    /// How many further worker ids may be used up in an hour [default: a ten-thousandth of the
    /// layout's]
    #[arg(long, value_name = "N", value_parser = new_workers)]
    max_new_workers: Option<u32>,

    /// How many blocks the ring holds, each with the UIDs of one tick: a power of two
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = slots)]
    pub slots: usize,
}

const DAY: Duration = Duration::from_secs(24 * 3600);

/// [`LeadLimit`] on the command line.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Policy {
    /// Continue with another worker id, from the current tick
    NewWorker,
    /// Wait until the next tick is due
    Wait,
    /// Stop with an error
    Fail,
}

fn new_workers(text: &str) -> Result<u32, String> {
    quantity::count_of(text, "further worker ids", 0..=u32::MAX.into())
}

/// Parses a number of slots. The library decides which are valid.
fn slots(text: &str) -> Result<usize, String> {
    quantity::count_of(text, "slots", 0..=u64::MAX)
}

impl GeneratorArgs {
    /// Whether worker ids are leased.
    #[must_use]
    pub fn is_leased(&self) -> bool {
        self.registry_config().lease.is_some()
    }

    /// Whether an option needs a registry.
    #[must_use]
    pub fn wants_registry(&self) -> bool {
        self.worker_ids.is_asked() || self.uid_generator
    }

    /// Whether a take may wait at the lead limit. By default that depends on the length of the
    /// lead, as [`Builder::on_lead_limit`] says.
    #[must_use]
    pub fn may_wait(&self) -> bool {
        match self.on_lead_limit {
            Some(policy) => matches!(policy, Policy::Wait),
            None => self.exact_time || self.max_lead() < Duration::from_secs(3600),
        }
    }

    /// How far the time of UIDs may run ahead of the clock.
    #[must_use]
    pub fn max_lead(&self) -> Duration {
        let default = if self.exact_time { Duration::ZERO } else { DAY };
        self.max_lead.unwrap_or(default)
    }

    /// Checks whether a layout is asked for where one is needed.
    ///
    /// # Errors
    /// A sentence about the options, as they are on the command line.
    pub fn check_requested(&self, asked: Option<Layout>) -> Result<(), &'static str> {
        if self.uid_generator && asked.is_none() {
            return Err(
                "the table WORKER_NODE does not know the layout of its UIDs: name that of \
                        the other programs, with --layout and --epoch",
            );
        }
        Ok(())
    }

    /// What the registry is asked for.
    #[must_use]
    pub fn registry_config(&self) -> RegistryConfig {
        self.worker_ids.registry_config(self.uid_generator)
    }

    /// A builder with these options.
    #[must_use]
    pub fn builder(&self) -> Builder {
        let mut builder = UidGenerator::builder().max_lag(self.max_lag).slots(self.slots);
        if self.exact_time {
            builder = builder.exact_time();
        }
        if let Some(max_lead) = self.max_lead {
            builder = builder.max_lead(max_lead);
        }
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

/// Checks what a build checks before it asks the registry, so that invalid options do not leave a
/// new registry behind.
///
/// # Errors
/// A build would fail.
pub fn check_build(builder: Builder, layout: Layout) -> Result<(), BuildError> {
    match builder.registry(EmptyRegistry).layout(layout).build() {
        Err(BuildError::Registry(_)) => Ok(()),
        result => result.map(drop),
    }
}

/// What builds a generator on `registry`. A registry serves one layout, which is used unless
/// another is asked for.
#[must_use]
pub fn with_registry(
    builder: Builder,
    registry: impl WorkerRegistry,
    asked: Option<Layout>,
) -> Builder {
    let builder = builder.registry(registry);
    match asked {
        Some(layout) => builder.layout(layout),
        None => builder.remembered_layout(),
    }
}

/// Builds a generator, up to the writing: no worker id is used up, and nothing is made. Where the
/// store may be missing, it is one of [`Store::open_trial`](uidring::Store::open_trial).
///
/// # Errors
/// The registry has no worker id to give, or the options do not fit it.
pub fn try_build_on(
    builder: Builder,
    registry: StoreRegistry,
    asked: Option<Layout>,
) -> Result<(), BuildError> {
    with_registry(builder, TrialRegistry(registry), asked).build().map(drop)
}

/// A registry that gives a worker id for a trial.
struct TrialRegistry(StoreRegistry);

impl WorkerRegistry for TrialRegistry {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        self.0.try_assign(request)
    }

    fn reserve(&mut self, _: &Lease, last: u64) -> Result<u64, RegistryError> {
        Ok(last)
    }

    fn name(&self) -> String {
        self.0.name()
    }

    fn last_assigned(&mut self) -> Result<Option<SystemTime>, RegistryError> {
        self.0.last_assigned()
    }

    fn remembered_layout(&mut self) -> Result<Option<Layout>, RegistryError> {
        self.0.remembered_layout()
    }

    fn worker_ids_of(&self, layout: &Layout) -> Option<RangeInclusive<u64>> {
        self.0.worker_ids_of(layout)
    }
}

/// A registry without a worker id, with which no build succeeds.
struct EmptyRegistry;

impl WorkerRegistry for EmptyRegistry {
    fn assign(&mut self, _: &Request) -> Result<Lease, RegistryError> {
        Err(RegistryError::Exhausted { used: 0, capacity: 0, next: None })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test that cannot go on has failed
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct CommandLine {
        #[command(flatten)]
        generator: GeneratorArgs,
    }

    /// What these arguments say.
    fn parsed(args: &[&str]) -> GeneratorArgs {
        CommandLine::parse_from(["uidring"].iter().chain(args)).generator
    }

    #[test]
    fn defaults_are_the_librarys() {
        let generator = parsed(&[]);
        assert_eq!(format!("{:?}", generator.builder()), format!("{:?}", UidGenerator::builder()));
    }

    #[test]
    fn a_check_finds_what_a_build_refuses() {
        assert!(check_build(parsed(&[]).builder(), Layout::DEFAULT).is_ok());
        let error = check_build(parsed(&["--slots=3"]).builder(), Layout::DEFAULT).unwrap_err();
        assert!(matches!(error, BuildError::Slots { slots: 3 }), "{error}");
        let error = check_build(parsed(&[]).builder(), Layout::UID_GENERATOR).unwrap_err();
        assert!(!matches!(error, BuildError::Registry(_)), "{error}");
    }
}

//! What the registry of a generator answered last: whether it reserves ticks.

use std::ops::RangeInclusive;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use uidring::registry::{Lease, Request, WorkerRegistry};
use uidring::{Layout, RegistryError};
use uidring_args::with_causes;

use crate::stats::trouble::{Cause, Trouble};

/// A call that takes longer is a registry that does not answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// The calls of one generator to its registry.
#[derive(Debug, Default)]
pub(crate) struct Grants(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// When the running call began.
    begun: Option<Instant>,
    /// Why the last call granted nothing, if it did not.
    trouble: Option<Trouble>,
}

impl Grants {
    /// Why nothing is granted, if the last call failed or has not been answered for long.
    pub(crate) fn trouble(&self) -> Option<Trouble> {
        let State { begun, trouble } = &*self.lock();
        let overdue = begun.filter(|begun| begun.elapsed() >= PATIENCE).map(|at| Trouble {
            cause: Cause::Away,
            text: "the registry of worker ids does not answer".to_owned(),
            at,
        });
        trouble.clone().or(overdue)
    }

    /// Makes a call, and records whether it granted something.
    fn record<T>(
        &self,
        call: impl FnOnce() -> Result<T, RegistryError>,
        grants: impl FnOnce(&T) -> bool,
    ) -> Result<T, RegistryError> {
        self.lock().begun = Some(Instant::now());
        let result = call();
        let trouble = |cause, text| Some(Trouble { cause, text, at: Instant::now() });
        let trouble = match &result {
            Ok(granted) if grants(granted) => None,
            Ok(_) => trouble(
                Cause::Unusable,
                "the registry of worker ids reserves no further ticks".into(),
            ),
            Err(error) => trouble(Cause::of_registry(error), with_causes(error)),
        };
        *self.lock() = State { begun: None, trouble };
        result
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code panics while it holds the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A registry that records the outcome of each call that is to grant something.
pub(crate) struct RecordedRegistry<R> {
    pub(crate) registry: R,
    pub(crate) grants: &'static Grants,
}

impl<R: WorkerRegistry> WorkerRegistry for RecordedRegistry<R> {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        self.grants.record(|| self.registry.assign(request), |_| true)
    }

    fn reserve(&mut self, lease: &Lease, last: u64) -> Result<u64, RegistryError> {
        let grants = |reserved: &u64| *reserved > lease.last || *reserved >= last;
        self.grants.record(|| self.registry.reserve(lease, last), grants)
    }

    fn release(&mut self, lease: &Lease, used: u64) -> Result<(), RegistryError> {
        self.registry.release(lease, used)
    }

    fn name(&self) -> String {
        self.registry.name()
    }

    fn last_assigned(&mut self) -> Result<Option<SystemTime>, RegistryError> {
        self.registry.last_assigned()
    }

    fn remembered_layout(&mut self) -> Result<Option<Layout>, RegistryError> {
        self.registry.remembered_layout()
    }

    fn worker_ids_of(&self, layout: &Layout) -> Option<RangeInclusive<u64>> {
        self.registry.worker_ids_of(layout)
    }

    fn clock_skew_ms(&self) -> Option<i64> {
        self.registry.clock_skew_ms()
    }
}

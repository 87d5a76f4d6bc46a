//! What a store has answered last, for the state of what is opened on it.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::SystemTime;

use arc_swap::ArcSwapOption;
use uidring::registry::{Lease, Request, WorkerRegistry};
use uidring::{Layout, RegistryError};
use uidring_args::with_causes;

/// What a store has answered last. Clones are of one store. It is read without a lock, which a fork
/// could leave locked.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answers(Arc<ArcSwapOption<Answer>>);

/// The last answer, and since when it has been like that.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    /// The store's name, without a password.
    pub(crate) name: String,
    /// When it was asked last.
    pub(crate) asked: SystemTime,
    /// Since when it has answered, or has failed.
    pub(crate) since: SystemTime,
    /// Why it has failed. `None` if it has answered.
    pub(crate) error: Option<String>,
}

impl Answers {
    /// The last answer of the store.
    pub(crate) fn last(&self) -> Option<Arc<Answer>> {
        self.0.load_full()
    }

    fn note(&self, name: &str, error: Option<&RegistryError>) {
        let asked = SystemTime::now();
        let error = error.filter(|error| is_failure(error)).map(|error| with_causes(error));
        let before = self.0.load();
        let since = match before.as_deref() {
            Some(before) if before.error.is_some() == error.is_some() => before.since,
            _ => asked,
        };
        // A generator asks its registry on one thread at a time.
        self.0.store(Some(Arc::new(Answer { name: name.to_owned(), asked, since, error })));
    }
}

/// Whether the store has not answered. One that refuses a worker id has.
fn is_failure(error: &RegistryError) -> bool {
    matches!(error, RegistryError::Storage(_))
}

/// A registry whose answers are noted.
#[derive(Debug)]
pub(crate) struct Watched<R> {
    registry: R,
    answers: Answers,
}

impl<R: WorkerRegistry> Watched<R> {
    /// Notes the answers of `registry`.
    pub(crate) fn new(registry: R) -> (Watched<R>, Answers) {
        let answers = Answers::default();
        (Watched { registry, answers: answers.clone() }, answers)
    }

    fn noted<T>(
        &mut self,
        call: impl FnOnce(&mut R) -> Result<T, RegistryError>,
    ) -> Result<T, RegistryError> {
        let result = call(&mut self.registry);
        self.answers.note(&self.registry.name(), result.as_ref().err());
        result
    }
}

impl<R: WorkerRegistry> WorkerRegistry for Watched<R> {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        self.noted(|registry| registry.assign(request))
    }

    fn reserve(&mut self, lease: &Lease, last: u64) -> Result<u64, RegistryError> {
        self.noted(|registry| registry.reserve(lease, last))
    }

    fn release(&mut self, lease: &Lease, used: u64) -> Result<(), RegistryError> {
        self.noted(|registry| registry.release(lease, used))
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

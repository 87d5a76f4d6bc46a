//! A worker id that the caller chose.

use super::{Lease, Request, WorkerRegistry};
use crate::error::RegistryError;

/// A number of the caller's own, for tests, benchmarks and programs that number themselves.
///
/// Nothing is stored and nothing is checked. The caller guarantees that
///
/// * no other generator, on any machine, has the same number and layout at the same time, and
/// * a generator with this number starts only when the clock has passed every time in the UIDs of the one before
///   it: a busy generator borrows from the seconds to come, so that can be later than when it stopped.
///
/// A program that cannot promise both takes its ids from a registry.
///
/// ```
/// use uidring::UidGenerator;
/// use uidring::registry::FixedWorker;
///
/// let uids = UidGenerator::builder().registry(FixedWorker::new(7)).build()?;
/// assert_eq!(uids.layout().parts(uids.take()?).worker, 7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FixedWorker {
    worker: u64,
    given: bool,
}

impl FixedWorker {
    /// Gives `worker`, once.
    #[must_use]
    pub fn new(worker: u64) -> FixedWorker {
        FixedWorker { worker, given: false }
    }
}

impl WorkerRegistry for FixedWorker {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        if self.given {
            return Err(RegistryError::FixedInUse { worker: self.worker });
        }
        self.given = true;
        Ok(Lease::fresh(self.worker, &request.layout))
    }
}

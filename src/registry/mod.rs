//! Where worker ids come from.

mod fixed;
#[cfg(feature = "sqlite")]
mod host;
#[cfg(feature = "sqlite")]
mod sqlite;

pub use fixed::FixedWorker;
#[cfg(feature = "sqlite")]
pub use host::WorkerKind;
#[cfg(feature = "sqlite")]
pub use sqlite::{SqliteRegistry, Worker};

use std::time::SystemTime;

use crate::error::RegistryError;
use crate::layout::Layout;

/// Gives out worker ids.
///
/// # Contract
///
/// The uniqueness of every UID rests on one promise: **[`assign`](WorkerRegistry::assign) never returns the same id
/// twice** for the layout, to anyone, on any machine, whatever happens: not after a restart, not after a crash
/// at any instant, not when rows are deleted, not when two processes ask at once. An id that may have
/// been seen by a caller is never given again, so it is stored durably before it is returned.
///
/// A generator calls `assign` once when it is built, and keeps the registry. Its filler calls `assign` again for
/// another worker id when [`LeadLimit::NewWorker`](crate::LeadLimit::NewWorker) asks for one.
pub trait WorkerRegistry: Send + 'static {
    /// A worker id for a generator of `layout`, never given before, at most `layout.max_worker()`.
    ///
    /// # Errors
    ///
    /// [`RegistryError`] when there is none, or none can be had now. Nothing is used up by a failure.
    fn assign(&mut self, layout: &Layout) -> Result<u64, RegistryError>;

    /// When an id was given last, if the registry knows: by this a generator that has a
    /// [`max_forward_jump`](crate::Builder::max_forward_jump) judges the clock at its start.
    ///
    /// # Errors
    ///
    /// [`RegistryError`] when the registry cannot be read.
    fn last_assigned(&mut self) -> Result<Option<SystemTime>, RegistryError> {
        Ok(None)
    }
}

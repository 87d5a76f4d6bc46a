//! Where worker ids come from.

#[cfg(feature = "contract")]
pub mod contract;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
mod database;
mod error;
mod fixed;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
mod host;
#[cfg(feature = "mysql")]
mod mysql;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sqlite")]
mod sqlite;
mod state_file;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
mod table;

#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
pub use database::{RegistryAdmin, SqlRegistry};
pub use error::RegistryError;
pub use fixed::FixedWorker;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
pub use host::WorkerKind;
#[cfg(feature = "mysql")]
pub use mysql::MySqlRegistry;
#[cfg(feature = "postgres")]
pub use postgres::PostgresRegistry;
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteRegistry;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
pub use table::{Worker, WorkerLease};

#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
pub use crate::sql::without_password;

use std::time::{Duration, SystemTime};

use crate::layout::Layout;

/// Gives out worker ids.
///
/// # Contract
///
/// The uniqueness of every UID rests on one promise: **no (worker id, second) pair is given twice**
/// for the layout, to anyone, on any machine, whatever happens: not after a restart, not after a
/// crash at any instant, not when rows are deleted, not when two processes ask at once, not when a
/// holder is stopped for a day and wakes up. What may have been seen by a caller is never given
/// again, so it is stored durably before it is returned.
///
/// Two ways keep it. A registry of *fresh* ids gives each id once, with all its seconds. A registry
/// of *leased* ids gives an id again when its holder is gone, but from a second after the last that
/// any holder has reserved; a reservation is one conditional write that fails when another has
/// taken the id over. Neither needs a clock to be right, or a holder to stop in time.
///
/// A generator calls [`assign`](WorkerRegistry::assign) once when it is built, and keeps the
/// registry. Its filler reserves ahead, and calls `assign` again where
/// [`LeadLimit::NewWorker`](crate::LeadLimit::NewWorker) asks for another id, or the lease has been
/// lost.
///
/// A call of the filler's that panics counts as one that failed, and the registry is called again.
/// A panic in [`Builder::build`](crate::Builder::build) is the caller's.
pub trait WorkerRegistry: Send + 'static {
    /// A worker id that nobody else holds, at most `layout.max_worker()`, with seconds that nobody
    /// else has had, at most `layout.max_tick()`.
    ///
    /// # Errors
    ///
    /// [`RegistryError`] when there is none, or none can be had now. Nothing is used up by a
    /// failure.
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError>;

    /// Reserves further seconds for the holder of `lease`, up to `last`, and shows that it is
    /// alive. Returns the last second reserved. A registry of fresh ids has given them all.
    ///
    /// # Errors
    ///
    /// [`RegistryError::LeaseLost`] when another has taken the id over: the seconds of `lease` are
    /// still the holder's, but no more will be. Any other error leaves it open whether the
    /// reservation was made: the holder goes on with what it has, and tries again.
    fn reserve(&mut self, lease: &Lease, _last: u64) -> Result<u64, RegistryError> {
        Ok(lease.last)
    }

    /// Gives the id back. Its holder has used no second after `used`, and will use none.
    ///
    /// # Errors
    ///
    /// [`RegistryError`] when the registry cannot be written: the id is free when the lease has
    /// expired.
    fn release(&mut self, _lease: &Lease, _used: u64) -> Result<(), RegistryError> {
        Ok(())
    }

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

/// For a program that finds out when it starts which registry it uses.
impl WorkerRegistry for Box<dyn WorkerRegistry> {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        (**self).assign(request)
    }

    fn reserve(&mut self, lease: &Lease, last: u64) -> Result<u64, RegistryError> {
        (**self).reserve(lease, last)
    }

    fn release(&mut self, lease: &Lease, used: u64) -> Result<(), RegistryError> {
        (**self).release(lease, used)
    }

    fn last_assigned(&mut self) -> Result<Option<SystemTime>, RegistryError> {
        (**self).last_assigned()
    }
}

/// What a generator asks of a registry. Seconds are ticks of the layout since its epoch.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Request {
    /// The layout of its UIDs.
    pub layout: Layout,
    /// The tick of its clock.
    pub now: u64,
    /// The latest tick at which it can begin: half of its lead ahead.
    pub latest: u64,
}

impl Request {
    /// What a generator of `layout` asks at the second `now`, if it can begin at `latest` or
    /// sooner.
    #[must_use]
    pub fn new(layout: Layout, now: u64, latest: u64) -> Request {
        Request { layout, now, latest }
    }
}

/// The right to a worker id: the seconds that its holder may publish, as ticks of the layout since
/// its epoch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The worker id.
    pub worker: u64,
    /// The first second that the holder may use.
    pub first: u64,
    /// The last one, so far.
    pub last: u64,
    /// After how long without a reservation the id may be given to another; `None` for an id that
    /// is given once, with all seconds from `first` to the layout's last.
    pub duration: Option<Duration>,
    /// How the registry knows this holder from the ones before and after it; empty for an id that
    /// is given once.
    pub holder: String,
}

impl Lease {
    /// An id that is given once, with all its seconds.
    #[must_use]
    pub fn fresh(worker: u64, layout: &Layout) -> Lease {
        Lease { worker, first: 0, last: layout.max_tick(), duration: None, holder: String::new() }
    }

    /// Whether it is one of a generator of `layout`: registries are written by others, too.
    pub(crate) fn check(self, layout: &Layout) -> Result<Lease, RegistryError> {
        let Lease { worker, first, last, .. } = self;
        let (max_worker, max) = (layout.max_worker(), layout.max_tick());
        if worker > max_worker {
            return Err(RegistryError::WorkerRange { worker, max: max_worker });
        }
        // Without a duration there will be no more.
        if first > last || last > max || self.duration.is_none() && last < max {
            return Err(RegistryError::LeaseRange { worker, first, last, max });
        }
        Ok(self)
    }

    /// Whether `other` is the same one, perhaps with other seconds reserved.
    pub(crate) fn is(&self, other: &Lease) -> bool {
        (self.worker, self.first, &self.holder) == (other.worker, other.first, &other.holder)
    }
}

//! What operators do with a registry, and what they see in it.

use std::fmt;
use std::ops::RangeInclusive;
use std::time::SystemTime;

use super::{Lease, RegistryError, Request, WorkerRegistry};
use crate::layout::Layout;

/// What operators do with a registry: they list the worker ids, and free those of lost machines.
///
/// The registries in databases have it. It is a trait, so that a tool can be told at run time which
/// of them it works on:
///
/// ```
/// # #[cfg(feature = "sqlite")] {
/// # let folder = tempfile::tempdir()?;
/// # let file = folder.path().join("uidring.db");
/// use uidring::registry::{RegistryAdmin, SqliteRegistry};
///
/// let registry: Box<dyn RegistryAdmin> = Box::new(SqliteRegistry::open(&file)?);
/// for worker in registry.workers()? {
///     println!("{} since {:?} on {}", worker.id, worker.launched, worker.host_name);
/// }
/// assert_eq!(registry.largest_given()?, 0);
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait RegistryAdmin: WorkerRegistry {
    /// The worker ids that the registry remembers, in their order.
    ///
    /// # Errors
    ///
    /// [`RegistryError::Storage`] says what is wrong with the database and what to do.
    fn workers(&self) -> Result<Vec<WorkerRecord>, RegistryError>;

    /// Those of the worker ids that are below `end`, the largest first, and at most `most` of them:
    /// a page of a list, which goes on below the last id of the page. There are fewer only where
    /// there are no more.
    ///
    /// # Errors
    ///
    /// As [`workers`](Self::workers).
    fn workers_below(&self, end: u64, most: usize) -> Result<Vec<WorkerRecord>, RegistryError>;

    /// How many worker ids the registry remembers, and how many of them are leased, at the time
    /// `now`.
    ///
    /// # Errors
    ///
    /// As [`workers`](Self::workers).
    fn count_workers(&self, now: SystemTime) -> Result<WorkerCounts, RegistryError>;

    /// The largest id ever given, also where its row has been deleted; 0 before the first.
    ///
    /// # Errors
    ///
    /// As [`workers`](Self::workers).
    fn largest_given(&self) -> Result<u64, RegistryError>;

    /// The layout that the registry was first used with, or `None` before its first use.
    ///
    /// # Errors
    ///
    /// As [`workers`](Self::workers).
    fn layout(&self) -> Result<Option<Layout>, RegistryError>;

    /// The worker ids that the registry gives, never 0: those of its partition, or those that it
    /// was limited to. `None` before its first use.
    ///
    /// # Errors
    ///
    /// As [`workers`](Self::workers).
    fn ids(&self) -> Result<Option<RangeInclusive<u64>>, RegistryError>;

    /// Revokes the lease of the id `worker`, whoever holds it, so that the next start can have it.
    ///
    /// This is safe at any time: the next holder begins after the last tick that was reserved, and
    /// the one before finds its lease lost and takes another id.
    ///
    /// # Errors
    ///
    /// [`RegistryError::NotLeased`] when the registry has given no lease of that id; else as
    /// [`workers`](Self::workers).
    fn revoke(&self, worker: u64) -> Result<(), RegistryError>;

    /// The lease that [`assign`](WorkerRegistry::assign) would return now. Nothing is made and
    /// nothing used up: what an assignment does is done and taken back, and where tables are
    /// missing, it is looked whether this user may make them. No ticks of the lease may be used.
    ///
    /// # Errors
    ///
    /// As a generator that asks for an id: the password is wrong, or the user lacks a right, or the
    /// registry has another layout, or no id left.
    fn try_assign(&self, request: &Request) -> Result<Lease, RegistryError>;

    /// Whether a generator of `layout` could have a worker id, now or when its ticks are due, as
    /// [`try_assign`](Self::try_assign) finds out.
    ///
    /// # Errors
    ///
    /// As [`try_assign`](Self::try_assign).
    fn try_out(&self, layout: &Layout) -> Result<(), RegistryError> {
        let latest = layout.max_tick();
        self.try_assign(&Request { layout: *layout, now: 0, latest }).map(drop)
    }
}

/// A worker id, as the registry remembers it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerRecord {
    /// The worker id.
    pub id: u64,
    /// The machine or container that its generator started on, the last one of a leased id.
    pub host_name: String,
    /// The port that a container platform gave, or the process id.
    pub port: String,
    /// Whether it was in a container.
    pub kind: WorkerKind,
    /// When it started.
    pub launched: SystemTime,
    /// When the id was given for the first time, by the database's clock: a leased one is launched
    /// again and again.
    pub created: SystemTime,
    /// The lease; `None` for an id that is given once.
    pub lease: Option<LeaseRecord>,
}

/// How many worker ids a registry remembers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerCounts {
    /// All of them.
    pub all: u64,
    /// Leased ones that their holders have.
    pub held: u64,
    /// Leased ones whose holders did not renew the lease in time.
    pub expired: u64,
    /// Leased ones that were given back.
    pub given_back: u64,
    /// When the smallest of all was given for the first time.
    pub first_created: Option<SystemTime>,
}

#[cfg(any(feature = "etcd", feature = "redis", feature = "zookeeper"))]
impl WorkerCounts {
    /// Counts one more.
    pub(super) fn add(&mut self, record: &WorkerRecord, now: SystemTime) {
        self.all += 1;
        match &record.lease {
            None => {}
            Some(LeaseRecord { holder: None, .. }) => self.given_back += 1,
            Some(lease) if lease.until <= now => self.expired += 1,
            Some(_) => self.held += 1,
        }
    }
}

/// The lease of a [`WorkerRecord`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeaseRecord {
    /// How the registry knows the generator that has the id; `None` when it was given back.
    pub holder: Option<String>,
    /// The last tick that any holder may use, counted from the epoch of the layout.
    pub reserved_until: u64,
    /// When the id may be given to another, by the database's clock.
    pub until: SystemTime,
}

/// Where a generator was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WorkerKind {
    /// In a container.
    Container,
    /// Directly on a machine.
    Actual,
}

#[cfg(feature = "_store")]
impl WorkerKind {
    /// As the table's column `type` has it, which is as `UidGenerator` numbers them.
    pub(super) fn code(self) -> i64 {
        match self {
            WorkerKind::Container => 1,
            WorkerKind::Actual => 2,
        }
    }

    pub(super) fn from_code(code: i64) -> Option<WorkerKind> {
        [WorkerKind::Container, WorkerKind::Actual].into_iter().find(|kind| kind.code() == code)
    }
}

impl fmt::Display for WorkerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            WorkerKind::Container => "container",
            WorkerKind::Actual => "actual",
        })
    }
}

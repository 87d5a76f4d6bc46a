//! Where worker ids come from.

mod admin;
#[cfg(feature = "_store")]
mod assignment;
#[cfg(feature = "contract")]
pub mod contract;
mod error;
mod fixed;
#[cfg(feature = "_store")]
mod host;
#[cfg(any(feature = "etcd", feature = "redis", feature = "zookeeper"))]
mod keys;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
mod sql;

pub use admin::{LeaseRecord, RegistryAdmin, WorkerCounts, WorkerKind, WorkerRecord};
pub use error::RegistryError;
pub use fixed::FixedWorker;
#[cfg(feature = "zookeeper")]
pub use keys::LeafWorker;
#[cfg(feature = "postgres")]
pub use sql::PostgresRegistry;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
pub use sql::SqlRegistry;
#[cfg(feature = "sqlite")]
pub use sql::SqliteRegistry;
#[cfg(feature = "mysql")]
pub use sql::{MySqlRegistry, UidGeneratorRegistry};

#[cfg(feature = "_store")]
pub(crate) use assignment::Config;
#[cfg(all(feature = "_store", feature = "lend"))]
pub(crate) use host::this_host;
#[cfg(any(feature = "etcd", feature = "redis", feature = "zookeeper"))]
pub(crate) use keys::KeyRegistry;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
pub(crate) use sql::RegistryTables;

use std::ops::RangeInclusive;
use std::time::{Duration, SystemTime};

use crate::layout::Layout;

/// Gives out worker ids.
///
/// # Contract
///
/// The uniqueness of every UID rests on one promise: **no (worker id, tick) pair is given twice**
/// for the layout, to anyone, on any machine, whatever happens: not after a restart, not after a
/// crash at any instant, not when rows are deleted, not when two processes ask at once, not when a
/// holder is stopped for a day and wakes up. What may have been seen by a caller is never given
/// again, so it is stored durably before it is returned.
///
/// Two kinds of [`Lease`] keep it. A *permanent* id is given once, with all its ticks. A *leased*
/// id is given again when its holder is gone, but from a tick after the last that any holder has
/// reserved; a reservation is one conditional write that fails if another has taken the id over.
/// Neither needs a clock to be right, or a holder to stop in time.
///
/// A generator calls [`assign`](WorkerRegistry::assign) once when it is built, and keeps the
/// registry. Its filler reserves ahead, and calls `assign` again if
/// [`LeadLimit::NewWorker`](crate::LeadLimit::NewWorker) asks for another id, or the lease has been
/// lost.
///
/// If a call of the filler's panics, it counts as one that failed, and the registry is called
/// again. A panic in [`Builder::build`](crate::Builder::build) is the caller's.
///
/// # Example
///
/// A registry of permanent ids that a service of one's own gives out:
///
/// ```
/// use uidring::RegistryError;
/// use uidring::registry::{Lease, Request, WorkerRegistry};
///
/// struct Service;
///
/// impl Service {
///     /// The next number, which the service has stored and never gives again.
///     fn next(&mut self) -> std::io::Result<u64> {
///         # static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);
///         // ...
///         # Ok(NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
///     }
/// }
///
/// impl WorkerRegistry for Service {
///     fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
///         let worker = self.next().map_err(RegistryError::unreachable)?;
///         Ok(Lease::permanent(worker, &request.layout))
///     }
/// }
///
/// let uids = uidring::UidGenerator::builder().registry(Service).build()?;
/// assert_eq!(uids.worker_id(), 1);
/// # Ok::<(), uidring::BuildError>(())
/// ```
#[cfg_attr(
    feature = "contract",
    doc = "\n[`contract::check`] tests any registry against this contract."
)]
pub trait WorkerRegistry: Send + 'static {
    /// A worker id that nobody else holds, at most `layout.max_worker()`, with ticks that nobody
    /// else has had, at most `layout.max_tick()`.
    ///
    /// # Errors
    ///
    /// [`RegistryError`] if there is none, or none can be had now. A failure uses nothing up.
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError>;

    /// Reserves further ticks for the holder of `lease`, up to `last`, and shows that it is alive.
    /// Returns the last tick reserved, which is never below `lease.last`: a generator that is told
    /// less ends for good. With a permanent id all of them are reserved already.
    ///
    /// # Errors
    ///
    /// [`RegistryError::LeaseLost`] if another has taken the id over: the ticks of `lease` are
    /// still the holder's, but no more will be. Any other error leaves it open whether the
    /// reservation was made: the holder goes on with what it has, and tries again.
    fn reserve(&mut self, lease: &Lease, last: u64) -> Result<u64, RegistryError> {
        let _ = last;
        Ok(lease.last)
    }

    /// Gives the id back. Its holder has used no tick after `used`, and will use none.
    ///
    /// # Errors
    ///
    /// [`RegistryError`] if the registry cannot be written: the id is free when the lease has
    /// expired.
    fn release(&mut self, lease: &Lease, used: u64) -> Result<(), RegistryError> {
        let _ = (lease, used);
        Ok(())
    }

    /// The name of the registry for people, such as its file, or its address without the password.
    /// The event of a start shows it.
    fn name(&self) -> String {
        std::any::type_name::<Self>().to_owned()
    }

    /// When an id was given last, if the registry knows: by this a generator that has a
    /// [`max_forward_jump`](crate::Builder::max_forward_jump) judges the clock at its start.
    ///
    /// # Errors
    ///
    /// [`RegistryError`] if the registry cannot be read.
    fn last_assigned(&mut self) -> Result<Option<SystemTime>, RegistryError> {
        Ok(None)
    }

    /// The layout that the registry was first used with, if it knows:
    /// [`Builder::remembered_layout`](crate::Builder::remembered_layout) asks for it.
    ///
    /// # Errors
    ///
    /// [`RegistryError`] if the registry cannot be read.
    fn remembered_layout(&mut self) -> Result<Option<Layout>, RegistryError> {
        Ok(None)
    }

    /// The worker ids of `layout` that it gives in order, if these can run out:
    /// [`Status::worker_ids_left`](crate::Status::worker_ids_left) counts them. It does not call a
    /// server.
    fn worker_ids_of(&self, layout: &Layout) -> Option<RangeInclusive<u64>> {
        let _ = layout;
        None
    }

    /// How far the clock of this machine was ahead of the registry's at the last call that has
    /// shown it, in milliseconds; negative if it was behind. `None` where the registry has no clock
    /// of its own, or has shown none yet. It does not call a server.
    fn clock_skew_ms(&self) -> Option<i64> {
        None
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

    fn name(&self) -> String {
        (**self).name()
    }

    fn last_assigned(&mut self) -> Result<Option<SystemTime>, RegistryError> {
        (**self).last_assigned()
    }

    fn remembered_layout(&mut self) -> Result<Option<Layout>, RegistryError> {
        (**self).remembered_layout()
    }

    fn worker_ids_of(&self, layout: &Layout) -> Option<RangeInclusive<u64>> {
        (**self).worker_ids_of(layout)
    }

    fn clock_skew_ms(&self) -> Option<i64> {
        (**self).clock_skew_ms()
    }
}

/// What a generator asks of a registry. Ticks are counted from the epoch of the layout.
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
    /// What a generator of `layout` asks at the tick `now`, if it can begin at `latest` or sooner:
    /// for tests of a registry.
    ///
    /// ```
    /// use uidring::Layout;
    /// use uidring::registry::{FixedWorker, Request, WorkerRegistry};
    ///
    /// let layout = Layout::DEFAULT;
    /// let request = Request::new(layout, 10_000_000, layout.max_tick());
    /// let lease = FixedWorker::new(7).assign(&request)?;
    /// assert_eq!((lease.worker, lease.first, lease.last), (7, 10_000_000, layout.max_tick()));
    /// # Ok::<(), uidring::RegistryError>(())
    /// ```
    #[must_use]
    pub fn new(layout: Layout, now: u64, latest: u64) -> Request {
        Request { layout, now, latest }
    }
}

/// The right to a worker id, and to its ticks from `first` to `last`, counted from the epoch of the
/// layout.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lease {
    /// The worker id.
    pub worker: u64,
    /// The first tick that the holder may use.
    pub first: u64,
    /// The last one, so far.
    pub last: u64,
    /// Whether the id is given for ever.
    pub kind: LeaseKind,
}

/// Whether a worker id is given for ever, or for a time.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LeaseKind {
    /// The id is given once, with all ticks up to the layout's last. One from the first tick on,
    /// which is 0, was never used before, and is good for
    /// [ids of the past](crate::Builder::build_past).
    Permanent,
    /// The id is given for a time. Its holder reserves further ticks as it goes.
    Leased {
        /// After how long without a reservation the id may be given to another.
        duration: Duration,
        /// How the registry tells this holder from those before and after it.
        holder: String,
    },
}

impl Lease {
    /// An id that is given once, with all its ticks.
    ///
    /// ```
    /// use uidring::Layout;
    /// use uidring::registry::Lease;
    ///
    /// let lease = Lease::permanent(7, &Layout::DEFAULT);
    /// assert_eq!((lease.worker, lease.first), (7, 0));
    /// assert_eq!(lease.last, Layout::DEFAULT.max_tick());
    /// ```
    #[must_use]
    pub fn permanent(worker: u64, layout: &Layout) -> Lease {
        Lease { worker, first: 0, last: layout.max_tick(), kind: LeaseKind::Permanent }
    }

    /// An id that is given for a time, with these `ticks` for a start. Without a reservation for
    /// `duration`, the registry may give it to another. `holder` is how the registry tells this
    /// lease from the ones before and after it.
    ///
    /// ```
    /// use std::time::Duration;
    /// use uidring::Layout;
    /// use uidring::registry::Lease;
    ///
    /// let now = 10_000_000;
    /// let lease = Lease::leased(7, now..=now + 60, Duration::from_secs(60), "a1b2");
    /// assert_eq!(lease.duration(), Some(Duration::from_secs(60)));
    /// ```
    #[must_use]
    pub fn leased(
        worker: u64,
        ticks: RangeInclusive<u64>,
        duration: Duration,
        holder: impl Into<String>,
    ) -> Lease {
        let (first, last) = ticks.into_inner();
        Lease { worker, first, last, kind: LeaseKind::Leased { duration, holder: holder.into() } }
    }

    /// After how long without a reservation the id may be given to another; `None` for a permanent
    /// one.
    #[must_use]
    pub fn duration(&self) -> Option<Duration> {
        match self.kind {
            LeaseKind::Permanent => None,
            LeaseKind::Leased { duration, .. } => Some(duration),
        }
    }

    pub(crate) fn is_permanent(&self) -> bool {
        self.kind == LeaseKind::Permanent
    }

    /// Whether it is one of a generator of `layout`: registries are written by others, too.
    pub(crate) fn check(self, layout: &Layout) -> Result<Lease, RegistryError> {
        let Lease { worker, first, last, .. } = self;
        let (max_worker, max) = (layout.max_worker(), layout.max_tick());
        if worker > max_worker {
            return Err(RegistryError::WorkerRange { worker, max: max_worker });
        }
        if first > last || last > max || self.is_permanent() && last < max {
            return Err(RegistryError::LeaseRange { worker, first, last, max });
        }
        Ok(self)
    }

    /// Whether `other` is the same one, perhaps with other ticks reserved.
    pub(crate) fn is(&self, other: &Lease) -> bool {
        (self.worker, self.first, &self.kind) == (other.worker, other.first, &other.kind)
    }
}

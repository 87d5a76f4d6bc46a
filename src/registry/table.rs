//! What the registries in databases share: the rows, and how an id is given in one transaction.

use std::time::{Duration, SystemTime};

use super::host::{Host, WorkerKind};
use super::{Lease, Request};
use crate::layout::Layout;
use crate::registry::RegistryError;

/// Shorter leases would be over before they are written.
const SHORTEST_LEASE: Duration = Duration::from_secs(1);

/// A worker id, as the registry remembers it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Worker {
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
    pub lease: Option<WorkerLease>,
}

/// The lease of a [`Worker`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerLease {
    /// How the registry knows the generator that has the id; `None` when it was given back.
    pub holder: Option<String>,
    /// The last second that any holder may use, in ticks of the layout since its epoch.
    pub reserved_until: u64,
    /// When the id may be given to another, by the database's clock.
    pub until: SystemTime,
}

/// How a registry gives ids.
#[derive(Clone, Debug)]
pub(super) struct Terms {
    pub host: Option<Host>,
    /// How long a lease lasts; `None` for fresh ids.
    pub lease: Option<Duration>,
    /// Of how many parts of the worker field this registry has which one.
    pub partition: Partition,
}

/// The worker ids `index * size ..= (index + 1) * size - 1`, where `of * size` are those of the
/// layout; never 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Partition {
    pub index: u64,
    pub of: u64,
}

impl Partition {
    pub const WHOLE: Partition = Partition { index: 0, of: 1 };

    /// The first and the last id. The first is larger where a part of the field has no id.
    pub fn ids(self, layout: &Layout) -> (u64, u64) {
        let size = (layout.max_worker() + 1) / self.of;
        ((self.index * size).max(1), ((self.index + 1) * size).saturating_sub(1))
    }
}

impl Terms {
    pub const FRESH: Terms = Terms { host: None, lease: None, partition: Partition::WHOLE };

    pub fn leased(&mut self, duration: Duration) {
        self.lease = Some(duration.max(SHORTEST_LEASE));
    }

    fn host(&self) -> Host {
        self.host.clone().unwrap_or_else(Host::detect)
    }
}

/// Why a call fails, before it is known to which registry it was made.
pub(super) enum Fault<E> {
    /// As the caller gets it.
    Known(RegistryError),
    /// A sentence about the registry.
    Problem(String),
    /// In the words of the driver.
    Driver(E),
}

pub(super) const NO_LAYOUT: &str =
    "its table uidring_layout holds numbers that are no layout; put back what was there";

/// A leased id that nobody holds.
pub(super) struct Free {
    pub worker: u64,
    pub reserved_until: u64,
}

/// Who takes an id, and for how long.
pub(super) struct Tenancy<'a> {
    pub host: &'a Host,
    pub holder: &'a str,
    pub reserved_until: u64,
    pub duration_ms: i64,
}

/// The tables, in one transaction that no other of a start overlaps. Holders reserve meanwhile.
pub(super) trait Tables {
    type Error;

    /// The layout and partition that the registry was first used with.
    fn used_with(&mut self) -> Result<Option<(Layout, Partition)>, Fault<Self::Error>>;

    /// Remembers them. The first new id will be `first`.
    fn use_with(
        &mut self,
        layout: &Layout,
        partition: Partition,
        first: u64,
    ) -> Result<(), Fault<Self::Error>>;

    /// The largest id ever given, that of a deleted row too; or what the next one follows.
    fn largest_given(&mut self) -> Result<u64, Fault<Self::Error>>;

    /// Stores an id that was never given before, and returns it: one more than the largest.
    fn insert(&mut self, host: &Host) -> Result<u64, Fault<Self::Error>>;

    /// The id whose lease has expired and whose seconds ended first, if that was before `latest`.
    fn free(&mut self, latest: u64) -> Result<Option<Free>, Fault<Self::Error>>;

    /// Gives a new id for a time.
    fn lend(&mut self, worker: u64, tenancy: &Tenancy<'_>) -> Result<(), Fault<Self::Error>>;

    /// Gives an id again. False when its holder has come back to life, and reserved further, since
    /// it was found free.
    fn lend_again(
        &mut self,
        free: &Free,
        tenancy: &Tenancy<'_>,
    ) -> Result<bool, Fault<Self::Error>>;
}

/// Gives an id. The caller commits.
pub(super) fn give<T: Tables>(
    tables: &mut T,
    terms: &Terms,
    request: &Request,
) -> Result<Lease, Fault<T::Error>> {
    let (layout, partition) = (request.layout, terms.partition);
    let (first_id, last_id) = partition.ids(&layout);
    match tables.used_with()? {
        None => tables.use_with(&layout, partition, first_id)?,
        Some((remembered, _)) if remembered != layout => {
            return Err(Fault::Known(RegistryError::OtherLayout { remembered, asked: layout }));
        }
        Some((_, Partition { index, of })) if partition != (Partition { index, of }) => {
            return Err(Fault::Problem(format!(
                "it was first used with partition {index} of {of}, and not with {} of {}: its ids could be another \
                 machine's; give each machine one partition, for ever",
                partition.index, partition.of
            )));
        }
        Some(_) => {}
    }
    let host = terms.host();
    let Some(duration) = terms.lease else {
        return Ok(Lease::fresh(new_worker(tables, &host, first_id, last_id)?, &layout));
    };
    let holder = new_holder()?;
    let lease = |worker, first: u64| Lease {
        worker,
        first,
        last: first.saturating_add(layout.ticks_in(duration)).min(layout.max_tick()),
        duration: Some(duration),
        holder: holder.clone(),
    };
    let tenancy = |lease: &Lease| Tenancy {
        host: &host,
        holder: &holder,
        reserved_until: lease.last,
        duration_ms: whole_ms(duration),
    };
    while let Some(free) = tables.free(request.latest)? {
        let lease = lease(free.worker, request.now.max(free.reserved_until + 1));
        if tables.lend_again(&free, &tenancy(&lease))? {
            return Ok(lease);
        }
    }
    let lease = lease(new_worker(tables, &host, first_id, last_id)?, request.now);
    tables.lend(lease.worker, &tenancy(&lease))?;
    Ok(lease)
}

/// The name of a lease. Each has its own, so that nothing that is left of one fits another.
fn new_holder<E>() -> Result<String, Fault<E>> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| {
        Fault::Problem(format!("the system has no random numbers to name a lease by: {error}"))
    })?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}

/// A new id, if there is one from `first` to `last`.
fn new_worker<T: Tables>(
    tables: &mut T,
    host: &Host,
    first: u64,
    last: u64,
) -> Result<u64, Fault<T::Error>> {
    let given = tables.largest_given()?;
    if given >= last {
        let capacity = (last + 1).saturating_sub(first);
        return Err(Fault::Known(RegistryError::Exhausted { used: capacity, capacity }));
    }
    tables.insert(host)
}

/// The layout of a row's numbers, if they are one.
pub(super) fn layout_of(widths: [u32; 3], tick_ms: u64, epoch_ms: i64) -> Option<Layout> {
    let [time_bits, worker_bits, sequence_bits] = widths;
    let layout = Layout::new(time_bits, worker_bits, sequence_bits).ok()?;
    layout.with_tick(Duration::from_millis(tick_ms)).ok()?.with_epoch(from_unix_ms(epoch_ms)?).ok()
}

/// A layout's tick in milliseconds: one second at most.
pub(super) fn tick_ms(layout: &Layout) -> u16 {
    u16::try_from(layout.tick().as_millis()).unwrap_or(u16::MAX)
}

pub(super) fn whole_ms(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX / 4).min(i64::MAX / 4)
}

/// Milliseconds from 1970 to a time of whole milliseconds. An epoch out of range was refused when
/// it was made.
pub(super) fn unix_ms(time: SystemTime) -> i64 {
    let count = |distance: Duration| i64::try_from(distance.as_millis()).unwrap_or(i64::MAX);
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => count(since),
        Err(before) => -count(before.duration()),
    }
}

pub(super) fn from_unix_ms(ms: i64) -> Option<SystemTime> {
    let distance = Duration::from_millis(ms.unsigned_abs());
    if ms < 0 {
        SystemTime::UNIX_EPOCH.checked_sub(distance)
    } else {
        SystemTime::UNIX_EPOCH.checked_add(distance)
    }
}

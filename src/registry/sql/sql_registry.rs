//! The registries in databases, as users have them: one type for all kinds.

use std::ops::RangeInclusive;
use std::time::{Duration, SystemTime};

use super::records;
use super::worker_table::{self, Tables};
use crate::backend::error::random_text;
use crate::backend::sql::{Access, Call, Client, Error, OnMissing, Transaction};
use crate::layout::Layout;
use crate::registry::admin::{RegistryAdmin, WorkerCounts, WorkerRecord};
use crate::registry::assignment::{AssignedIds, Config, Fault, lease_of, next_id};
use crate::registry::{Lease, LeaseKind, RegistryError, Request, WorkerRegistry};
use crate::sync::{Mutex, lock};

/// Worker ids from a database. What is particular to each kind of database stands at its own name:
#[cfg_attr(feature = "sqlite", doc = "[`SqliteRegistry`](super::SqliteRegistry),")]
#[cfg_attr(feature = "postgres", doc = "[`PostgresRegistry`](super::PostgresRegistry),")]
#[cfg_attr(feature = "mysql", doc = "[`MySqlRegistry`](super::MySqlRegistry),")]
/// as the features have them. [`RegistryAdmin`] lists the ids that were given.
#[derive(Clone, Debug)]
pub struct SqlRegistry<D> {
    pub(crate) client: Client<D>,
    pub(crate) config: Config,
    /// What all clones have been given. It lets a running process notice that other tables have
    /// replaced its own.
    assigned: AssignedIds,
}

impl<D: Tables> SqlRegistry<D> {
    /// Sets how long a call may take: five seconds unless set.
    ///
    /// A server that does not answer in that time counts as down. In a file, this is how long a
    /// call waits while others have the file locked; a start holds the lock for milliseconds.
    ///
    /// ```no_run
    /// # #[cfg(feature = "sqlite")] {
    /// # use std::time::Duration;
    /// # use uidring::registry::SqliteRegistry;
    /// let registry = SqliteRegistry::open("/srv/uidring.db")?;
    /// let registry = registry.with_timeout(Duration::from_secs(1));
    /// # }
    /// # Ok::<(), uidring::RegistryError>(())
    /// ```
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.client.timeout = timeout;
        self
    }

    /// Sets the host name and the port that the rows show, in place of those found.
    ///
    /// They inform those who read the table. Worker ids do not depend on them.
    ///
    /// ```no_run
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::registry::SqliteRegistry;
    /// let registry = SqliteRegistry::open("/srv/uidring.db")?.with_host("orders-3", "8080");
    /// # }
    /// # Ok::<(), uidring::RegistryError>(())
    /// ```
    #[must_use]
    pub fn with_host(mut self, name: &str, port: &str) -> Self {
        self.config.set_host(name, port);
        self
    }

    /// Gives ids for a time: when a generator has reserved no ticks for `duration`, another may
    /// have its id, from a tick after those reserved. Ids are given back at a clean stop, and
    /// recycled, those free for longest first.
    ///
    /// Uniqueness does not rest on the duration, nor on a clock. A shorter one recycles sooner and
    /// writes more often; an idle generator writes twice in it. A generator that is cut off from a
    /// server goes on for as long as its reservation lasts: at least half of the duration, at the
    /// layout's rate.
    ///
    /// A stop is clean when the generator is dropped or shut down. A process that is killed does
    /// neither, nor one that calls `std::process::exit`, or that returns from `main` with its
    /// generator in a static, as [`install`](crate::install) keeps it. Then the id stays held until
    /// its lease expires.
    ///
    /// ```no_run
    /// # #[cfg(feature = "sqlite")] {
    /// # use std::time::Duration;
    /// # use uidring::registry::SqliteRegistry;
    /// let registry = SqliteRegistry::open("/srv/uidring.db")?.leased(Duration::from_secs(600));
    /// # }
    /// # Ok::<(), uidring::RegistryError>(())
    /// ```
    #[must_use]
    pub fn leased(mut self, duration: Duration) -> Self {
        self.config.leased(duration);
        self
    }

    /// Gives only the ids of one of `of` equal parts of the worker field, that with the number
    /// `index`, counted from 0: for registries that do not know of each other, such as machines
    /// that each have a file of their own, or data centres that each have a server of their own.
    /// `of` stays, as parts of another number of parts have the same ids: choose it for the most
    /// registries that there will ever be. With [`worker_ids`](Self::worker_ids), only those ids of
    /// the part are given.
    ///
    /// The registry remembers its ids, and refuses others.
    ///
    /// ```no_run
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::registry::SqliteRegistry;
    /// // The third of sixteen machines.
    /// let registry = SqliteRegistry::open("/srv/uidring.db")?.partition(2, 16)?;
    /// # }
    /// # Ok::<(), uidring::RegistryError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`RegistryError::Partition`] when `index` is not below `of`, or there are more parts than
    /// any layout has ids.
    pub fn partition(mut self, index: u64, of: u64) -> Result<Self, RegistryError> {
        self.config.partition(index, of)?;
        Ok(self)
    }

    /// Gives only these worker ids, which must all be of the layout. The others are left to other
    /// generators, such as those of a system that a service moves over from. The id 0 is not given.
    ///
    /// The registry remembers its ids, and refuses others.
    ///
    /// ```no_run
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::registry::SqliteRegistry;
    /// // Leaf has the ids up to 31.
    /// let registry = SqliteRegistry::open("/srv/uidring.db")?.worker_ids(32..=1023)?;
    /// # }
    /// # Ok::<(), uidring::RegistryError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`RegistryError::WorkerIds`] when there is no id but 0 among `ids`, or one that no layout
    /// has.
    pub fn worker_ids(mut self, ids: RangeInclusive<u64>) -> Result<Self, RegistryError> {
        self.config.worker_ids(&ids)?;
        Ok(self)
    }

    /// The registry in `database`, which errors call `name`.
    pub(crate) fn new(name: &str, database: Result<D, Error>) -> Result<Self, RegistryError> {
        let storage_error = |error: Error| {
            error.into_storage_error(&D::PHRASES, name, "open the registry", Duration::ZERO)
        };
        Ok(SqlRegistry::on(Client::new(database.map_err(storage_error)?)))
    }

    /// The registry in the database that `client` calls.
    pub(crate) fn on(client: Client<D>) -> Self {
        SqlRegistry { client, config: Config::PERMANENT, assigned: AssignedIds::default() }
    }

    /// Checks whether there is a registry, without reading more.
    #[cfg(feature = "sqlite")]
    pub(crate) fn check(&self) -> Result<(), RegistryError> {
        self.read(|_| Ok(()))
    }

    /// The error of an operation outside a transaction. `doing` describes it.
    pub(super) fn call_error(&self, doing: &str, error: Error) -> RegistryError {
        self.client.storage_error(&D::PHRASES, doing, error).into()
    }

    fn read<T: Send>(
        &self,
        body: impl Fn(&mut Transaction<'_>) -> Result<T, Error> + Sync,
    ) -> Result<T, RegistryError> {
        self.client
            .transact(&Self::READ, &OnMissing::Fail, None, |transaction| Ok(body(transaction)?))
    }

    /// Runs `body` in a reading transaction. `None` if the tables are yet to be created.
    fn read_if_used<T: Send>(
        &self,
        body: impl Fn(&mut Transaction<'_>) -> Result<Option<T>, Error> + Sync,
    ) -> Result<Option<T>, RegistryError> {
        let unmade = || Ok(None);
        let body = |transaction: &mut Transaction<'_>| Ok(body(transaction)?);
        self.client.transact(&Self::READ, &OnMissing::Fail, Some(&unmade), body)
    }

    fn write<T: Send>(
        &self,
        doing: &str,
        body: impl Fn(&mut Transaction<'_>) -> Result<T, Fault> + Sync,
    ) -> Result<T, RegistryError> {
        let call = Call { doing, ..Self::ASSIGN };
        self.client.transact(&call, &OnMissing::Fail, None, body)
    }

    const READ: Call<'static> = Call {
        schema: &D::SCHEMA,
        phrases: &D::PHRASES,
        doing: "read the registry",
        access: Access::Read,
    };
    const ASSIGN: Call<'static> =
        Call { doing: "store a worker id in the registry", access: Access::Write, ..Self::READ };
}

impl<D: Tables> WorkerRegistry for SqlRegistry<D> {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        let assigned = self.assigned.snapshot();
        let may_create = |transaction: &mut Transaction<'_>| {
            worker_table::check_first_use::<D>(transaction, &self.config, request)
        };
        let assign = |transaction: &mut Transaction<'_>| {
            worker_table::assign::<D>(transaction, &self.config, request, &assigned)
        };
        let missing = OnMissing::Create(&may_create);
        let (lease, created, is_new) =
            self.client.transact(&Self::ASSIGN, &missing, None, assign)?;
        if is_new {
            self.client.warn_if_new();
        }
        self.assigned.add(&lease, created);
        Ok(lease)
    }

    fn reserve(&mut self, lease: &Lease, last: u64) -> Result<u64, RegistryError> {
        let LeaseKind::Leased { duration, holder } = &lease.kind else { return Ok(lease.last) };
        let assigned = self.assigned.snapshot();
        self.write("reserve ticks in the registry", |transaction| {
            worker_table::reserve::<D>(
                transaction,
                lease.worker,
                holder,
                *duration,
                last,
                &assigned,
            )
        })?;
        self.assigned.reserved(lease.worker, last);
        Ok(last)
    }

    fn release(&mut self, lease: &Lease, used: u64) -> Result<(), RegistryError> {
        let LeaseKind::Leased { holder, .. } = &lease.kind else { return Ok(()) };
        self.assigned.releasing(lease.worker, used);
        self.write("give a worker id back to the registry", |transaction| {
            worker_table::release::<D>(transaction, lease.worker, holder, used)
        })
    }

    fn name(&self) -> String {
        self.client.database.name()
    }

    fn last_assigned(&mut self) -> Result<Option<SystemTime>, RegistryError> {
        self.read_if_used(worker_table::last_assigned::<D>)
    }

    fn remembered_layout(&mut self) -> Result<Option<Layout>, RegistryError> {
        self.layout()
    }

    fn worker_ids_of(&self, layout: &Layout) -> Option<RangeInclusive<u64>> {
        self.config.ids.of(layout).ok()
    }

    fn clock_skew_ms(&self) -> Option<i64> {
        self.assigned.clock_skew_ms()
    }
}

impl<D: Tables> RegistryAdmin for SqlRegistry<D> {
    fn workers(&self) -> Result<Vec<WorkerRecord>, RegistryError> {
        self.read(records::workers::<D>)
    }

    fn workers_below(&self, end: u64, most: usize) -> Result<Vec<WorkerRecord>, RegistryError> {
        self.read(|transaction| records::workers_below::<D>(transaction, end, most))
    }

    fn count_workers(&self, now: SystemTime) -> Result<WorkerCounts, RegistryError> {
        self.read(|transaction| records::count_workers::<D>(transaction, now))
    }

    fn largest_given(&self) -> Result<u64, RegistryError> {
        self.read(worker_table::largest_given::<D>)
    }

    fn layout(&self) -> Result<Option<Layout>, RegistryError> {
        let read_state =
            |transaction: &mut Transaction<'_>| worker_table::read_state::<D>(transaction, false);
        Ok(self.read_if_used(read_state)?.map(|(layout, _)| layout))
    }

    fn ids(&self) -> Result<Option<RangeInclusive<u64>>, RegistryError> {
        let read_state =
            |transaction: &mut Transaction<'_>| worker_table::read_state::<D>(transaction, false);
        Ok(self.read_if_used(read_state)?.map(|(_, ids)| ids))
    }

    fn try_assign(&self, request: &Request) -> Result<Lease, RegistryError> {
        let assigned = AssignedIds::default().snapshot();
        // Where there are no tables yet, this is all that can be looked at.
        let first = Mutex::new(None);
        let may_create = |transaction: &mut Transaction<'_>| {
            worker_table::check_first_use::<D>(transaction, &self.config, request)?;
            *lock(&first) = Some(first_lease(&self.config, request)?);
            Ok(())
        };
        let lease = self.client.try_out(&Self::ASSIGN, &may_create, |transaction| {
            Ok(worker_table::assign::<D>(transaction, &self.config, request, &assigned)?.0)
        })?;
        let first = || lock(&first).take();
        lease.or_else(first).ok_or_else(|| RegistryError::other("no worker id was tried out"))
    }

    fn revoke(&self, worker: u64) -> Result<(), RegistryError> {
        let doing = "revoke a lease in the registry";
        self.write(doing, |transaction| worker_table::revoke::<D>(transaction, worker))
    }
}

/// The lease that a registry gives first, where nobody has used it.
fn first_lease(config: &Config, request: &Request) -> Result<Lease, Fault> {
    let layout = &request.layout;
    let worker = next_id(0, &config.ids.of(layout)?)?;
    Ok(match config.lease {
        None => Lease::permanent(worker, layout),
        Some(duration) => lease_of(layout, duration, &random_text()?, worker, request.now),
    })
}

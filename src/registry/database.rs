//! The registries in databases, as users have them: one type for all kinds.

use std::ops::RangeInclusive;
use std::time::{Duration, SystemTime};

use super::admin::{RegistryAdmin, WorkerRecord};
use super::host::Host;
use super::records;
use super::table::{self, Config, Fault, Given, Tables};
use super::{Lease, LeaseKind, RegistryError, Request, WorkerRegistry};
use crate::layout::Layout;
#[cfg(feature = "mysql")]
use crate::store::sql::Schema;
use crate::store::sql::{self, Access, Deadline, Error, Failure, Missing, Transaction, Words};
use crate::sync::{Arc, Mutex, lock};

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);
/// The widest worker field has 42 bits.
const MOST_IDS: u64 = 1 << 42;

/// Worker ids from a database. What is particular to each kind of database stands at its own name:
#[cfg_attr(feature = "sqlite", doc = "[`SqliteRegistry`](super::SqliteRegistry),")]
#[cfg_attr(feature = "postgres", doc = "[`PostgresRegistry`](super::PostgresRegistry),")]
#[cfg_attr(feature = "mysql", doc = "[`MySqlRegistry`](super::MySqlRegistry),")]
/// as the features have them. [`RegistryAdmin`] lists the ids that were given.
#[derive(Clone, Debug)]
pub struct SqlRegistry<D> {
    pub(super) database: D,
    pub(super) timeout: Duration,
    pub(super) config: Config,
    /// What its calls have seen, and those of its clones. So a process that runs notices where its
    /// tables have been lost, or others stand in their place.
    seen: Arc<Mutex<Seen>>,
}

/// What a registry has seen of its tables.
#[derive(Debug, Default)]
struct Seen {
    /// Whether they were there.
    tables: bool,
    given: Given,
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
    /// let registry = SqliteRegistry::open("uidring.db")?.with_timeout(Duration::from_secs(1));
    /// # }
    /// # Ok::<(), uidring::RegistryError>(())
    /// ```
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets the host name and the port that the rows show, in place of those found.
    ///
    /// They inform those who read the table. Worker ids do not depend on them.
    ///
    /// ```no_run
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::registry::SqliteRegistry;
    /// let registry = SqliteRegistry::open("uidring.db")?.with_host("orders-3", "8080");
    /// # }
    /// # Ok::<(), uidring::RegistryError>(())
    /// ```
    #[must_use]
    pub fn with_host(mut self, name: &str, port: &str) -> Self {
        self.config.host = Some(Host::new(name, port));
        self
    }

    /// Gives ids for a time: when a generator has reserved no ticks for `duration`, another may
    /// have its id, from a tick after those reserved. Ids are given back at a clean stop, and
    /// recycled, those free for longest first.
    ///
    /// Uniqueness does not rest on the duration, nor on a clock. A shorter one recycles sooner and
    /// writes more often; an idle generator writes twice in it. A generator that is cut off from a
    /// server goes on for as long as it has reserved: the duration at least, and longer the busier
    /// it is.
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
    /// let registry = SqliteRegistry::open("uidring.db")?.leased(Duration::from_secs(600));
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
    /// With [`worker_ids`](Self::worker_ids), only those ids of the part are given.
    ///
    /// The registry remembers its ids, and refuses others.
    ///
    /// ```no_run
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::registry::SqliteRegistry;
    /// // The third of sixteen machines.
    /// let registry = SqliteRegistry::open("uidring.db")?.partition(2, 16)?;
    /// # }
    /// # Ok::<(), uidring::RegistryError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`RegistryError::Partition`] when `index` is not below `of`, or there are more parts than
    /// any layout has ids.
    pub fn partition(mut self, index: u64, of: u64) -> Result<Self, RegistryError> {
        if index >= of || of > MOST_IDS {
            return Err(RegistryError::Partition { index, of });
        }
        self.config.ids.part = Some((index, of));
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
    /// let registry = SqliteRegistry::open("uidring.db")?.worker_ids(32..=1023)?;
    /// # }
    /// # Ok::<(), uidring::RegistryError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`RegistryError::WorkerIds`] when there is no id but 0 among `ids`, or one that no layout
    /// has.
    pub fn worker_ids(mut self, ids: RangeInclusive<u64>) -> Result<Self, RegistryError> {
        let (first, last) = (*ids.start(), *ids.end());
        if last == 0 || first > last || last >= MOST_IDS {
            return Err(RegistryError::WorkerIds { first, last });
        }
        self.config.ids.range = Some((first, last));
        Ok(self)
    }

    /// The registry in `database`, which errors call `name`.
    pub(crate) fn new(name: String, database: Result<D, Error>) -> Result<Self, RegistryError> {
        let database = database
            .map_err(|error| explain(name, "open", error.in_words(&D::WORDS), Duration::ZERO))?;
        Ok(SqlRegistry::on(database))
    }

    /// The registry in `database`.
    pub(crate) fn on(database: D) -> Self {
        let (timeout, config, seen) = (DEFAULT_TIMEOUT, Config::PERMANENT, Arc::default());
        SqlRegistry { database, timeout, config, seen }
    }

    /// Looks whether there is a registry, and nothing more.
    #[cfg(feature = "sqlite")]
    pub(crate) fn check(&self) -> Result<(), RegistryError> {
        self.read(|_| Ok(()))
    }

    /// Whether this registry or a clone of it has seen its tables.
    #[cfg(feature = "sqlite")]
    pub(super) fn has_seen_tables(&self) -> bool {
        lock(&self.seen).tables
    }

    /// The error of something other than a transaction that could not do what it was `doing`.
    pub(super) fn explain(&self, doing: &str, error: Error) -> RegistryError {
        explain(self.database.name(), doing, error.in_words(&D::WORDS), self.timeout)
    }

    fn read<T: Send>(
        &self,
        body: impl Fn(&mut Transaction<'_>) -> Result<T, Error> + Sync,
    ) -> Result<T, RegistryError> {
        self.transact("read", Access::Read, None, |transaction| Ok(body(transaction)?))
    }

    /// What `body` reads, or `None` where the first use has yet to make the tables.
    fn read_if_used<T: Send>(
        &self,
        body: impl Fn(&mut Transaction<'_>) -> Result<Option<T>, Error> + Sync,
    ) -> Result<Option<T>, RegistryError> {
        let deadline = Deadline::after(self.timeout);
        let body = |transaction: &mut Transaction<'_>| Ok(body(transaction)?);
        match self.try_transact(&deadline, Access::Read, None, body) {
            Err(Fault::Database(Error::NoTables(_))) if D::MAKES_TABLES => Ok(None),
            result => result.map_err(|fault| self.told(fault, &D::WORDS, "read", &deadline)),
        }
    }

    fn write<T: Send>(
        &self,
        doing: &str,
        body: impl Fn(&mut Transaction<'_>) -> Result<T, Fault> + Sync,
    ) -> Result<T, RegistryError> {
        self.transact(doing, Access::Write, None, body)
    }

    /// Makes a transaction. Where the tables have never been there, they are made, if `make` is
    /// given and does not refuse it.
    fn transact<T: Send>(
        &self,
        doing: &str,
        access: Access,
        make: Option<&Make<'_>>,
        body: impl Fn(&mut Transaction<'_>) -> Result<T, Fault> + Sync,
    ) -> Result<T, RegistryError> {
        let deadline = Deadline::after(self.timeout);
        let result = self.try_transact(&deadline, access, make, body);
        result.map_err(|fault| self.told(fault, &D::WORDS, doing, &deadline))
    }

    fn try_transact<T: Send>(
        &self,
        deadline: &Deadline,
        access: Access,
        make: Option<&Make<'_>>,
        body: impl Fn(&mut Transaction<'_>) -> Result<T, Fault> + Sync,
    ) -> Result<T, Fault> {
        let missing = match make {
            _ if lock(&self.seen).tables => Missing::Gone,
            Some(make) => Missing::Make(make),
            None => Missing::Fail,
        };
        let result = sql::transact(&self.database, &D::SCHEMA, deadline, access, &missing, body)?;
        lock(&self.seen).tables = true;
        Ok(result)
    }

    /// Makes a transaction on tables of others, those of `schema`, whose errors are told in
    /// `words`.
    #[cfg(feature = "mysql")]
    pub(super) fn transact_on<T: Send>(
        &self,
        schema: &Schema,
        words: &Words,
        doing: &str,
        access: Access,
        body: impl Fn(&mut Transaction<'_>) -> Result<T, Fault> + Sync,
    ) -> Result<T, RegistryError> {
        let deadline = Deadline::after(self.timeout);
        let result = sql::transact(&self.database, schema, &deadline, access, &Missing::Fail, body);
        result.map_err(|fault| self.told(fault, words, doing, &deadline))
    }

    /// The error of a call that could not do what it was `doing`.
    fn told(&self, fault: Fault, words: &Words, doing: &str, deadline: &Deadline) -> RegistryError {
        match fault {
            Fault::Refused(error) => error,
            Fault::Database(error) => {
                explain(self.database.name(), doing, error.in_words(words), deadline.waited())
            }
        }
    }
}

/// What may refuse that tables are made.
type Make<'a> = dyn Fn(&mut Transaction<'_>) -> Result<(), Fault> + Sync + 'a;

/// The error of a call that could not do what it was `doing`, as it found out after `waited`.
fn explain(registry: String, doing: &str, failure: Failure, waited: Duration) -> RegistryError {
    match failure {
        Failure::Unusable { problem, source } => RegistryError::Open { registry, problem, source },
        Failure::Locked => RegistryError::Locked { registry, waited },
        Failure::Unreachable { problem, source } => {
            RegistryError::Unreachable { registry, problem, source }
        }
        Failure::Full(source) => RegistryError::Full { registry, source },
        Failure::Other(source) => {
            RegistryError::Storage { doing: format!("{doing} the registry {registry}"), source }
        }
    }
}

impl<D: Tables> WorkerRegistry for SqlRegistry<D> {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        let given = lock(&self.seen).given.clone();
        let may_make = |transaction: &mut Transaction<'_>| {
            table::may_begin::<D>(transaction, &self.config, request)
        };
        let give = |transaction: &mut Transaction<'_>| {
            table::give::<D>(transaction, &self.config, request, &given)
        };
        let doing = "store a worker id in";
        let (lease, created) = self.transact(doing, Access::Write, Some(&may_make), give)?;
        lock(&self.seen).given.insert(lease.worker, created);
        Ok(lease)
    }

    fn reserve(&mut self, lease: &Lease, last: u64) -> Result<u64, RegistryError> {
        let LeaseKind::Leased { duration, holder } = &lease.kind else { return Ok(lease.last) };
        let given = lock(&self.seen).given.clone();
        self.write("reserve ticks in", |transaction| {
            table::reserve::<D>(transaction, lease.worker, holder, *duration, last, &given)
        })?;
        Ok(last)
    }

    fn release(&mut self, lease: &Lease, used: u64) -> Result<(), RegistryError> {
        let LeaseKind::Leased { holder, .. } = &lease.kind else { return Ok(()) };
        self.write("give a worker id back to", |transaction| {
            table::release::<D>(transaction, lease.worker, holder, used)
        })
    }

    fn name(&self) -> String {
        self.database.name()
    }

    fn last_assigned(&mut self) -> Result<Option<SystemTime>, RegistryError> {
        self.read_if_used(table::last_assigned::<D>)
    }
}

impl<D: Tables> RegistryAdmin for SqlRegistry<D> {
    fn workers(&self) -> Result<Vec<WorkerRecord>, RegistryError> {
        self.read(records::workers::<D>)
    }

    fn largest_given(&self) -> Result<u64, RegistryError> {
        self.read(table::largest_given::<D>)
    }

    fn layout(&self) -> Result<Option<Layout>, RegistryError> {
        let used_with =
            |transaction: &mut Transaction<'_>| table::used_with::<D>(transaction, false);
        Ok(self.read_if_used(used_with)?.map(|(layout, _)| layout))
    }

    fn ids(&self) -> Result<Option<RangeInclusive<u64>>, RegistryError> {
        let used_with =
            |transaction: &mut Transaction<'_>| table::used_with::<D>(transaction, false);
        Ok(self.read_if_used(used_with)?.map(|(_, ids)| ids))
    }

    fn try_out(&self, layout: &Layout) -> Result<(), RegistryError> {
        let request = &Request { layout: *layout, now: 0, latest: layout.max_tick() };
        let deadline = Deadline::after(self.timeout);
        let may_make = |transaction: &mut Transaction<'_>| {
            table::may_begin::<D>(transaction, &self.config, request)
        };
        let result =
            sql::try_out(&self.database, &D::SCHEMA, &deadline, &may_make, |transaction| {
                table::give::<D>(transaction, &self.config, request, &Given::default())
            });
        result.map_err(|fault| self.told(fault, &D::WORDS, "store a worker id in", &deadline))
    }

    fn revoke(&self, worker: u64) -> Result<(), RegistryError> {
        self.write("revoke a lease in", |transaction| table::revoke::<D>(transaction, worker))
    }
}

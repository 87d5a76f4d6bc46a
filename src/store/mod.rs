//! Stores: where worker ids and dense numbers are kept, each behind one address.
//!
//! [`Store`] is the one door to all of them:
//!
//! ```
//! # #[cfg(feature = "sqlite")] {
//! use uidring::segment::{Segments, Tag};
//! use uidring::{Store, UidGenerator};
//!
//! # let folder = tempfile::tempdir()?;
//! # let file = folder.path().join("uidring.db");
//! let store = Store::open(file)?; // or "postgres://ids@db.example.com/ids"
//! let uids = UidGenerator::builder().registry(store.registry()?).build()?;
//! let segments = Segments::builder().source(store.segments()?).build()?;
//! # let _ = uids.take()?;
//! # assert_eq!(segments.create("orders", Tag::new())?.take()?.get(), 1);
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | address | feature | worker ids | dense numbers |
//! |---|---|---|---|
//! | `/srv/ids.db`, `sqlite:/srv/ids.db` | `sqlite` (default) | yes | own table, Leaf's, tinyid's |
//! | `postgres://…`, `postgresql://…` | `postgres` | yes | own table, Leaf's, tinyid's |
//! | `mysql://…` | `mysql` | yes, also `UidGenerator`'s | own table, Leaf's, tinyid's |
//! | `etcd://…`, `etcds://…` with TLS | `etcd` | yes | own keys |
//! | `zookeeper://…`, `zookeepers://…` with TLS | `zookeeper` | yes, also Leaf's | own keys |
//! | `redis://…`, `rediss://…` with TLS | `redis` | yes | own keys, CosId's |
//!
//! Addresses of JDBC, and `mariadb://…`, are read as these: `jdbc:postgresql://db.example.com/ids`,
//! and those of `jdbc:mysql:`, `jdbc:mariadb:` and `jdbc:sqlite:`. Parameters that are about the
//! driver's own connections have no effect there. In each address, one that is not known is refused
//! by its name, and so is one with an `@`, which may be the end of a password: [`with_login`] takes
//! such a login.
//!
//! A file on a network file system is refused, as the locks there need not keep programs of several
//! machines apart. Where one machine alone has it open, or the locks are known to hold,
//! `sqlite:/mnt/ids/uidring.db?network_file_system=yes` takes it.
//!
//! A server that may forget what it has confirmed is refused, as ids could come again. For tests,
//! `postgres://ids@localhost/ids?only_for_tests=yes` takes one, and so do addresses of MySQL and
//! Redis: that of Testcontainers has `fsync = off`.
//!
//! What an address of a server may hold stands at the registry of its kind,
#![cfg_attr(feature = "postgres", doc = "[`PostgresRegistry`](crate::registry::PostgresRegistry),")]
#![cfg_attr(feature = "mysql", doc = "[`MySqlRegistry`],")]
//! and so do the promises of each store: those of the others at [`etcd`], [`zookeeper`] and
//! [`redis`]. A path that looks like an address begins with `./`. `docs/benchmarks/stores.md` has
//! what a call on each of them costs: 1 to 16 ms on a machine with two cores.
//!
//! # Passwords
//!
//! The user and the password stand before the host: `postgres://user:password@host/database`. In
//! both of them `/`, `@`, `#`, `?`, `:` and `%` are written as `%2F`, `%40`, `%23`, `%3F`, `%3A`
//! and `%25`.
//!
//! A password that changes while programs run, as those of Vault and of RDS with IAM do, is kept in
//! a file, which the address of any server may name:
//! `postgres://user@host/database?passfile=/run/secrets/ids`. The file holds the password and
//! nothing else, as it is, without escapes, and is read at each connection. For PostgreSQL, it may
//! also be one of libpq's, with lines such as `host:port:database:user:password`. Whatever writes
//! it puts a whole file in the place of the old one. [`Store::renew`] has a running store go by
//! another address.

mod address;
mod error;
pub mod etcd;
mod handles;
#[cfg(any(feature = "etcd", feature = "redis", feature = "zookeeper"))]
mod key_server;
mod kind;
#[cfg(feature = "_store")]
mod open_errors;
mod options;
mod other_clients;
pub mod redis;
#[cfg(any(feature = "mysql", feature = "postgres"))]
mod sql_server;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
mod sql_tables;
mod sqlite;
pub mod zookeeper;

pub use crate::backend::StorageError;
pub use crate::backend::address::redaction::without_password;
pub use address::path_of;
pub use error::StoreError;
pub use handles::{StoreRegistry, StoreSegments};
pub use options::{RegistryOptions, Table};
pub use other_clients::with_login;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::Path;
use std::time::Duration;

use address::{Address, is_on_network};
use kind::{Backend, Calls, Kind, Open};

use crate::backend::storage_error::other_store;
#[cfg(all(feature = "_store", feature = "lend"))]
use crate::lend::{LendError, PoolRecord, WorkerPool};
#[cfg(feature = "zookeeper")]
use crate::registry::LeafWorker;
#[cfg(feature = "mysql")]
use crate::registry::MySqlRegistry;
use crate::registry::RegistryError;
use crate::segment::{SegmentError, TinyIdToken};
#[cfg(feature = "series")]
use crate::series::SeriesStore;
use crate::sync::Arc;

/// The kinds of stores. The first is a file, which needs no scheme.
const KINDS: [Kind; 6] = [sqlite::KIND, POSTGRES, MYSQL, etcd::KIND, zookeeper::KIND, redis::KIND];

const POSTGRES: Kind = Kind {
    name: "PostgreSQL",
    feature: "postgres",
    schemes: &["postgres", "postgresql"],
    #[cfg(feature = "postgres")]
    open: Some(|address| {
        let at = crate::backend::sql::Postgres::at;
        sql_server::open(address, POSTGRES.schemes[0], at, None)
    }),
    #[cfg(not(feature = "postgres"))]
    open: None,
};

const MYSQL: Kind = Kind {
    name: "MySQL and MariaDB",
    feature: "mysql",
    schemes: &["mysql"],
    #[cfg(feature = "mysql")]
    open: Some(|address| {
        let uid_generator = |registry: MySqlRegistry| Box::new(registry.uid_generator()) as _;
        let at = crate::backend::sql::MySql::at;
        sql_server::open(address, MYSQL.schemes[0], at, Some(uid_generator))
    }),
    #[cfg(not(feature = "mysql"))]
    open: None,
};

/// Where worker ids and dense numbers are kept: a SQLite file, or a server.
///
/// It holds an address and no connection. Clones are cheap. [The page of the module](self) has an
/// example, and the addresses.
#[derive(Clone)]
pub struct Store {
    backend: Arc<dyn Backend>,
    calls: Calls,
}

impl Store {
    /// The store with this address: the path of a SQLite file, or the address of a server. Nothing
    /// is looked for there yet.
    ///
    /// A file that does not exist is made by [`registry`](Store::registry) or
    /// [`segments`](Store::segments); its folder must exist. The tables on a server are made by the
    /// first generator that starts, or by the first tag.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// use uidring::Store;
    ///
    /// let store = Store::open("sqlite:/var/lib/orders/uidring.db")?;
    /// assert_eq!(store.to_string(), "/var/lib/orders/uidring.db");
    ///
    /// let error = Store::open("oracle://ids@db.example.com/ids").unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "a store is a file, or an address that begins with sqlite://, postgres://, \
    ///      postgresql://, mysql://, etcd://, etcds://, zookeeper://, zookeepers://, redis:// or \
    ///      rediss://, and not with oracle://"
    /// );
    /// # }
    /// # Ok::<(), uidring::store::StoreError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`StoreError`] when no store has this address, when its kind is not built in, when an
    /// address of a server is incomplete, or names a file that cannot be read.
    pub fn open(address: impl AsRef<OsStr>) -> Result<Store, StoreError> {
        Store::at(address.as_ref(), true)
    }

    /// The same, where a file must exist, and so must the tables on a server. Nothing is written to
    /// open it, and a file that may only be read will do for reading.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// use uidring::Store;
    ///
    /// let error = Store::open_existing("/nowhere/uidring.db")?.registry().unwrap_err();
    /// assert!(error.to_string().starts_with("cannot use the registry /nowhere/uidring.db: "));
    /// # }
    /// # Ok::<(), uidring::store::StoreError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`open`](Store::open).
    pub fn open_existing(address: impl AsRef<OsStr>) -> Result<Store, StoreError> {
        Store::at(address.as_ref(), false)
    }

    /// The same for a trial, which makes nothing: a file that does not exist, or that is empty,
    /// counts as one in which nothing was ever kept, and what is written to it is forgotten. So
    /// [`try_assign`](crate::registry::RegistryAdmin::try_assign) says what a start would find in a
    /// new file.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// use uidring::Store;
    /// use uidring::registry::RegistryAdmin;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let file = folder.path().join("uidring.db");
    /// let registry = Store::open_trial(&file)?.registry()?;
    /// assert_eq!(registry.layout()?, None);
    /// registry.try_out(&uidring::Layout::DEFAULT)?;
    /// assert!(!file.exists());
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`open`](Store::open).
    pub fn open_trial(address: impl AsRef<OsStr>) -> Result<Store, StoreError> {
        let Store { backend, calls } = Store::at(address.as_ref(), false)?;
        let backend = backend.for_trial().unwrap_or(backend);
        Ok(Store { backend, calls })
    }

    fn at(address: &OsStr, may_create: bool) -> Result<Store, StoreError> {
        let (open, _, location) = Store::kind_of(address)?;
        let mut backend = open(&location)?;
        if is_on_network(address) {
            backend = backend.on_network().unwrap_or(backend);
        }
        Ok(Store { backend, calls: Calls { timeout: None, may_create } })
    }

    /// How the kind of store that has this address is opened, its first scheme, and what it is
    /// opened with.
    fn kind_of(address: &OsStr) -> Result<(Open, &'static str, OsString), StoreError> {
        let translated = other_clients::translated(address)?;
        let address = translated.as_deref().unwrap_or(address);
        let schemes = || KINDS.iter().flat_map(|kind| kind.schemes).copied().collect();
        let shown;
        let (kind, location) = match Address::parse(address) {
            Address::File(path) => {
                shown = path.display().to_string();
                (&KINDS[0], path.into_os_string())
            }
            Address::Scheme(scheme) => {
                let is_its = |kind: &&Kind| kind.schemes.contains(&scheme.as_str());
                let Some(kind) = KINDS.iter().find(is_its) else {
                    return Err(StoreError::UnknownScheme { scheme, schemes: schemes() });
                };
                shown = without_password(&address.to_string_lossy());
                (kind, address.to_owned())
            }
            Address::TwoReadings(path) => return Err(StoreError::TwoReadings { path }),
            Address::Parameters => return Err(StoreError::Parameters),
            Address::Empty => return Err(StoreError::Empty { schemes: schemes() }),
            Address::OtherClient(begin, written) => {
                return Err(StoreError::OtherClient { begin, written });
            }
            Address::Unclear => return Err(StoreError::Unclear { schemes: schemes() }),
        };
        let Some(open) = kind.open else {
            let Kind { name, feature, .. } = *kind;
            return Err(StoreError::NotBuiltIn { address: shown, name, feature });
        };
        Ok((open, kind.schemes[0], location))
    }

    /// Goes by another address of the same store from now on: with another user or password, or
    /// other parameters. The files that it names, such as certificates, are read again, also where
    /// the address is as it was. This store, its clones, and all registries, sources and series
    /// that were opened from them go by it from their next call on.
    ///
    /// A password that changes often is better kept in a file, which the address names by
    /// `passfile=`: it is read at each connection.
    ///
    /// ```
    /// # #[cfg(feature = "postgres")] {
    /// use uidring::Store;
    ///
    /// let store = Store::open("postgres://ids:old@db.example.com/ids")?;
    /// store.renew("postgres://ids:new@db.example.com/ids")?;
    /// let error = store.renew("postgres://ids:new@other.example.com/ids").unwrap_err();
    /// assert!(error.to_string().contains("it is another store than postgres://ids@db."));
    /// # }
    /// # Ok::<(), uidring::store::StoreError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`open`](Store::open), and where the address names another store.
    pub fn renew(&self, address: impl AsRef<OsStr>) -> Result<(), StoreError> {
        let (open, scheme, location) = Store::kind_of(address.as_ref())?;
        if scheme == self.scheme() {
            return self.backend.renew(&location);
        }
        let other = open(&location)?.name();
        Err(StoreError::Address(StorageError::unusable(
            format!("the store {other}"),
            other_store(&self.to_string()),
        )))
    }

    /// Sets how long each call to the store may take: five seconds unless set. A server that does
    /// not answer in that time counts as down. In a file, this is how long a call waits while
    /// others have the file locked.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// use std::time::Duration;
    ///
    /// let store = uidring::Store::open("/srv/uidring.db")?.with_timeout(Duration::from_secs(1));
    /// # }
    /// # Ok::<(), uidring::store::StoreError>(())
    /// ```
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Store {
        Store { calls: Calls { timeout: Some(timeout), ..self.calls }, ..self }
    }

    /// Worker ids that are each given once and for ever.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// use uidring::{Store, UidGenerator};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let store = Store::open(folder.path().join("uidring.db"))?;
    /// let uids = UidGenerator::builder().registry(store.registry()?).build()?;
    /// assert_eq!(uids.worker_id(), 1);
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`RegistryError::Storage`] when the file cannot be read or made. A server is asked nothing
    /// yet, so that this does not fail.
    pub fn registry(&self) -> Result<StoreRegistry, RegistryError> {
        self.registry_with(RegistryOptions::new())
    }

    /// Worker ids that are given as the `options` say: leased, or from a part of the worker field.
    /// [`RegistryOptions`] has an example.
    ///
    /// # Errors
    ///
    /// As [`registry`](Store::registry); [`RegistryError::Partition`] and
    /// [`RegistryError::WorkerIds`] when the options make no sense, and [`RegistryError::Storage`]
    /// when the store has no table of `UidGenerator`, and is asked for it.
    #[allow(clippy::needless_pass_by_value, reason = "the options are made for the call")]
    pub fn registry_with(&self, options: RegistryOptions) -> Result<StoreRegistry, RegistryError> {
        Ok(StoreRegistry(self.backend.registry(&options, self.calls)?))
    }

    /// Dense numbers, from this library's own table.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// use uidring::Store;
    /// use uidring::segment::{Segments, Tag};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let store = Store::open(folder.path().join("uidring.db"))?;
    /// let segments = Segments::builder().source(store.segments()?).build()?;
    /// assert_eq!(segments.create("orders", Tag::new())?.take()?.get(), 1);
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SegmentError::Storage`] when the file cannot be read or made. A server is asked nothing
    /// yet, so that this does not fail.
    pub fn segments(&self) -> Result<StoreSegments, SegmentError> {
        self.segments_in(Table::Own)
    }

    /// Dense numbers from `table`. Those of others are neither made nor altered: servers with Leaf
    /// or tinyid may go on beside.
    ///
    /// ```no_run
    /// # #[cfg(feature = "mysql")] {
    /// use uidring::{Store, Table};
    ///
    /// let leaf = Store::open("mysql://leaf@db.example.com/leaf")?.segments_in(Table::Leaf)?;
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`segments`](Store::segments). For a table of others, a file must exist.
    pub fn segments_in(&self, table: Table) -> Result<StoreSegments, SegmentError> {
        Ok(StoreSegments(self.backend.segments(table, self.calls)?))
    }

    /// Worker ids that are lent to generators of others, from the pool of this `name`, whose ids
    /// have so many `bits`: [`lend`](crate::lend) has an example. The first use of a pool stores
    /// its width.
    ///
    /// # Errors
    ///
    /// [`LendError::Name`] and [`LendError::Bits`] when there can be no such pool;
    /// [`LendError::Storage`] when the file cannot be read or made. A server is asked nothing yet.
    #[cfg(all(feature = "_store", feature = "lend"))]
    pub fn worker_pool(&self, name: &str, bits: u32) -> Result<WorkerPool, LendError> {
        WorkerPool::on(self.backend.loans(self.calls)?, name, bits)
    }

    /// The pool of this name with the width that its first use has stored, or `None` if there is no
    /// such pool yet. It reads nothing of other pools.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// # let folder = tempfile::tempdir()?;
    /// # let store = uidring::Store::open(folder.path().join("uidring.db"))?;
    /// assert!(store.find_worker_pool("shop")?.is_none());
    /// store.worker_pool("shop", 10)?.grant(&uidring::lend::LoanRequest::new())?;
    /// assert_eq!(store.find_worker_pool("shop")?.map(|pool| pool.bits()), Some(10));
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`LendError::Name`] when there can be no such pool; [`LendError::Storage`] when the store
    /// cannot be used.
    #[cfg(all(feature = "_store", feature = "lend"))]
    pub fn find_worker_pool(&self, name: &str) -> Result<Option<WorkerPool>, LendError> {
        WorkerPool::find(self.backend.loans(self.calls)?, name)
    }

    /// All pools in the store, sorted by their names, with how many of their ids are held, rest and
    /// are free.
    ///
    /// # Errors
    ///
    /// [`LendError::Storage`] when the store cannot be used.
    #[cfg(all(feature = "_store", feature = "lend"))]
    pub fn worker_pools(&self) -> Result<Vec<PoolRecord>, LendError> {
        self.backend.loans(self.calls)?.pools()
    }

    /// The series in the store. A file that does not exist is made.
    #[cfg(feature = "series")]
    pub(crate) fn series(&self) -> Result<Arc<dyn SeriesStore>, StorageError> {
        self.backend.series(self.calls)
    }

    /// The tokens of tinyid's clients, from tinyid's table `tiny_id_token`: for a server that
    /// stands in for tinyid's.
    ///
    /// # Errors
    ///
    /// [`SegmentError::Storage`] when the table is not there or is another, or when the database
    /// cannot be used.
    pub fn tinyid_tokens(&self) -> Result<Vec<TinyIdToken>, SegmentError> {
        self.backend.tinyid_tokens(self.calls)
    }

    /// A worker id of Leaf's, from Leaf's own nodes in ZooKeeper: that of the server with this
    /// `address`, `IP:PORT`, among the servers of `name`, which may go on beside. Leaf calls these
    /// `leaf.name` and `leaf.snowflake.port`. Nothing is asked of the servers yet.
    ///
    /// ```no_run
    /// use uidring::{Layout, Store, UidGenerator};
    ///
    /// let store = Store::open("zookeeper://h1:2181,h2:2181,h3:2181")?;
    /// let uids = UidGenerator::builder()
    ///     .layout(Layout::TWITTER)
    ///     .registry(store.leaf_worker("orders", "10.0.0.1:8080")?)
    ///     .build()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`RegistryError::Storage`] when the store is not ZooKeeper, or no server of Leaf can have
    /// such a name or address.
    #[cfg(feature = "zookeeper")]
    pub fn leaf_worker(&self, name: &str, address: &str) -> Result<LeafWorker, RegistryError> {
        let Some(servers) = self.backend.zookeeper() else {
            let problem = "Leaf's worker ids are in ZooKeeper; name that with zookeeper://";
            return Err(StorageError::unusable(format!("the store {self}"), problem).into());
        };
        LeafWorker::on(servers.clone(), name, address, self.calls.timeout)
    }

    /// The first of the schemes that name the kind of store, such as `sqlite` or `postgres`.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")]
    /// assert_eq!(uidring::Store::open("/srv/uidring.db")?.scheme(), "sqlite");
    /// # Ok::<(), uidring::store::StoreError>(())
    /// ```
    #[must_use]
    pub fn scheme(&self) -> &'static str {
        self.backend.scheme()
    }

    /// The absolute path of a store that is a file, which may not exist yet.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        self.backend.file()
    }
}

/// The path, or the address without the password and the parameters.
impl fmt::Display for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.backend.name())
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Store").field(&self.backend.name()).finish()
    }
}

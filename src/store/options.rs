//! What can be asked of a store.

use std::ops::RangeInclusive;
use std::time::Duration;

#[cfg(feature = "_store")]
use crate::registry::{Config, RegistryError};

/// How a [`Store`](crate::Store) gives worker ids: each once and for ever, from the whole worker
/// field, unless set otherwise.
///
/// ```
/// # #[cfg(feature = "sqlite")] {
/// use std::time::Duration;
///
/// use uidring::{RegistryOptions, Store, UidGenerator};
///
/// # let folder = tempfile::tempdir()?;
/// # let file = folder.path().join("uidring.db");
/// let store = Store::open(file)?;
/// let options = RegistryOptions::new().leased(Duration::from_secs(600)).worker_ids(32..=1023);
/// let uids = UidGenerator::builder().registry(store.registry_with(options)?).build()?;
/// assert_eq!(uids.worker_id(), 32);
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegistryOptions {
    pub(crate) lease: Option<Duration>,
    /// The part with this number among so many.
    pub(crate) partition: Option<(u64, u64)>,
    pub(crate) worker_ids: Option<RangeInclusive<u64>>,
    /// A name and a port.
    pub(crate) host: Option<(String, String)>,
    pub(crate) uid_generator: bool,
}

impl RegistryOptions {
    /// Each id is given once and for ever, from the whole worker field.
    #[must_use]
    pub fn new() -> RegistryOptions {
        RegistryOptions::default()
    }

    /// Gives ids for a time: when a generator has reserved no ticks for `duration`, another may
    /// have its id. A duration below one second counts as one second.
    #[must_use]
    pub fn leased(self, duration: Duration) -> RegistryOptions {
        RegistryOptions { lease: Some(duration), ..self }
    }

    /// Gives only the ids of one of `of` equal parts of the worker field, that with the number
    /// `index`, counted from 0: for stores that do not know of each other, such as those of several
    /// data centres. `of` stays, as parts of another number of parts have the same ids: choose it
    /// for the most stores that there will ever be. With
    /// [`worker_ids`](RegistryOptions::worker_ids), only those ids of the part are given.
    #[must_use]
    pub fn partition(self, index: u64, of: u64) -> RegistryOptions {
        RegistryOptions { partition: Some((index, of)), ..self }
    }

    /// Gives only these worker ids, which must all be of the layout; never 0. The others are left
    /// to other generators.
    #[must_use]
    pub fn worker_ids(self, ids: RangeInclusive<u64>) -> RegistryOptions {
        RegistryOptions { worker_ids: Some(ids), ..self }
    }

    /// The host name and the port that operators see beside an id, in place of those found.
    #[must_use]
    pub fn host(self, name: impl Into<String>, port: impl Into<String>) -> RegistryOptions {
        RegistryOptions { host: Some((name.into(), port.into())), ..self }
    }

    /// Takes worker ids from the table `WORKER_NODE` of Baidu's `UidGenerator`, which stands in a
    /// database of MySQL or MariaDB. Its ids can be neither leased nor limited.
    #[must_use]
    pub fn uid_generator(self) -> RegistryOptions {
        RegistryOptions { uid_generator: true, ..self }
    }

    #[cfg(feature = "_store")]
    /// Sets in `config` what is set here.
    pub(super) fn configure(&self, config: &mut Config) -> Result<(), RegistryError> {
        if let Some((name, port)) = &self.host {
            config.set_host(name, port);
        }
        if let Some(duration) = self.lease {
            config.leased(duration);
        }
        if let Some((index, of)) = self.partition {
            config.partition(index, of)?;
        }
        self.worker_ids.as_ref().map_or(Ok(()), |ids| config.worker_ids(ids))
    }
}

/// The table, or the keys, of a [`Store`](crate::Store) that dense numbers come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Table {
    /// This library's own, `uidring_segment`.
    #[default]
    Own,
    /// `leaf_alloc`, of Meituan's Leaf.
    Leaf,
    /// `tiny_id_info`, of tinyid.
    TinyId,
    /// The counters of `CosId` in Redis: the tag `shop.orders` is the key
    /// `cosid:{shop.orders}.adder`. Programs with `CosId` may go on beside.
    ///
    /// Redis holds no step: each program with `CosId` has its own. So
    /// [`Tag::step`](crate::segment::Tag::step) is that of the process that creates the tag with
    /// it, and of nobody else. Its machine ids are not shared: its guard writes over those of
    /// others.
    CosId,
}

impl Table {
    /// What databases call it.
    ///
    /// ```
    /// assert_eq!(uidring::Table::Leaf.name(), "leaf_alloc");
    /// ```
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Table::Own => "uidring_segment",
            Table::Leaf => "leaf_alloc",
            Table::TinyId => "tiny_id_info",
            Table::CosId => "cosid",
        }
    }
}

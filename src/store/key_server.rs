//! A server that is a map of keys as a store.

use std::ffi::OsStr;
use std::fmt;

use super::error::StoreError;
use super::kind::{AnyRegistry, Backend, Calls};
use super::open_errors::{address_error, no_cosid, no_uid_generator};
use super::options::{RegistryOptions, Table};
use crate::backend::error::Error;
use crate::backend::keys::KeyStore;
use crate::backend::storage_error::StorageError;
#[cfg(feature = "lend")]
use crate::lend::{KeyLoans, LendError, LoanStore};
use crate::registry::{KeyRegistry, RegistryError};
use crate::segment::{KeySegments, SegmentAdmin, SegmentError, TinyIdToken};
#[cfg(feature = "series")]
use crate::series::SeriesStore;
use crate::sync::Arc;

#[derive(Debug)]
struct Server<K> {
    scheme: &'static str,
    store: K,
    /// Clones of these know what the others have seen of the store.
    registry: KeyRegistry<K>,
    segments: KeySegments<K>,
    #[cfg(feature = "lend")]
    loans: KeyLoans<K>,
    cosid: Option<CosId>,
}

/// Returns the counters of `CosId`, where the kind of server has them.
pub(super) struct CosId(pub Box<dyn Fn(Calls) -> Arc<dyn SegmentAdmin> + Send + Sync>);

impl fmt::Debug for CosId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CosId")
    }
}

/// Opens the store with this address, which `at` reads. Nothing is asked of it yet.
pub(super) fn open<K: KeyStore>(
    address: &OsStr,
    scheme: &'static str,
    at: impl FnOnce(&str) -> Result<K, Error>,
    cosid: impl FnOnce(&K) -> Option<CosId>,
) -> Result<Arc<dyn Backend>, StoreError> {
    let address = address.to_string_lossy();
    let store = at(&address).map_err(|error| address_error(&address, error))?;
    let (registry, mut segments) = (KeyRegistry::on(store.clone()), KeySegments::on(store.clone()));
    // Each knows what the other has seen of the keys, and makes none anew that were lost.
    segments.client = registry.client.clone();
    #[cfg(feature = "lend")]
    let loans = KeyLoans::on(registry.client.clone());
    let cosid = cosid(&store);
    Ok(Arc::new(Server {
        scheme,
        store,
        registry,
        segments,
        #[cfg(feature = "lend")]
        loans,
        cosid,
    }))
}

impl<K: KeyStore> Backend for Server<K> {
    fn scheme(&self) -> &'static str {
        self.scheme
    }

    fn name(&self) -> String {
        self.store.name()
    }

    fn renew(&self, address: &OsStr) -> Result<(), StoreError> {
        let address = address.to_string_lossy();
        let renewed = self.store.renew(&address);
        renewed.map_err(|error| address_error(&address, error))
    }

    fn registry(
        &self,
        options: &RegistryOptions,
        calls: Calls,
    ) -> Result<Box<dyn AnyRegistry>, RegistryError> {
        if options.uid_generator {
            return Err(no_uid_generator(&self.name()));
        }
        let mut registry = self.registry.clone();
        if let Some(timeout) = calls.timeout {
            registry.client.timeout = timeout;
        }
        options.configure(&mut registry.config)?;
        Ok(Box::new(registry))
    }

    fn segments(&self, table: Table, calls: Calls) -> Result<Arc<dyn SegmentAdmin>, SegmentError> {
        match (table, &self.cosid) {
            (Table::Own, _) => {}
            (Table::CosId, Some(CosId(source))) => return Ok(source(calls)),
            (Table::CosId, None) => return Err(no_cosid(&self.name()).into()),
            _ => return Err(self.no_table(table).into()),
        }
        let mut segments = self.segments.clone();
        if let Some(timeout) = calls.timeout {
            segments.client.timeout = timeout;
        }
        Ok(Arc::new(segments))
    }

    #[cfg(feature = "lend")]
    fn loans(&self, calls: Calls) -> Result<Arc<dyn LoanStore>, LendError> {
        let mut loans = self.loans.clone();
        if let Some(timeout) = calls.timeout {
            loans.client.timeout = timeout;
        }
        Ok(Arc::new(loans))
    }

    #[cfg(feature = "series")]
    fn series(&self, _: Calls) -> Result<Arc<dyn SeriesStore>, StorageError> {
        let problem = "series are in a SQLite file, or in a database of PostgreSQL, MySQL or \
                       MariaDB; name that";
        Err(StorageError::unusable(format!("the series in {}", self.name()), problem))
    }

    fn tinyid_tokens(&self, _: Calls) -> Result<Vec<TinyIdToken>, SegmentError> {
        Err(self.no_table(Table::TinyId).into())
    }

    #[cfg(feature = "zookeeper")]
    fn zookeeper(&self) -> Option<&crate::backend::keys::ZooKeeper> {
        (&self.store as &dyn std::any::Any).downcast_ref()
    }
}

impl<K: KeyStore> Server<K> {
    fn no_table(&self, table: Table) -> StorageError {
        let problem = format!(
            "the table {} is in a database with SQL; name that with postgres:// or mysql://",
            table.name()
        );
        StorageError::unusable(format!("the tags in {}", self.name()), problem)
    }
}

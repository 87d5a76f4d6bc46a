//! A database server as a store.

use std::ffi::OsStr;

use super::error::StoreError;
use super::kind::{AnyRegistry, Backend, Calls};
use super::open_errors::{address_error, no_uid_generator};
use super::options::{RegistryOptions, Table};
use super::sql_tables::SqlTables;
use crate::backend::sql::Error;
#[cfg(feature = "series")]
use crate::backend::storage_error::StorageError;
#[cfg(feature = "lend")]
use crate::lend::{LendError, LoanStore};
use crate::registry::{RegistryError, RegistryTables, SqlRegistry};
use crate::segment::{SegmentAdmin, SegmentError, SegmentTables, TinyIdToken};
#[cfg(feature = "series")]
use crate::series::SeriesStore;
use crate::sync::Arc;

/// Turns a registry into one on the table of `UidGenerator`.
pub(super) type OnWorkerNode<D> = fn(SqlRegistry<D>) -> Box<dyn AnyRegistry>;

#[derive(Debug)]
struct Server<D> {
    scheme: &'static str,
    database: D,
    tables: SqlTables<D>,
    /// `None` where the kind of server has no such table.
    on_worker_node: Option<OnWorkerNode<D>>,
}

/// Opens the server with this address, which `at` reads. Nothing is asked of it yet.
pub(super) fn open<D: RegistryTables + SegmentTables>(
    address: &OsStr,
    scheme: &'static str,
    at: impl FnOnce(&str) -> Result<D, Error>,
    on_worker_node: Option<OnWorkerNode<D>>,
) -> Result<Arc<dyn Backend>, StoreError> {
    let address = address.to_string_lossy();
    match at(&address) {
        Ok(database) => {
            let tables = SqlTables::of(database.clone());
            Ok(Arc::new(Server { scheme, database, tables, on_worker_node }))
        }
        Err(error) => Err(address_error(&address, error)),
    }
}

impl<D: RegistryTables + SegmentTables> Backend for Server<D> {
    fn scheme(&self) -> &'static str {
        self.scheme
    }

    fn name(&self) -> String {
        self.database.name()
    }

    fn renew(&self, address: &OsStr) -> Result<(), StoreError> {
        let address = address.to_string_lossy();
        let renewed = self.database.renew(&address);
        renewed.map_err(|error| address_error(&address, error))
    }

    fn registry(
        &self,
        options: &RegistryOptions,
        calls: Calls,
    ) -> Result<Box<dyn AnyRegistry>, RegistryError> {
        if !options.uid_generator {
            return Ok(Box::new(self.tables.registry(options, calls)?));
        }
        match self.on_worker_node {
            Some(on_worker_node) => Ok(on_worker_node(self.tables.registry(options, calls)?)),
            None => Err(no_uid_generator(&self.name())),
        }
    }

    fn segments(&self, table: Table, calls: Calls) -> Result<Arc<dyn SegmentAdmin>, SegmentError> {
        self.tables.segments(table, calls)
    }

    #[cfg(feature = "lend")]
    fn loans(&self, calls: Calls) -> Result<Arc<dyn LoanStore>, LendError> {
        Ok(Arc::new(self.tables.loans(calls)))
    }

    #[cfg(feature = "series")]
    fn series(&self, calls: Calls) -> Result<Arc<dyn SeriesStore>, StorageError> {
        Ok(Arc::new(self.tables.series(calls)))
    }

    fn tinyid_tokens(&self, calls: Calls) -> Result<Vec<TinyIdToken>, SegmentError> {
        self.tables.tinyid(calls).tokens()
    }
}

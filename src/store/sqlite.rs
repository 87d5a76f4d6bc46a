//! A SQLite file as a store.

use super::kind::Kind;

pub(super) const KIND: Kind = Kind {
    name: "SQLite",
    feature: "sqlite",
    schemes: &["sqlite"],
    #[cfg(feature = "sqlite")]
    open: Some(built_in::open),
    #[cfg(not(feature = "sqlite"))]
    open: None,
};

#[cfg(feature = "sqlite")]
mod built_in {
    use std::ffi::OsStr;
    use std::path::Path;

    use super::KIND;
    use crate::backend::sql::{Database, Error, Sqlite};
    use crate::backend::storage_error;
    #[cfg(feature = "series")]
    use crate::backend::storage_error::StorageError;
    #[cfg(feature = "lend")]
    use crate::lend::{LendError, LoanStore};
    use crate::registry::RegistryError;
    use crate::segment::{SegmentAdmin, SegmentError, TinyIdToken};
    #[cfg(feature = "series")]
    use crate::series::SeriesStore;
    use crate::store::error::StoreError;
    use crate::store::kind::{AnyRegistry, Backend, Calls};
    use crate::store::open_errors::{no_uid_generator, open_error};
    use crate::store::options::{RegistryOptions, Table};
    use crate::store::sql_tables::SqlTables;
    use crate::sync::Arc;

    pub(super) fn open(path: &OsStr) -> Result<Arc<dyn Backend>, StoreError> {
        let path = Path::new(path);
        match Sqlite::at(path) {
            Ok(file) => Ok(Arc::new(File { tables: SqlTables::of(file.clone()), file })),
            Err(error) => Err(open_error(&path.display().to_string(), error)),
        }
    }

    #[derive(Debug)]
    struct File {
        file: Sqlite,
        tables: SqlTables<Sqlite>,
    }

    impl Backend for File {
        fn scheme(&self) -> &'static str {
            KIND.schemes[0]
        }

        fn name(&self) -> String {
            self.file.name()
        }

        fn file(&self) -> Option<&Path> {
            Some(self.file.path())
        }

        fn on_network(&self) -> Option<Arc<dyn Backend>> {
            let file = self.file.clone().on_network();
            Some(Arc::new(File { tables: SqlTables::of(file.clone()), file }))
        }

        fn renew(&self, path: &OsStr) -> Result<(), StoreError> {
            let path = Path::new(path);
            let refuse = |error| open_error(&path.display().to_string(), error);
            match Sqlite::at(path).map_err(refuse)? {
                other if other.path() != self.file.path() => {
                    Err(refuse(Error::problem(storage_error::other_store(&self.name()))))
                }
                _ => Ok(()),
            }
        }

        fn for_trial(&self) -> Option<Arc<dyn Backend>> {
            let file = self.file.clone().for_trial();
            Some(Arc::new(File { tables: SqlTables::of(file.clone()), file }))
        }

        fn registry(
            &self,
            options: &RegistryOptions,
            calls: Calls,
        ) -> Result<Box<dyn AnyRegistry>, RegistryError> {
            if options.uid_generator {
                return Err(no_uid_generator(&self.name()));
            }
            let registry = self.tables.registry(options, calls)?;
            if calls.may_create {
                registry.make()?;
            } else {
                registry.check()?;
            }
            Ok(Box::new(registry))
        }

        fn segments(
            &self,
            table: Table,
            calls: Calls,
        ) -> Result<Arc<dyn SegmentAdmin>, SegmentError> {
            let source = self.tables.segments(table, calls)?;
            let segments = self.tables.uidring(calls);
            // The tables of others are never made, and so neither is a file for them.
            if calls.may_create && table == Table::Own {
                segments.make()?;
            } else {
                segments.check()?;
            }
            Ok(source)
        }

        #[cfg(feature = "lend")]
        fn loans(&self, calls: Calls) -> Result<Arc<dyn LoanStore>, LendError> {
            let loans = self.tables.loans(calls);
            if calls.may_create {
                loans.make()?;
            } else {
                loans.check()?;
            }
            Ok(Arc::new(loans))
        }

        #[cfg(feature = "series")]
        fn series(&self, calls: Calls) -> Result<Arc<dyn SeriesStore>, StorageError> {
            let series = self.tables.series(calls);
            if calls.may_create {
                series.make()?;
            } else {
                series.check()?;
            }
            Ok(Arc::new(series))
        }

        fn tinyid_tokens(&self, calls: Calls) -> Result<Vec<TinyIdToken>, SegmentError> {
            self.tables.uidring(calls).check()?;
            self.tables.tinyid(calls).tokens()
        }
    }
}

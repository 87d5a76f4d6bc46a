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
    use crate::registry::{RegistryAdmin, RegistryError, SqliteRegistry};
    use crate::segment::{SegmentAdmin, SegmentError, SqliteSegments, TinyIdToken};
    use crate::store::error::StoreError;
    use crate::store::kind::{Backend, Calls};
    use crate::store::options::{RegistryOptions, Table};
    use crate::store::rows;
    use crate::store::sql::{Database, Error, Sqlite};
    use crate::sync::Arc;

    pub(super) fn open(path: &OsStr) -> Result<Arc<dyn Backend>, StoreError> {
        let path = Path::new(path);
        let file = if path == Path::new(":memory:") {
            let problem = "a store in memory forgets what it gave; give the path of a file";
            Err(Error::problem(problem))
        } else {
            Sqlite::at(path)
        };
        match file {
            Ok(file) => Ok(Arc::new(File(file))),
            Err(error) => Err(rows::refused(path.display().to_string(), error)),
        }
    }

    #[derive(Debug)]
    struct File(Sqlite);

    impl Backend for File {
        fn scheme(&self) -> &'static str {
            KIND.schemes[0]
        }

        fn name(&self) -> String {
            self.0.name()
        }

        fn file(&self) -> Option<&Path> {
            Some(self.0.path())
        }

        fn registry(
            &self,
            options: &RegistryOptions,
            calls: Calls,
        ) -> Result<Box<dyn RegistryAdmin>, RegistryError> {
            if options.uid_generator {
                return Err(rows::no_uid_generator(self.name()));
            }
            let path = self.0.path();
            let registry = if calls.may_make {
                SqliteRegistry::open(path)?
            } else {
                SqliteRegistry::open_existing(path)?
            };
            Ok(Box::new(rows::with_options(registry, options, calls)?))
        }

        fn segments(
            &self,
            table: Table,
            calls: Calls,
        ) -> Result<Box<dyn SegmentAdmin>, SegmentError> {
            let path = self.0.path();
            // The tables of others are never made, and so neither is a file for them.
            let source = if calls.may_make && table == Table::Own {
                SqliteSegments::open(path)?
            } else {
                SqliteSegments::open_existing(path)?
            };
            Ok(rows::on_table(source, table, calls))
        }

        fn tinyid_tokens(&self, calls: Calls) -> Result<Vec<TinyIdToken>, SegmentError> {
            rows::tinyid(SqliteSegments::open_existing(self.0.path())?, calls).tokens()
        }
    }
}

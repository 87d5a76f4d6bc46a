//! A server of MySQL and MariaDB as a store.

use super::kind::Kind;

pub(super) const KIND: Kind = Kind {
    name: "MySQL and MariaDB",
    feature: "mysql",
    schemes: &["mysql"],
    #[cfg(feature = "mysql")]
    open: Some(built_in::open),
    #[cfg(not(feature = "mysql"))]
    open: None,
};

#[cfg(feature = "mysql")]
mod built_in {
    use std::ffi::OsStr;

    use super::KIND;
    use crate::registry::{RegistryAdmin, RegistryError, SqlRegistry};
    use crate::segment::{SegmentAdmin, SegmentError, SqlSegments, TinyIdToken};
    use crate::store::address::without_password;
    use crate::store::error::StoreError;
    use crate::store::kind::{Backend, Calls};
    use crate::store::options::{RegistryOptions, Table};
    use crate::store::rows;
    use crate::store::sql::{Database, MySql};
    use crate::sync::Arc;

    pub(super) fn open(address: &OsStr) -> Result<Arc<dyn Backend>, StoreError> {
        let address = address.to_string_lossy();
        match MySql::at(&address) {
            Ok(server) => Ok(Arc::new(Server(server))),
            Err(error) => Err(rows::refused(without_password(&address), error)),
        }
    }

    #[derive(Debug)]
    struct Server(MySql);

    impl Backend for Server {
        fn scheme(&self) -> &'static str {
            KIND.schemes[0]
        }

        fn name(&self) -> String {
            self.0.name()
        }

        fn registry(
            &self,
            options: &RegistryOptions,
            calls: Calls,
        ) -> Result<Box<dyn RegistryAdmin>, RegistryError> {
            let registry = SqlRegistry::new(self.name(), Ok(self.0.clone()))?;
            let registry = rows::with_options(registry, options, calls)?;
            if options.uid_generator {
                return Ok(Box::new(registry.uid_generator()));
            }
            Ok(Box::new(registry))
        }

        fn segments(
            &self,
            table: Table,
            calls: Calls,
        ) -> Result<Box<dyn SegmentAdmin>, SegmentError> {
            Ok(rows::on_table(self.source()?, table, calls))
        }

        fn tinyid_tokens(&self, calls: Calls) -> Result<Vec<TinyIdToken>, SegmentError> {
            rows::tinyid(self.source()?, calls).tokens()
        }
    }

    impl Server {
        fn source(&self) -> Result<SqlSegments<MySql>, SegmentError> {
            SqlSegments::new(self.name(), Ok(self.0.clone()))
        }
    }
}

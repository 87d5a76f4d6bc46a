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
    use crate::registry::RegistryError;
    use crate::segment::{SegmentAdmin, SegmentError, TinyIdToken};
    use crate::store::address::without_password;
    use crate::store::error::StoreError;
    use crate::store::kind::{AnyRegistry, Backend, Calls};
    use crate::store::options::{RegistryOptions, Table};
    use crate::store::rows::{self, Rows};
    use crate::store::sql::{Database, MySql};
    use crate::sync::Arc;

    pub(super) fn open(address: &OsStr) -> Result<Arc<dyn Backend>, StoreError> {
        let address = address.to_string_lossy();
        match MySql::at(&address) {
            Ok(server) => Ok(Arc::new(Server { rows: Rows::of(server.clone()), server })),
            Err(error) => Err(rows::refused(without_password(&address), error)),
        }
    }

    #[derive(Debug)]
    struct Server {
        server: MySql,
        rows: Rows<MySql>,
    }

    impl Backend for Server {
        fn scheme(&self) -> &'static str {
            KIND.schemes[0]
        }

        fn name(&self) -> String {
            self.server.name()
        }

        fn registry(
            &self,
            options: &RegistryOptions,
            calls: Calls,
        ) -> Result<Box<dyn AnyRegistry>, RegistryError> {
            let registry = self.rows.registry(options, calls)?;
            if options.uid_generator {
                return Ok(Box::new(registry.uid_generator()));
            }
            Ok(Box::new(registry))
        }

        fn segments(
            &self,
            table: Table,
            calls: Calls,
        ) -> Result<Arc<dyn SegmentAdmin>, SegmentError> {
            Ok(self.rows.segments(table, calls))
        }

        fn tinyid_tokens(&self, calls: Calls) -> Result<Vec<TinyIdToken>, SegmentError> {
            self.rows.tinyid(calls).tokens()
        }
    }
}

//! A server of MySQL and MariaDB as a store.

use super::kind::Kind;

pub(super) const KIND: Kind = Kind {
    name: "MySQL and MariaDB",
    feature: "mysql",
    schemes: &["mysql"],
    #[cfg(feature = "mysql")]
    open: Some(|address| {
        super::server::open(
            address,
            KIND.schemes[0],
            crate::backend::sql::MySql::at,
            Some(|registry| Box::new(registry.uid_generator())),
        )
    }),
    #[cfg(not(feature = "mysql"))]
    open: None,
};

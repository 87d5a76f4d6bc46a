//! A server of PostgreSQL as a store.

use super::kind::Kind;

pub(super) const KIND: Kind = Kind {
    name: "PostgreSQL",
    feature: "postgres",
    schemes: &["postgres", "postgresql"],
    #[cfg(feature = "postgres")]
    open: Some(|address| {
        super::server::open(address, KIND.schemes[0], crate::backend::sql::Postgres::at, None)
    }),
    #[cfg(not(feature = "postgres"))]
    open: None,
};

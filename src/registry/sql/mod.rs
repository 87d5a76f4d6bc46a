//! Worker ids kept in the tables of a SQL database.

#[cfg(feature = "mysql")]
mod beside;
#[cfg(feature = "mysql")]
mod mysql;
#[cfg(feature = "postgres")]
mod postgres;
mod records;
mod registry;
#[cfg(feature = "sqlite")]
mod sqlite;
mod table;
#[cfg(feature = "mysql")]
mod worker_node;

#[cfg(feature = "mysql")]
pub use mysql::MySqlRegistry;
#[cfg(feature = "postgres")]
pub use postgres::PostgresRegistry;
pub use registry::SqlRegistry;
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteRegistry;
pub use table::Tables as RegistryTables;
#[cfg(feature = "mysql")]
pub use worker_node::UidGeneratorRegistry;

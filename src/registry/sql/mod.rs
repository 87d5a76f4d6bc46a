//! Worker ids kept in the tables of a SQL database.

#[cfg(feature = "mysql")]
mod mysql;
#[cfg(feature = "postgres")]
mod postgres;
mod records;
mod sql_registry;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(feature = "mysql")]
mod uid_generator;
#[cfg(feature = "mysql")]
mod uid_generator_overlap;
mod worker_table;

#[cfg(feature = "mysql")]
pub use mysql::MySqlRegistry;
#[cfg(feature = "postgres")]
pub use postgres::PostgresRegistry;
pub use sql_registry::SqlRegistry;
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteRegistry;
#[cfg(feature = "mysql")]
pub use uid_generator::UidGeneratorRegistry;
pub use worker_table::Tables as RegistryTables;

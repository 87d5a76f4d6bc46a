//! The sources in databases.

mod changes;
mod columns;
mod given_elsewhere;
mod leaf;
#[cfg(feature = "mysql")]
mod mysql;
mod own_table;
#[cfg(feature = "postgres")]
mod postgres;
mod sql_segments;
#[cfg(feature = "sqlite")]
mod sqlite;
mod table;
mod tinyid;
mod tinyid_databases;
mod tinyid_tokens;

pub use leaf::Leaf;
#[cfg(feature = "mysql")]
pub use mysql::MySqlSegments;
pub use own_table::Own;
#[cfg(feature = "postgres")]
pub use postgres::PostgresSegments;
pub use sql_segments::SqlSegments;
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteSegments;
pub(crate) use table::{Table as SegmentTable, Tables as SegmentTables};
pub use tinyid::TinyId;
pub use tinyid_databases::{TinyIdDatabase, TinyIdSegments};

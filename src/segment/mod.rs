//! Segments: dense numbers, counted up per tag in a database row.
//!
//! They are small and have few gaps, but they have some: a process that is killed loses the numbers
//! that it had in memory, and processes that take at the same time have a segment each. Where no
//! number may ever be missing, count in the transaction that inserts the row instead.
//!
//! ```
//! # #[cfg(feature = "sqlite")] {
//! use uidring::segment::{Number, Segments, SqliteSegments, Tag};
//!
//! # let dir = tempfile::tempdir()?;
//! # let file = dir.path().join("uidring.db");
//! // One for all tags.
//! let segments = Segments::builder().source(SqliteSegments::open(file)?).build()?;
//!
//! let orders = segments.create("orders", Tag::new().first(1).step(1000))?;
//! let number: Number = orders.take()?; // from any thread
//! assert_eq!(number.get(), 1);
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! * [`Segments`]: the tags of one source, and the thread that loads ahead. [`Builder`] says what
//!   can be set.
//! * [`SegmentGenerator`]: the numbers of one tag, and what they guarantee. Each is a [`Number`].
//! * [`SegmentSource`]: where the numbers come from. With the feature `http`, also from a server.
//!
//! What operators are told, with the feature `tracing`, is in the table of [events](crate#events).

#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
mod admin;
pub(crate) mod alarm;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
mod changes;
pub(crate) mod claim;
#[cfg(feature = "contract")]
pub mod contract;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
mod database;
mod error;
pub(crate) mod events;
mod generator;
#[cfg(feature = "http")]
mod http;
mod label;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
mod leaf;
mod loader;
mod local;
#[cfg(feature = "metrics")]
mod metrics;
#[cfg(feature = "mysql")]
mod mysql;
pub(crate) mod policy;
#[cfg(feature = "postgres")]
mod postgres;
pub(crate) mod request_list;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
mod row;
pub(crate) mod scheduler;
mod segments;
mod source;
#[cfg(feature = "sqlite")]
mod sqlite;
mod status;
pub(crate) mod stock;
pub(crate) mod supply;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
mod table;
pub(crate) mod tag;
mod take_n;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
mod tinyid;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
mod tinyid_databases;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
mod tinyid_tokens;
#[cfg(any(feature = "http", feature = "mysql", feature = "postgres", feature = "sqlite"))]
mod turns;

pub use crate::number::{Number, NumberRangeError, ParseNumberError};
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
pub use admin::{SegmentAdmin, TagChange};
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
pub use database::SqlSegments;
pub use error::SegmentError;
pub use generator::SegmentGenerator;
#[cfg(feature = "http")]
pub use http::HttpSegments;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
pub use leaf::Leaf;
pub use local::SegmentTaker;
#[cfg(feature = "mysql")]
pub use mysql::MySqlSegments;
#[cfg(feature = "postgres")]
pub use postgres::PostgresSegments;
pub use segments::{BuildError, Builder, Segments};
pub use source::{Segment, SegmentSource, Tag, TagRecord};
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteSegments;
pub use status::SegmentStatus;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
pub use table::Own;
pub use take_n::SegmentTakeN;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
pub use tinyid::TinyId;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
pub use tinyid_databases::{TinyIdDatabase, TinyIdSegments};
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
pub use tinyid_tokens::TinyIdToken;

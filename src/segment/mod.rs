//! Segments: dense numbers, counted up per tag in a database row.
//!
//! They are small and have few gaps, but they have some: a process that is killed loses the numbers
//! that it had in memory, and processes that take at the same time have a segment each. With a step
//! of 1,000, a list of two processes' numbers may read 1, 1001, 2, 1002, 1004. Where no number may
//! ever be missing, count in the transaction that inserts the row instead.
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
//! * [`SegmentSource`]: where the numbers come from.
//!
//! | source | the numbers come from |
//! |---|---|
//! | `SqliteSegments::open("uidring.db")?` | a file, for the processes of one machine |
//! | `PostgresSegments::open(url)?`, `MySqlSegments::open(url)?` | a database, for many machines |
//! | `MySqlSegments::open(url)?.leaf()` | the table of Leaf, on any of these databases |
//! | `MySqlSegments::open(url)?.tinyid()` | the table of tinyid; several: `TinyIdSegments` |
//! | `HttpSegments::new(["http://a:9999", "http://b:9999"], token)` | servers (feature `http`) |
//!
//! What operators are told, with the feature `tracing`, is in the table of [events](crate#events).

#[cfg(feature = "contract")]
pub mod contract;
mod error;
pub(crate) mod load;
mod segments;
pub(crate) mod source;
pub(crate) mod tag;
pub(crate) mod take;

pub use crate::number::{Number, NumberRangeError, ParseNumberError};
pub use error::SegmentError;
pub use load::status::SegmentStatus;
pub use segments::{BuildError, Builder, Segments};
#[cfg(feature = "http")]
pub use source::http::HttpSegments;
#[cfg(feature = "mysql")]
pub use source::sql::MySqlSegments;
#[cfg(feature = "postgres")]
pub use source::sql::PostgresSegments;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
pub(crate) use source::sql::SegmentTables;
#[cfg(feature = "sqlite")]
pub use source::sql::SqliteSegments;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
pub use source::sql::{Leaf, Own, SqlSegments, TinyId, TinyIdDatabase, TinyIdSegments};
pub use source::{Segment, SegmentAdmin, SegmentSource, Tag, TagChange, TagRecord, TinyIdToken};
pub use take::generator::SegmentGenerator;
pub use take::local::SegmentTaker;
pub use take::take_n::SegmentTakeN;

//! Segments: dense numbers, counted up per tag in a database row.
//!
//! They are small and have few gaps, but they have some: a process that is killed loses the numbers
//! that it had in memory, and processes that take at the same time have a segment each. With a step
//! of 1,000, a list of two processes' numbers may read 1, 1001, 2, 1002, 1004. Where no number may
//! ever be missing, count in the transaction that inserts the row instead.
//!
//! ```
//! # #[cfg(feature = "sqlite")] {
//! use uidring::Store;
//! use uidring::segment::{Number, Segments, Tag};
//!
//! # let dir = tempfile::tempdir()?;
//! # let file = dir.path().join("uidring.db");
//! // One for all tags.
//! let segments = Segments::builder().source(Store::open(file)?.segments()?).build()?;
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
//! | [`Store::open`](crate::Store::open)`(address)?.segments()?` | a file, or a database |
//! | `store.segments_in(Table::Leaf)?` | the table of Leaf, in any of them |
//! | `store.segments_in(Table::TinyId)?` | the table of tinyid, in any of them |
//! | `store.segments_in(Table::CosId)?` | the counters of `CosId`, in Redis |
//! | `TinyIdSegments::new([..])` | several databases of tinyid |
//! | `HttpSegments::new(["http://a:9999", "http://b:9999"], token)` | servers (feature `http`) |
//!
//! What operators are told, with the feature `tracing`, is in the table of [events](crate#events).

mod builder;
#[cfg(feature = "contract")]
pub mod contract;
mod error;
pub(crate) mod load;
mod segments;
pub(crate) mod source;
pub(crate) mod tag;
pub(crate) mod take;

pub use crate::number::{Number, NumberRangeError, ParseNumberError};
pub use builder::{BuildError, Builder};
pub use error::SegmentError;
pub use load::status::SegmentStatus;
#[cfg(feature = "series")]
pub(crate) use segments::PendingTag;
pub use segments::Segments;
#[cfg(feature = "redis")]
pub(crate) use source::CosIdSegments;
#[cfg(any(feature = "etcd", feature = "redis", feature = "zookeeper"))]
pub(crate) use source::KeySegments;
#[cfg(feature = "http")]
pub use source::http::HttpSegments;
#[cfg(all(
    feature = "series",
    any(feature = "mysql", feature = "postgres", feature = "sqlite")
))]
pub(crate) use source::similar_names;
#[cfg(feature = "mysql")]
pub use source::sql::MySqlSegments;
#[cfg(feature = "postgres")]
pub use source::sql::PostgresSegments;
#[cfg(feature = "sqlite")]
pub use source::sql::SqliteSegments;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
pub use source::sql::{Leaf, Own, SqlSegments, TinyId, TinyIdDatabase, TinyIdSegments};
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
pub(crate) use source::sql::{SegmentTable, SegmentTables};
pub use source::{Segment, SegmentAdmin, SegmentSource, Tag, TagChange, TagRecord, TinyIdToken};
pub use tag::claim::ClaimedNumbers;
#[cfg(feature = "series")]
pub(crate) use take::batch::Batch;
pub use take::generator::SegmentGenerator;
pub use take::local::{SegmentTakeN, SegmentTaker};

//! Numbers that people see: of orders, invoices and parcels, such as `SO20261124-000042`.
//!
//! ```
//! # #[cfg(feature = "sqlite")] {
//! # let folder = tempfile::tempdir()?;
//! # let file = folder.path().join("uidring.db");
//! use uidring::Store;
//! use uidring::series::{Series, SeriesDefinition};
//!
//! // One for all series of the store.
//! let series = Series::builder().store(&Store::open(file)?).build()?;
//!
//! let definition = SeriesDefinition::new("SO{yyyy}{MM}{dd}-{n:6}")?.time_zone("Asia/Shanghai");
//! let orders = series.create("orders", definition)?;
//! let number = orders.take()?; // from any thread
//! assert_eq!(number.value(), 1); // SO20261124-000001
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! * [`Series`]: the series of a store. Their definitions are in the store, so that all processes
//!   write alike. A [`change`](Series::change) begins with a period, and a wider number at once.
//! * [`SeriesGenerator`]: the numbers of one series, or of one scope of it, such as a shop.
//! * [`SeriesDefinition`]: a [`Pattern`], the time zone in which its days begin, and how its
//!   numbers are counted.
//! * [`Pattern`]: how a number is written. It accepts only what can be read back: the text gives
//!   exactly the number, the [`Period`] and the scope that it was made from, and two numbers never
//!   have one text.
//!
//! # Fast or gapless
//!
//! A series is fast unless it is [`gapless`](SeriesDefinition::gapless):
//!
//! * Fast: [`take`](SeriesGenerator::take) gives a number from memory, to any number of threads. A
//!   process that is killed loses what it had in memory.
//! * Gapless: `take_in` counts in the transaction that stores the document, so that a rollback
//!   gives the number back. One transaction at a time counts in a period and scope.
//!
//! # Where
//!
//! In a SQLite file, or in a database of PostgreSQL, MySQL or MariaDB, beside worker ids and tags,
//! in the tables `uidring_series`, `uidring_series_version`, `uidring_series_counter` and
//! `uidring_request`. An old copy of the database that is put back gives numbers again. A process
//! that has been given them notices it, and takes no more. It does not notice it of gapless
//! numbers, which go back together with their documents. In a Galera cluster, or with group
//! replication that has several primaries, all programs have to write to one node, as a row is
//! locked on that node alone.

mod builder;
mod catalog;
mod error;
mod form;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
mod gapless;
mod generator;
mod memory;
mod store;

pub use builder::Builder;
pub use catalog::Series;
pub use error::SeriesError;
pub use form::date::{Date, ParseDateError};
pub use form::definition::SeriesDefinition;
pub use form::error::{FormatError, ParseError, PatternError, SeriesDefinitionError};
pub use form::number::SeriesNumber;
pub use form::pattern::{Parsed, Pattern};
pub use form::period::{ParsePeriodError, Period, Unit};
pub use form::scope::{ScopeError, valid_scope};
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
pub use gapless::{Dialect, GaplessGenerator, GaplessSeries, GaplessTransaction, SqlValue};
pub use generator::forecast::Forecast;
pub use generator::status::{ScopeStatus, SeriesStatus};
pub use generator::{SeriesGenerator, SeriesTakeN};
pub use memory::nearly_full::TightCounter;
pub(crate) use store::SeriesStore;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
pub(crate) use store::sql::SqlSeries;
pub use store::{CounterRecord, Remembered, SeriesRecord, SeriesVersion};

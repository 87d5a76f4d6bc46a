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

mod all;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
mod answers;
mod batch;
mod check;
mod counter;
mod current;
mod date;
mod definition;
mod driver_error;
mod error;
mod forecast;
#[cfg(any(
    feature = "postgres",
    feature = "sqlite",
    all(feature = "mysql", any(feature = "sqlx-0_8", feature = "sqlx-0_9"))
))]
mod gapless;
mod generator;
#[cfg_attr(
    not(any(feature = "mysql", feature = "postgres", feature = "sqlite")),
    allow(dead_code) // the databases look at it
)]
mod given;
mod handle;
mod known;
mod number;
mod open_period;
mod pattern;
mod period;
mod request;
mod scope;
mod scopes;
mod series_error;
mod source;
mod span;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
mod sql;
#[cfg(feature = "sqlite")]
mod sqlite;
mod status;
mod store;
mod tight;
mod version;

pub use all::{Builder, Series};
pub use date::{Date, ParseDateError};
pub use definition::SeriesDefinition;
pub use error::{FormatError, ParseError, PatternError, SeriesDefinitionError};
pub use forecast::Forecast;
#[cfg(any(
    feature = "postgres",
    feature = "sqlite",
    all(feature = "mysql", any(feature = "sqlx-0_8", feature = "sqlx-0_9"))
))]
pub use gapless::GaplessTransaction;
pub use generator::{SeriesGenerator, SeriesTakeN};
pub use number::SeriesNumber;
pub use pattern::{Parsed, Pattern};
pub use period::{ParsePeriodError, Period, Unit};
pub use scope::{ScopeError, valid_scope};
pub use series_error::SeriesError;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
pub(crate) use sql::SqlSeries;
pub use status::{ScopeStatus, SeriesStatus};
pub(crate) use store::SeriesStore;
pub use store::{CounterRecord, Remembered, SeriesRecord, SeriesVersion};
pub use tight::TightCounter;

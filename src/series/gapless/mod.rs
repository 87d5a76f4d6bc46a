//! Numbers that are counted in the caller's transaction.
//!
//! One statement makes the counter or counts it up, where the series is there, gapless, not closed
//! and was not changed without the caller's knowledge. The row stays locked until the transaction
//! ends, so the next number is given when it is known whether this one is used. The row of the
//! series is locked for changes, so that no version begins and no period is closed meanwhile.

mod count;
#[cfg(feature = "sqlite")]
mod rusqlite;
#[cfg(any(feature = "sqlx-0_8", feature = "sqlx-0_9"))]
mod sqlx;
#[cfg(feature = "postgres")]
mod tokio_postgres;
mod unopened;
mod with;

pub use count::{Dialect, Gapless};
pub use unopened::{GaplessGenerator, GaplessSeries};
pub use with::{SqlValue, count_with, count_with_async};

#[cfg(any(feature = "postgres", feature = "sqlx-0_8", feature = "sqlx-0_9"))]
use std::pin::Pin;

#[cfg(any(feature = "postgres", feature = "sqlx-0_8", feature = "sqlx-0_9"))]
use crate::series::error::SeriesError;
#[cfg(any(feature = "postgres", feature = "sqlx-0_8", feature = "sqlx-0_9"))]
use crate::series::form::number::SeriesNumber;

/// A transaction in which the numbers of a gapless series can be counted, by
/// [`SeriesGenerator::take_in`](super::SeriesGenerator::take_in).
///
/// | transaction | feature | `take_in` returns |
/// |---|---|---|
/// | `rusqlite::Transaction` | `sqlite` | a `Result` |
/// | `sqlx::Transaction` of SQLite, PostgreSQL, MySQL, `Any` | `sqlx-0_8`, `sqlx-0_9` | a future |
/// | `tokio_postgres::Transaction` | `postgres` | a future |
///
/// For all others there are [`take_with`](super::SeriesGenerator::take_with) and
/// [`take_with_async`](super::SeriesGenerator::take_with_async).
///
/// Any isolation level will do. Where the database finds that transactions stand in each other's
/// way, it refuses one of them, which is to be rolled back and tried again: PostgreSQL from
/// `REPEATABLE READ` on, MySQL where it sees a deadlock, and SQLite in WAL mode and MariaDB with
/// `innodb_snapshot_isolation`, which is on from its version 11.6 on, where a transaction has read
/// before others wrote. [`is_transient`](super::SeriesError::is_transient) tells such errors, and
/// those of waits that took too long. So is one to be tried again that sees the series as it was
/// before a change, by [`SeriesError::Changed`](super::SeriesError::Changed).
///
/// A SQLite file that the program keeps in WAL mode will do as well: the numbers are then in its
/// log, as the documents are. Nothing else of this library is given in such a file.
///
/// All that a process does with a SQLite file must go through one copy of SQLite, that of the
/// transaction: two copies in one process undo each other's locks.
pub trait GaplessTransaction {
    /// The number or the error, or a future of it.
    type Taken<'a>
    where
        Self: 'a;

    /// Counts one number.
    #[doc(hidden)]
    fn count<'a>(&'a mut self, gapless: Gapless<'a>) -> Self::Taken<'a>;
}

/// A number that is being counted.
#[cfg(any(feature = "postgres", feature = "sqlx-0_8", feature = "sqlx-0_9"))]
pub type Counting<'a> =
    Pin<Box<dyn Future<Output = Result<SeriesNumber, SeriesError>> + Send + 'a>>;

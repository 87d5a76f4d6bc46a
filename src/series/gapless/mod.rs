//! Numbers that are counted in the caller's transaction.
//!
//! One statement makes the counter or counts it up, where the series is there, gapless, not closed
//! and was not changed without the caller's knowledge. The row stays locked until the transaction
//! ends, so the next number is given when it is known whether this one is used. The row of the
//! series is locked for changes, so that no version begins and no period is closed meanwhile.

mod count;
#[cfg(feature = "diesel-2")]
mod diesel;
#[cfg(feature = "mysql")]
mod mysql_async;
#[cfg(feature = "sqlite")]
mod rusqlite;
#[cfg(any(feature = "sea-orm-1", feature = "sea-orm-2"))]
mod sea_orm;
#[cfg(any(feature = "sqlx-0_8", feature = "sqlx-0_9"))]
mod sqlx;
#[cfg(feature = "postgres")]
mod tokio_postgres;
mod unopened;
mod with;

pub use count::{Dialect, Gapless};
pub use unopened::{GaplessGenerator, GaplessSeries};
pub use with::{SqlValue, count_with, count_with_async};

use std::pin::Pin;

use crate::series::error::SeriesError;

/// A transaction in which the numbers of a gapless series can be counted, by
/// [`SeriesGenerator::take_in`](super::SeriesGenerator::take_in).
///
/// | transaction | feature | `take_in` returns |
/// |---|---|---|
/// | `rusqlite::Transaction` | `sqlite` | a `Result` |
/// | any connection of diesel 2 to SQLite, PostgreSQL or MySQL | `diesel-2` | a `Result` |
/// | `tokio_postgres::Transaction` | `postgres` | a future |
/// | `mysql_async::Transaction` | `mysql` | a future |
/// | `sqlx::Transaction` of SQLite, PostgreSQL, MySQL, `Any` | `sqlx-0_8`, `sqlx-0_9` | a future |
/// | `sea_orm::DatabaseTransaction`, or a reference to one | `sea-orm-1`, `sea-orm-2` | a future |
///
/// For all others there are [`take_with`](super::SeriesGenerator::take_with) and
/// [`take_with_async`](super::SeriesGenerator::take_with_async).
///
/// The transactions of diesel have no type of their own. Call `take_in` with the connection that
/// the closure of `transaction` is given; a connection that is in no transaction is refused before
/// anything is counted. The closure of SeaORM is given a reference, for `take_in(&mut &*it)`.
///
/// Any isolation level will do. Where the database finds that transactions stand in each other's
/// way, it refuses one of them, which is to be rolled back and tried again: PostgreSQL from
/// `REPEATABLE READ` on, MySQL where it sees a deadlock, and SQLite in WAL mode and MariaDB with
/// `innodb_snapshot_isolation`, which is on from its version 11.6 on, where a transaction has read
/// before others wrote. [`is_transient`](super::SeriesError::is_transient) tells such errors, and
/// those of waits that took too long. A transaction that still sees the series as it
/// was before a change fails with [`SeriesError::Changed`](super::SeriesError::Changed), and is to
/// be tried again as well.
///
/// A SQLite file that the program keeps in WAL mode will do as well: the numbers are then in its
/// log, as the documents are. Nothing else of this library is given in such a file.
///
/// All that a process does with a SQLite file must go through one copy of SQLite, that of the
/// transaction: two copies in one process undo each other's locks.
///
/// `Driver` tells the connections of diesel from the types of others; there is no need to name it.
#[diagnostic::on_unimplemented(
    message = "no numbers can be counted in a `{Self}`",
    note = "the documentation of `GaplessTransaction` has a list of transactions and their features"
)]
pub trait GaplessTransaction<Driver = ()> {
    /// What was counted or the error, or a future of it.
    type Taken<'a, N: 'a>
    where
        Self: 'a;

    /// Counts numbers.
    #[doc(hidden)]
    fn count<'a, N: 'a>(&'a mut self, gapless: Gapless<'a, N>) -> Self::Taken<'a, N>;
}

/// Numbers that are being counted.
#[allow(dead_code, reason = "those of some features return at once")]
pub type Counting<'a, N> = Pin<Box<dyn Future<Output = Result<N, SeriesError>> + Send + 'a>>;

//! The takes of a [`SeriesGenerator`] in a transaction of the caller's.

use std::error::Error;

use crate::series::error::SeriesError;
use crate::series::form::date::Date;
use crate::series::form::number::SeriesNumber;
use crate::series::gapless::{
    Dialect, Gapless, GaplessTransaction, SqlValue, count_with, count_with_async,
};
use crate::series::generator::SeriesGenerator;

impl SeriesGenerator {
    /// Counts the next number of the present period in the caller's `transaction`: that of the
    /// document that has the number. So both are stored together, or neither is, and a rollback
    /// leaves no gap.
    ///
    /// The transaction is one of rusqlite, sqlx, SeaORM, diesel, tokio-postgres or `mysql_async`,
    /// as [the trait](GaplessTransaction) says. Those that wait return a future.
    ///
    /// Until it ends, all other transactions that count in the same period and scope wait: count
    /// as the last step before the commit; or as the first one, before the transaction reads, where
    /// it would be refused otherwise, as [the trait](GaplessTransaction) says.
    ///
    /// Show the number to nobody before the commit has succeeded: after a rollback, also one to a
    /// savepoint, another document gets it. So it does where a crash takes the commit back. How
    /// safe commits are is a setting of the caller's connection, such as `synchronous_commit` of
    /// PostgreSQL and `PRAGMA synchronous` of SQLite, which is to be `EXTRA` here.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::series::{Series, SeriesDefinition};
    /// # let folder = tempfile::tempdir()?;
    /// # let file = folder.path().join("uidring.db");
    /// # let store = uidring::Store::open(&file)?;
    /// # let series = Series::builder().store(&store).build()?;
    /// let definition = SeriesDefinition::new("{yyyy}-{n:5}{check:damm}")?.gapless();
    /// let invoices = series.create("invoices", definition)?;
    ///
    /// let mut database = rusqlite::Connection::open(&file)?;
    /// database.execute("CREATE TABLE invoice (number TEXT PRIMARY KEY)", [])?;
    /// let mut transaction = database.transaction()?;
    /// let number = invoices.take_in(&mut transaction)?;
    /// transaction.execute("INSERT INTO invoice VALUES (?1)", [number.as_str()])?;
    /// transaction.commit()?;
    /// assert_eq!(number.value(), 1);
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`NotGapless`], [`OtherDatabase`], [`Transaction`] when the database refuses the statement,
    /// such as to avoid a deadlock ([`is_transient`] says whether a new transaction may count),
    /// also when a connection of diesel is in none, [`Changed`] when the transaction began before a
    /// change; otherwise as [`take`](SeriesGenerator::take). Roll the transaction back after an
    /// error, and after a future that was dropped: the database may have counted, and a commit
    /// would leave a gap.
    ///
    /// [`NotGapless`]: crate::series::SeriesError::NotGapless
    /// [`OtherDatabase`]: crate::series::SeriesError::OtherDatabase
    /// [`Transaction`]: crate::series::SeriesError::Transaction
    /// [`is_transient`]: crate::series::SeriesError::is_transient
    /// [`Changed`]: crate::series::SeriesError::Changed
    pub fn take_in<'a, T, Driver>(&'a self, transaction: &'a mut T) -> T::Taken<'a, SeriesNumber>
    where
        T: GaplessTransaction<Driver>,
    {
        transaction.count(Gapless::one(&self.handle, None))
    }

    /// Does what [`take_in`](SeriesGenerator::take_in) does, for the period of a `date`.
    ///
    /// # Errors
    ///
    /// As [`take_in`](SeriesGenerator::take_in).
    pub fn take_in_for<'a, T, Driver>(
        &'a self,
        transaction: &'a mut T,
        date: Date,
    ) -> T::Taken<'a, SeriesNumber>
    where
        T: GaplessTransaction<Driver>,
    {
        transaction.count(Gapless::one(&self.handle, Some(date)))
    }

    /// Counts the next `count` numbers of the present period in the caller's `transaction`, at
    /// least one and at most a million: those that so many calls of
    /// [`take_in`](SeriesGenerator::take_in) would get, without gaps between them. They ascend, and
    /// all belong to one reading of the clock.
    ///
    /// However many they are, one statement counts them, or two on MySQL. If fewer fit the pattern,
    /// it takes those, by one statement more.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::series::{Series, SeriesDefinition};
    /// # let folder = tempfile::tempdir()?;
    /// # let file = folder.path().join("uidring.db");
    /// # let store = uidring::Store::open(&file)?;
    /// # let series = Series::builder().store(&store).build()?;
    /// let invoices = series.create("invoices", SeriesDefinition::new("R{n:4}")?.gapless())?;
    /// let mut database = rusqlite::Connection::open(&file)?;
    /// let mut transaction = database.transaction()?;
    /// let numbers = invoices.take_n_in(&mut transaction, 9_000)?;
    /// assert_eq!(numbers[8_999].to_string(), "R9000");
    /// assert_eq!(invoices.take_n_in(&mut transaction, 9_000)?.len(), 999);
    /// transaction.commit()?;
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`take_in`](SeriesGenerator::take_in).
    pub fn take_n_in<'a, T, Driver>(
        &'a self,
        transaction: &'a mut T,
        count: usize,
    ) -> T::Taken<'a, Vec<SeriesNumber>>
    where
        T: GaplessTransaction<Driver>,
    {
        transaction.count(Gapless::many(&self.handle, None, count))
    }

    /// Does what [`take_n_in`](SeriesGenerator::take_n_in) does, for the period of a `date`.
    ///
    /// # Errors
    ///
    /// As [`take_in`](SeriesGenerator::take_in).
    pub fn take_n_in_for<'a, T, Driver>(
        &'a self,
        transaction: &'a mut T,
        date: Date,
        count: usize,
    ) -> T::Taken<'a, Vec<SeriesNumber>>
    where
        T: GaplessTransaction<Driver>,
    {
        transaction.count(Gapless::many(&self.handle, Some(date), count))
    }

    /// Does what [`take_in`](SeriesGenerator::take_in) does, in a transaction of any driver: `rows`
    /// runs a statement with values in it, and returns the rows that there are, whose columns are
    /// all texts or nothing. It is called two to four times, and more often where the series has
    /// changed.
    ///
    /// The places of values are `$1`, `$2` and so on for PostgreSQL, and `?` for the others. MySQL
    /// prepares no statement about savepoints, so a statement without values is to be run as it is.
    /// A SQLite file goes through one copy of SQLite in a process, as [the
    /// trait](GaplessTransaction) says.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::series::{Dialect, Series, SeriesDefinition, SqlValue};
    /// # use rusqlite::types::Value;
    /// # let folder = tempfile::tempdir()?;
    /// # let file = folder.path().join("uidring.db");
    /// # let store = uidring::Store::open(&file)?;
    /// # let series = Series::builder().store(&store).build()?;
    /// # let definition = SeriesDefinition::new("{yyyy}-{n:5}{check:damm}")?.gapless();
    /// # let invoices = series.create("invoices", definition)?;
    /// # let database = rusqlite::Connection::open(&file)?;
    /// let my_rows = |sql: &str, values: &[SqlValue]| {
    ///     let mut statement = database.prepare(sql)?;
    ///     let columns = statement.column_count();
    ///     let values = values.iter().map(|value| match value {
    ///         SqlValue::Integer(number) => Value::Integer(*number),
    ///         SqlValue::Text(text) => Value::Text(text.clone()),
    ///     });
    ///     let rows = statement.query_map(rusqlite::params_from_iter(values), |row| {
    ///         (0..columns).map(|column| row.get(column)).collect()
    ///     })?;
    ///     rows.collect::<Result<Vec<_>, rusqlite::Error>>()
    /// };
    /// database.execute_batch("BEGIN")?;
    /// let number = invoices.take_with(Dialect::Sqlite, my_rows)?;
    /// database.execute_batch("COMMIT")?;
    /// assert_eq!(number.value(), 1);
    ///
    /// let error = invoices.take_with(Dialect::Sqlite, my_rows).unwrap_err();
    /// # let error = std::error::Error::source(&error).unwrap();
    /// assert!(error.to_string().starts_with("the connection is not in a transaction"));
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`take_in`](SeriesGenerator::take_in); also [`Transaction`] where the connection is in
    /// none, before anything is counted. What `rows` returns as an error is its source, of which
    /// [`is_transient`] knows those of the drivers that [the trait](GaplessTransaction) lists.
    ///
    /// [`Transaction`]: crate::series::SeriesError::Transaction
    /// [`is_transient`]: crate::series::SeriesError::is_transient
    pub fn take_with<E>(
        &self,
        dialect: Dialect,
        rows: impl FnMut(&str, &[SqlValue]) -> Result<Vec<Vec<Option<String>>>, E>,
    ) -> Result<SeriesNumber, SeriesError>
    where
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        count_with(Gapless::one(&self.handle, None), dialect, rows)
    }

    /// Does what [`take_with`](SeriesGenerator::take_with) does, for the period of a `date`.
    ///
    /// # Errors
    ///
    /// As [`take_with`](SeriesGenerator::take_with).
    pub fn take_with_for<E>(
        &self,
        dialect: Dialect,
        date: Date,
        rows: impl FnMut(&str, &[SqlValue]) -> Result<Vec<Vec<Option<String>>>, E>,
    ) -> Result<SeriesNumber, SeriesError>
    where
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        count_with(Gapless::one(&self.handle, Some(date)), dialect, rows)
    }

    /// Does what [`take_with`](SeriesGenerator::take_with) does, with a function that returns a
    /// future, one at a time. A connection that such a future borrows mutably has to be behind a
    /// lock. Roll the transaction back after a future that was dropped: it may have counted.
    ///
    /// # Errors
    ///
    /// As [`take_with`](SeriesGenerator::take_with).
    pub async fn take_with_async<F, E>(
        &self,
        dialect: Dialect,
        rows: impl FnMut(String, Vec<SqlValue>) -> F,
    ) -> Result<SeriesNumber, SeriesError>
    where
        F: Future<Output = Result<Vec<Vec<Option<String>>>, E>>,
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        count_with_async(Gapless::one(&self.handle, None), dialect, false, rows).await
    }

    /// Does what [`take_with_async`](SeriesGenerator::take_with_async) does, for the period of a
    /// `date`.
    ///
    /// # Errors
    ///
    /// As [`take_with`](SeriesGenerator::take_with).
    pub async fn take_with_async_for<F, E>(
        &self,
        dialect: Dialect,
        date: Date,
        rows: impl FnMut(String, Vec<SqlValue>) -> F,
    ) -> Result<SeriesNumber, SeriesError>
    where
        F: Future<Output = Result<Vec<Vec<Option<String>>>, E>>,
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        count_with_async(Gapless::one(&self.handle, Some(date)), dialect, false, rows).await
    }

    /// Does what [`take_with_async`](SeriesGenerator::take_with_async) does, for the period of a
    /// `date` if there is one, in a transaction of which the driver says that it has begun: nothing
    /// is asked about that, which saves two statements.
    ///
    /// # Errors
    ///
    /// As [`take_with`](SeriesGenerator::take_with).
    pub async fn take_with_begun<F, E>(
        &self,
        dialect: Dialect,
        date: Option<Date>,
        rows: impl FnMut(String, Vec<SqlValue>) -> F,
    ) -> Result<SeriesNumber, SeriesError>
    where
        F: Future<Output = Result<Vec<Vec<Option<String>>>, E>>,
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        count_with_async(Gapless::one(&self.handle, date), dialect, true, rows).await
    }

    /// Does what [`take_n_in`](SeriesGenerator::take_n_in) does, in a transaction of any driver, as
    /// [`take_with`](SeriesGenerator::take_with) is.
    ///
    /// # Errors
    ///
    /// As [`take_with`](SeriesGenerator::take_with).
    pub fn take_n_with<E>(
        &self,
        dialect: Dialect,
        count: usize,
        rows: impl FnMut(&str, &[SqlValue]) -> Result<Vec<Vec<Option<String>>>, E>,
    ) -> Result<Vec<SeriesNumber>, SeriesError>
    where
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        count_with(Gapless::many(&self.handle, None, count), dialect, rows)
    }

    /// Does what [`take_n_with`](SeriesGenerator::take_n_with) does, for the period of a `date`.
    ///
    /// # Errors
    ///
    /// As [`take_with`](SeriesGenerator::take_with).
    pub fn take_n_with_for<E>(
        &self,
        dialect: Dialect,
        date: Date,
        count: usize,
        rows: impl FnMut(&str, &[SqlValue]) -> Result<Vec<Vec<Option<String>>>, E>,
    ) -> Result<Vec<SeriesNumber>, SeriesError>
    where
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        count_with(Gapless::many(&self.handle, Some(date), count), dialect, rows)
    }

    /// Does what [`take_n_with`](SeriesGenerator::take_n_with) does, with a function that returns a
    /// future, as [`take_with_async`](SeriesGenerator::take_with_async) has it.
    ///
    /// # Errors
    ///
    /// As [`take_with`](SeriesGenerator::take_with).
    pub async fn take_n_with_async<F, E>(
        &self,
        dialect: Dialect,
        count: usize,
        rows: impl FnMut(String, Vec<SqlValue>) -> F,
    ) -> Result<Vec<SeriesNumber>, SeriesError>
    where
        F: Future<Output = Result<Vec<Vec<Option<String>>>, E>>,
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        count_with_async(Gapless::many(&self.handle, None, count), dialect, false, rows).await
    }

    /// Does what [`take_n_with_async`](SeriesGenerator::take_n_with_async) does, for the period of
    /// a `date`.
    ///
    /// # Errors
    ///
    /// As [`take_with`](SeriesGenerator::take_with).
    pub async fn take_n_with_async_for<F, E>(
        &self,
        dialect: Dialect,
        date: Date,
        count: usize,
        rows: impl FnMut(String, Vec<SqlValue>) -> F,
    ) -> Result<Vec<SeriesNumber>, SeriesError>
    where
        F: Future<Output = Result<Vec<Vec<Option<String>>>, E>>,
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        count_with_async(Gapless::many(&self.handle, Some(date), count), dialect, false, rows).await
    }
}

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
    /// The transaction is one of rusqlite, sqlx or tokio-postgres, as [the
    /// trait](GaplessTransaction) says. Those that wait return a future.
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
    /// [`Changed`] when the transaction began before a change; otherwise as
    /// [`take`](SeriesGenerator::take). Roll the transaction back after an error, and after a
    /// future that was dropped: the database may have counted, and a commit would leave a gap.
    ///
    /// [`NotGapless`]: crate::series::SeriesError::NotGapless
    /// [`OtherDatabase`]: crate::series::SeriesError::OtherDatabase
    /// [`Transaction`]: crate::series::SeriesError::Transaction
    /// [`is_transient`]: crate::series::SeriesError::is_transient
    /// [`Changed`]: crate::series::SeriesError::Changed
    pub fn take_in<'a, T: GaplessTransaction>(&'a self, transaction: &'a mut T) -> T::Taken<'a> {
        transaction.count(Gapless::now(&self.handle))
    }

    /// Does what [`take_in`](SeriesGenerator::take_in) does, for the period of a `date`.
    ///
    /// # Errors
    ///
    /// As [`take_in`](SeriesGenerator::take_in).
    pub fn take_in_for<'a, T: GaplessTransaction>(
        &'a self,
        transaction: &'a mut T,
        date: Date,
    ) -> T::Taken<'a> {
        transaction.count(Gapless::on(&self.handle, date))
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
    /// [`is_transient`] knows those of rusqlite, sqlx, tokio-postgres and `mysql_async`.
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
        count_with(Gapless::now(&self.handle), dialect, rows)
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
        count_with(Gapless::on(&self.handle, date), dialect, rows)
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
        count_with_async(Gapless::now(&self.handle), dialect, false, rows).await
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
        count_with_async(Gapless::on(&self.handle, date), dialect, false, rows).await
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
        let gapless = match date {
            Some(date) => Gapless::on(&self.handle, date),
            None => Gapless::now(&self.handle),
        };
        count_with_async(gapless, dialect, true, rows).await
    }
}

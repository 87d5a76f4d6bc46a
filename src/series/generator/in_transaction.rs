//! The takes of a [`SeriesGenerator`] in a transaction of the caller's.

use crate::series::form::date::Date;
use crate::series::gapless::{Gapless, GaplessTransaction};
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
}

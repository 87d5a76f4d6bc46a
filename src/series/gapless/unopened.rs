//! [`GaplessSeries`], gapless series of which the library opens no store.

use std::error::Error;

use super::count::{Dialect, Gapless};
use super::with::{SqlValue, count_with_async, learn_with_async};
use crate::series::error::SeriesError;
use crate::series::form::date::Date;
use crate::series::form::error::ParseError;
use crate::series::form::number::SeriesNumber;
use crate::series::form::pattern::Parsed;
use crate::series::memory::known_series::KnownSeries;
use crate::sync::Arc;

/// Gapless series in a database that only the program's own driver talks to: each series is read by
/// the transaction that counts in it first, and again where it was changed since.
///
/// So it has no connection and no thread, needs no close, and goes on in a forked process. It is
/// the way to count in a SQLite file that the program has open through another copy of SQLite: two
/// copies in one process undo each other's locks, so that only one of them may open the file.
///
/// This is a handle: clones share what they have read. Use one for each database. With one for
/// several, numbers are right as well, but each change of the database costs two more statements.
///
/// ```
/// # #[cfg(feature = "sqlite")] {
/// # use uidring::series::{Series, SeriesDefinition, SqlValue};
/// # use rusqlite::types::Value;
/// # let folder = tempfile::tempdir()?;
/// # let file = folder.path().join("uidring.db");
/// # let store = uidring::Store::open(&file)?;
/// # let definition = SeriesDefinition::new("{yyyy}-{n:5}{check:damm}")?.gapless();
/// # Series::builder().store(&store).build()?.create("invoices", definition)?;
/// use std::future::ready;
/// use uidring::series::{Dialect, GaplessSeries};
///
/// let invoices = GaplessSeries::new().get("invoices");
/// # let database = rusqlite::Connection::open(&file)?;
/// # let my_rows = |sql: &str, values: &[SqlValue]| {
/// #     let mut statement = database.prepare(sql)?;
/// #     let columns = statement.column_count();
/// #     let values = values.iter().map(|value| match value {
/// #         SqlValue::Integer(number) => Value::Integer(*number),
/// #         SqlValue::Text(text) => Value::Text(text.clone()),
/// #     });
/// #     let rows = statement.query_map(rusqlite::params_from_iter(values), |row| {
/// #         (0..columns).map(|column| row.get(column)).collect()
/// #     })?;
/// #     rows.collect::<Result<Vec<_>, rusqlite::Error>>()
/// # };
/// database.execute_batch("BEGIN")?;
/// let rows = |sql: String, values: Vec<SqlValue>| ready(my_rows(&sql, &values));
/// # let number = pollster::block_on(async {
/// let number = invoices.take_with_async(Dialect::Sqlite, None, rows).await?;
/// # Ok::<_, uidring::series::SeriesError>(number)
/// # })?;
/// database.execute_batch("COMMIT")?;
/// assert_eq!(number.value(), 1);
/// assert_eq!(invoices.parse(number.as_str()).unwrap()?.value(), 1);
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct GaplessSeries {
    known: Arc<KnownSeries>,
}

impl GaplessSeries {
    /// Series of which nothing is known yet.
    #[must_use]
    pub fn new() -> GaplessSeries {
        GaplessSeries::default()
    }

    /// The series of this name, which need not be there yet. Nothing is asked.
    #[must_use]
    pub fn get(&self, name: &str) -> GaplessGenerator {
        let (series, scope) = (name.into(), Box::default());
        GaplessGenerator { known: Arc::clone(&self.known), series, scope }
    }
}

/// Counts the numbers of one of [`GaplessSeries`], or of a scope of it.
#[derive(Clone, Debug)]
pub struct GaplessGenerator {
    known: Arc<KnownSeries>,
    series: Box<str>,
    scope: Box<str>,
}

impl GaplessGenerator {
    /// What counts by itself within the series, as
    /// [`SeriesGenerator::scope`](crate::series::SeriesGenerator::scope) says.
    #[must_use]
    pub fn scope(&self, scope: &str) -> GaplessGenerator {
        GaplessGenerator { scope: scope.into(), ..self.clone() }
    }

    /// Counts the next number of the present period, or of that of a `date`, as
    /// [`SeriesGenerator::take_with_async`](crate::series::SeriesGenerator::take_with_async) does.
    ///
    /// # Errors
    ///
    /// As [`take_with`](crate::series::SeriesGenerator::take_with), and
    /// [`NoSuchSeries`](SeriesError::NoSuchSeries) where the transaction finds none.
    pub async fn take_with_async<F, E>(
        &self,
        dialect: Dialect,
        date: Option<Date>,
        rows: impl FnMut(String, Vec<SqlValue>) -> F,
    ) -> Result<SeriesNumber, SeriesError>
    where
        F: Future<Output = Result<Vec<Vec<Option<String>>>, E>>,
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        count_with_async(self.gapless(date), dialect, false, rows).await
    }

    /// Does the same in a transaction of which the driver says that it has begun: nothing is asked
    /// about that, which saves two statements.
    ///
    /// # Errors
    ///
    /// As [`take_with_async`](GaplessGenerator::take_with_async).
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
        count_with_async(self.gapless(date), dialect, true, rows).await
    }

    /// Reads the series, with or without a transaction, so that its texts can be made and read.
    ///
    /// # Errors
    ///
    /// As [`take_with_async`](GaplessGenerator::take_with_async).
    pub async fn read_with_async<F, E>(
        &self,
        dialect: Dialect,
        rows: impl FnMut(String, Vec<SqlValue>) -> F,
    ) -> Result<(), SeriesError>
    where
        F: Future<Output = Result<Vec<Vec<Option<String>>>, E>>,
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        learn_with_async(self.gapless(None), dialect, rows).await
    }

    /// Whether the series was read, by a number that was counted or by
    /// [`read_with_async`](GaplessGenerator::read_with_async).
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.known.get(&self.series).is_some()
    }

    /// Reads a number of any version of the series, as it was read last. `None` before that.
    ///
    /// # Errors
    ///
    /// The error of the newest version, if none has written such a text.
    #[must_use]
    pub fn parse(&self, text: &str) -> Option<Result<Parsed, ParseError>> {
        Some(self.known.get(&self.series)?.parse(text))
    }

    /// The text of a number of the present period, or of that of a `date`, as the series was read
    /// last. `None` before that.
    ///
    /// # Errors
    ///
    /// As [`SeriesGenerator::format`](crate::series::SeriesGenerator::format).
    #[must_use]
    pub fn format(&self, date: Option<Date>, number: u64) -> Option<Result<String, SeriesError>> {
        let cached = self.known.get(&self.series)?;
        Some(cached.format(date, KnownSeries::now_ms(), &self.scope, number))
    }

    fn gapless(&self, date: Option<Date>) -> Gapless<'_, SeriesNumber> {
        Gapless::read(&self.known, &self.series, &self.scope, date)
    }
}

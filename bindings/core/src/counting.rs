//! [`Asking`], what is done by statements that a program in another language runs.

use std::error::Error as StdError;
use std::fmt;
use std::future::poll_fn;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use uidring::series::{
    Date, Dialect, GaplessGenerator, SeriesError, SeriesGenerator, SeriesNumber, SqlValue,
};

use crate::error::Error;
use crate::files;

/// The rows of a statement, whose columns are all texts or nothing.
pub type Rows = Vec<Vec<Option<String>>>;

/// Something that is being done in a transaction that only the program's driver knows.
///
/// The program runs each statement that a step asks for and answers with its rows, until a step has
/// the result. So a driver may block or wait, whatever its language calls that.
pub struct Asking<T> {
    /// In a lock that nobody takes: so threads may share what only one of them changes.
    working: Mutex<Working<T>>,
    exchange: Arc<Mutex<Exchange>>,
}

type Working<T> = Pin<Box<dyn Future<Output = Result<T, AskError>> + Send>>;

/// A gapless number that is being counted.
pub type Counting = Asking<SeriesNumber>;

/// A series that is being read.
pub type Reading = Asking<()>;

/// What is asked of the program, and what it has answered.
#[derive(Default)]
struct Exchange {
    asked: Option<Statement>,
    answered: Option<Result<Rows, String>>,
}

/// A statement to be run in the transaction, as it is if it has no values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// In the syntax of the database.
    pub sql: String,
    /// Those of its places, in their order.
    pub values: Vec<SqlValue>,
}

/// How the places of values are written in a statement. In those of the library they are `$1`, `$2`
/// and so on for PostgreSQL, and `?` for the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Places {
    /// As the library writes them.
    Own,
    /// `?`, as for JDBC.
    Question,
    /// `%s`, as for most drivers of Python; `%` is `%%`.
    Format,
}

/// What is next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step<T> {
    /// Run this statement.
    Run(Statement),
    /// This is the result.
    Done(T),
}

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AskError {
    /// The program's driver has failed, as the program knows.
    Driver,
    /// Anything else.
    Other(Error),
}

impl From<Error> for AskError {
    fn from(error: Error) -> AskError {
        AskError::Other(error)
    }
}

impl From<SeriesError> for AskError {
    fn from(error: SeriesError) -> AskError {
        match error {
            SeriesError::Transaction { source, .. } if source.is::<DriverFailed>() => {
                AskError::Driver
            }
            SeriesError::NoSuchSeries { ref series, .. } => {
                let create = format!("uidring series create {series} PATTERN --gapless");
                let error = Error::from(error);
                let message = format!(
                    "{}; do it ahead of the transaction, by `{create}` with the database's \
                     address, or by the call create of series that were opened there",
                    error.message
                );
                AskError::Other(Error { message, ..error })
            }
            error => AskError::Other(Error::from(error).about("the series")),
        }
    }
}

/// What the program's driver has said.
#[derive(Debug)]
struct DriverFailed(String);

impl fmt::Display for DriverFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl StdError for DriverFailed {}

impl<T> fmt::Debug for Asking<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Asking").finish_non_exhaustive()
    }
}

impl Statement {
    /// The statement as a driver reads it.
    #[must_use]
    pub fn sql_with(&self, places: Places) -> String {
        let place = match places {
            _ if self.values.is_empty() => return self.sql.clone(),
            Places::Own => return self.sql.clone(),
            Places::Question => "?",
            Places::Format => "%s",
        };
        // No text in a statement of the library has one of these signs.
        let mut written = String::with_capacity(self.sql.len() + self.values.len());
        let mut rest = self.sql.as_str();
        while let Some(at) = rest.find(['?', '$', '%']) {
            written.push_str(&rest[..at]);
            let sign = &rest[at..=at];
            rest = &rest[at + 1..];
            match (sign, places) {
                ("%", Places::Format) => written.push_str("%%"),
                ("%", _) => written.push('%'),
                _ => {
                    written.push_str(place);
                    rest = rest.trim_start_matches(|digit: char| digit.is_ascii_digit());
                }
            }
        }
        written + rest
    }
}

/// Where a number is counted, and of which day.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transaction {
    pub(crate) dialect: Dialect,
    /// Whether the driver says that it has begun. Otherwise the database is asked.
    pub(crate) has_begun: bool,
}

/// The program's connection, for the library.
#[derive(Clone)]
struct Connection(Arc<Mutex<Exchange>>);

impl Connection {
    fn lock(&self) -> MutexGuard<'_, Exchange> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn rows(self, sql: String, values: Vec<SqlValue>) -> Result<Rows, DriverFailed> {
        self.lock().asked = Some(Statement { sql, values });
        let answer = poll_fn(|_| match self.lock().answered.take() {
            Some(answer) => Poll::Ready(answer),
            None => Poll::Pending,
        });
        answer.await.map_err(DriverFailed)
    }

    /// The file of SQLite's that the connection has open. `None` for one in memory.
    async fn file(&self) -> Result<Option<String>, AskError> {
        let sql = "SELECT file FROM pragma_database_list WHERE name = 'main'".to_owned();
        let rows = self.clone().rows(sql, Vec::new()).await.map_err(|_| AskError::Driver)?;
        let file = rows.into_iter().next().and_then(|row| row.into_iter().next().flatten());
        Ok(file.filter(|file| !file.is_empty()))
    }

    /// Fails where the library has the file of this connection open in this process.
    async fn check_file(&self, dialect: Dialect, is_known: bool) -> Result<(), AskError> {
        // The file of a series that was read has been looked at, unless there is another one now.
        if dialect == Dialect::Sqlite
            && !(is_known && files::none_is_ours())
            && let Some(file) = self.file().await?
        {
            files::leave_to_program(Path::new(&file))?;
        }
        Ok(())
    }
}

impl<T> Asking<T> {
    fn new<F>(work: impl FnOnce(Connection) -> F) -> Asking<T>
    where
        F: Future<Output = Result<T, AskError>> + Send + 'static,
    {
        let exchange: Arc<Mutex<Exchange>> = Arc::default();
        let working: Working<T> = Box::pin(work(Connection(Arc::clone(&exchange))));
        Asking { working: Mutex::new(working), exchange }
    }

    /// Goes on with what the last statement has answered: its rows, or what the driver said. The
    /// first step answers nothing.
    ///
    /// # Errors
    /// There is no result. Roll the transaction back then.
    pub fn step(&mut self, answer: Option<Result<Rows, String>>) -> Result<Step<T>, AskError> {
        let connection = Connection(Arc::clone(&self.exchange));
        connection.lock().answered = answer;
        let working = self.working.get_mut().unwrap_or_else(PoisonError::into_inner);
        match working.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(result) => result.map(Step::Done),
            Poll::Pending => connection.lock().asked.take().map(Step::Run).ok_or_else(|| {
                AskError::Other(Error::argument("each statement is answered once, by its rows"))
            }),
        }
    }
}

impl Counting {
    /// Of a series in a store that is open.
    pub(crate) fn of_opened(
        series: SeriesGenerator,
        date: Option<Date>,
        Transaction { dialect, has_begun }: Transaction,
    ) -> Counting {
        Asking::new(move |connection| async move {
            let rows = |sql, values| connection.clone().rows(sql, values);
            Ok(match date {
                _ if has_begun => series.take_with_begun(dialect, date, rows).await,
                Some(date) => series.take_with_async_for(dialect, date, rows).await,
                None => series.take_with_async(dialect, rows).await,
            }?)
        })
    }

    /// Of a series that the transaction reads.
    pub(crate) fn of_unopened(
        series: GaplessGenerator,
        date: Option<Date>,
        Transaction { dialect, has_begun }: Transaction,
    ) -> Counting {
        Asking::new(move |connection| async move {
            connection.check_file(dialect, series.is_known()).await?;
            let rows = |sql, values| connection.clone().rows(sql, values);
            Ok(if has_begun {
                series.take_with_begun(dialect, date, rows).await
            } else {
                series.take_with_async(dialect, date, rows).await
            }?)
        })
    }
}

impl Reading {
    pub(crate) fn of(series: GaplessGenerator, dialect: Dialect) -> Reading {
        Asking::new(move |connection| async move {
            connection.check_file(dialect, series.is_known()).await?;
            let rows = |sql, values| connection.clone().rows(sql, values);
            Ok(series.read_with_async(dialect, rows).await?)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_written_as_a_driver_reads_them() {
        let values = vec![SqlValue::Integer(1), SqlValue::Text("a".to_owned())];
        let with = |sql: &str, places| {
            Statement { sql: sql.to_owned(), values: values.clone() }.sql_with(places)
        };
        assert_eq!(with("a = $1 AND b = $12 % 3", Places::Format), "a = %s AND b = %s %% 3");
        assert_eq!(with("a = $1 AND b = $12 % 3", Places::Question), "a = ? AND b = ? % 3");
        assert_eq!(with("a = ? AND b = ?", Places::Format), "a = %s AND b = %s");
        assert_eq!(with("a = $1 AND b = ?", Places::Own), "a = $1 AND b = ?");
        let alone = Statement { sql: "SET @a = 1 % 2".to_owned(), values: Vec::new() };
        assert_eq!(alone.sql_with(Places::Format), alone.sql);
    }
}

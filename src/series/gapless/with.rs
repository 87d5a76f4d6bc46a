//! Transactions of any driver, by a function of the caller's that runs statements.

use std::error::Error;
use std::future::ready;

use super::count::{Dialect, Driver, DriverError, Gapless, Texts};
use crate::backend::sql::{FRESH, Value};
use crate::series::error::SeriesError;

/// A value in a statement of [`take_with`](super::super::SeriesGenerator::take_with).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SqlValue {
    /// A whole number of 64 bits.
    Integer(i64),
    /// A text.
    Text(String),
}

fn of_value(value: Value) -> Option<SqlValue> {
    match value {
        Value::Int(number) => Some(SqlValue::Integer(number)),
        Value::Text(text) => Some(SqlValue::Text(text)),
        // No statement that counts has one.
        Value::Null => None,
    }
}

/// Counts by a function that runs a statement at once.
pub fn count_with<N, E>(
    gapless: Gapless<'_, N>,
    dialect: Dialect,
    mut rows: impl FnMut(&str, &[SqlValue]) -> Result<Vec<Texts>, E>,
) -> Result<N, SeriesError>
where
    E: Into<Box<dyn Error + Send + Sync>>,
{
    let rows = |sql: String, values: Vec<SqlValue>| ready(rows(&sql, &values));
    gapless.count_now(Statements { dialect, has_begun: false, rows })
}

/// Counts by a function that returns a future. Where a transaction `has_begun` for sure, nothing is
/// asked about it.
pub async fn count_with_async<N, F, E>(
    gapless: Gapless<'_, N>,
    dialect: Dialect,
    has_begun: bool,
    rows: impl FnMut(String, Vec<SqlValue>) -> F,
) -> Result<N, SeriesError>
where
    F: Future<Output = Result<Vec<Texts>, E>>,
    E: Into<Box<dyn Error + Send + Sync>>,
{
    gapless.count(Statements { dialect, has_begun, rows }).await
}

/// Reads the series by a function that returns a future.
pub async fn learn_with_async<N, F, E>(
    gapless: Gapless<'_, N>,
    dialect: Dialect,
    rows: impl FnMut(String, Vec<SqlValue>) -> F,
) -> Result<(), SeriesError>
where
    F: Future<Output = Result<Vec<Texts>, E>>,
    E: Into<Box<dyn Error + Send + Sync>>,
{
    let mut statements = Statements { dialect, has_begun: true, rows };
    gapless.learn(&mut statements).await.map(drop)
}

/// Whether an error or one of its causes has this text in it.
fn says(error: &(dyn Error + 'static), text: &str) -> bool {
    error.to_string().contains(text) || error.source().is_some_and(|cause| says(cause, text))
}

struct Statements<R> {
    dialect: Dialect,
    has_begun: bool,
    rows: R,
}

impl<R, F, E> Driver for Statements<R>
where
    R: FnMut(String, Vec<SqlValue>) -> F,
    F: Future<Output = Result<Vec<Texts>, E>>,
    E: Into<Box<dyn Error + Send + Sync>>,
{
    fn dialect(&self) -> Dialect {
        self.dialect
    }

    async fn rows(&mut self, sql: String, values: Vec<Value>) -> Result<Vec<Texts>, DriverError> {
        let values = values.into_iter().filter_map(of_value).collect();
        (self.rows)(sql, values).await.map_err(Into::into)
    }

    /// Nothing else says whether the function runs its statements in a transaction.
    async fn check_transaction(&mut self) -> Result<(), DriverError> {
        if self.has_begun { Ok(()) } else { ask_for_transaction(self).await }
    }
}

/// Fails where the statements of a driver run in no transaction, by what the database answers.
/// Outside of one, each is a transaction of its own: the number would be kept where the document is
/// not.
pub(super) async fn ask_for_transaction(driver: &mut impl Driver) -> Result<(), DriverError> {
    let is_in_transaction = match driver.dialect() {
        // What is set for a transaction ends with it.
        Dialect::Postgres => {
            let set = format!("{FRESH}SELECT set_config('uidring.is_counting', 'yes', true)");
            driver.rows(set, Vec::new()).await?;
            let get = format!("{FRESH}SELECT current_setting('uidring.is_counting', true)");
            driver.rows(get, Vec::new()).await? == [[Some("yes".to_owned())]]
        }
        // A savepoint ends with its transaction.
        Dialect::MySql => {
            driver.rows("SAVEPOINT uidring_count".to_owned(), Vec::new()).await?;
            let release = "RELEASE SAVEPOINT uidring_count".to_owned();
            match driver.rows(release, Vec::new()).await {
                Ok(_) => true,
                Err(error) if says(&*error, "uidring_count does not exist") => false,
                Err(error) => return Err(error),
            }
        }
        // There is one transaction at a time.
        Dialect::Sqlite => {
            let has_begun = driver.rows("BEGIN".to_owned(), Vec::new()).await.is_ok();
            if has_begun {
                driver.rows("ROLLBACK".to_owned(), Vec::new()).await?;
            }
            !has_begun
        }
    };
    if is_in_transaction {
        return Ok(());
    }
    Err("the connection is not in a transaction, and the number would be kept where the \
         document is not: begin a transaction, count in it, and store the document in it"
        .into())
}

//! The transactions of rusqlite.

use rusqlite::types::ValueRef;
use rusqlite::{ToSql, Transaction, params_from_iter};

use super::GaplessTransaction;
use super::count::{Dialect, Driver, DriverError, Gapless, Texts};
use crate::backend::sql::Value;
use crate::series::error::SeriesError;

impl GaplessTransaction for Transaction<'_> {
    type Taken<'a, N: 'a>
        = Result<N, SeriesError>
    where
        Self: 'a;

    fn count<'a, N: 'a>(&'a mut self, gapless: Gapless<'a, N>) -> Result<N, SeriesError> {
        gapless.count_now(Statements(self))
    }
}

struct Statements<'a, 'c>(&'a mut Transaction<'c>);

impl Driver for Statements<'_, '_> {
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    async fn rows(&mut self, sql: String, values: Vec<Value>) -> Result<Vec<Texts>, DriverError> {
        let mut statement = self.0.prepare_cached(&sql)?;
        let columns = statement.column_count();
        let values = values.iter().map(|value| match value {
            Value::Null => Box::new(rusqlite::types::Null) as Box<dyn ToSql>,
            Value::Int(number) => Box::new(*number),
            Value::Text(text) => Box::new(text.clone()),
        });
        let mut rows = statement.query(params_from_iter(values))?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let text = |column| {
                Ok(match row.get_ref(column)? {
                    ValueRef::Text(text) => Some(String::from_utf8_lossy(text).into_owned()),
                    _ => None,
                })
            };
            found.push((0..columns).map(text).collect::<Result<Texts, rusqlite::Error>>()?);
        }
        Ok(found)
    }
}

//! The transactions of tokio-postgres.

use tokio_postgres::Transaction;
use tokio_postgres::types::ToSql;

use super::count::{Dialect, Driver, DriverError, Gapless, Texts};
use super::{Counting, GaplessTransaction};
use crate::backend::sql::Value;

impl GaplessTransaction for Transaction<'_> {
    type Taken<'a, N: 'a>
        = Counting<'a, N>
    where
        Self: 'a;

    fn count<'a, N: 'a>(&'a mut self, gapless: Gapless<'a, N>) -> Counting<'a, N> {
        Box::pin(gapless.count(Statements(self)))
    }
}

struct Statements<'a, 'c>(&'a mut Transaction<'c>);

impl Driver for Statements<'_, '_> {
    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    async fn rows(&mut self, sql: String, values: Vec<Value>) -> Result<Vec<Texts>, DriverError> {
        let values: Vec<Box<dyn ToSql + Send + Sync>> = values
            .into_iter()
            .map(|value| match value {
                Value::Null => Box::new(None::<String>) as Box<dyn ToSql + Send + Sync>,
                Value::Int(number) => Box::new(number),
                Value::Text(text) => Box::new(text),
            })
            .collect();
        let values: Vec<&(dyn ToSql + Sync)> =
            values.iter().map(|value| &**value as &(dyn ToSql + Sync)).collect();
        let rows = self.0.query(&sql, &values).await?;
        let texts = |row: &tokio_postgres::Row| {
            (0..row.len()).map(|column| row.try_get(column)).collect::<Result<Texts, _>>()
        };
        Ok(rows.iter().map(texts).collect::<Result<_, _>>()?)
    }
}

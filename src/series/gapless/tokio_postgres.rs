//! The transactions of tokio-postgres.

use tokio_postgres::Transaction;
use tokio_postgres::types::{ToSql, Type};

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
        let values: Vec<(&(dyn ToSql + Sync), Type)> = values.iter().map(typed).collect();
        // Not prepared: that would be a call more, and a pooler may give each transaction another
        // connection.
        let rows = self.0.query_typed(&sql, &values).await?;
        let texts = |row: &tokio_postgres::Row| {
            (0..row.len()).map(|column| row.try_get(column)).collect::<Result<Texts, _>>()
        };
        Ok(rows.iter().map(texts).collect::<Result<_, _>>()?)
    }
}

fn typed(value: &Value) -> (&(dyn ToSql + Sync), Type) {
    match value {
        Value::Null => (&None::<i64>, Type::INT8),
        Value::Int(number) => (number, Type::INT8),
        Value::Text(text) => (text, Type::TEXT),
    }
}

//! The transactions of `mysql_async`.

use mysql_async::prelude::Queryable;
use mysql_async::{Params, Row, Transaction, Value as Column};

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
        Dialect::MySql
    }

    async fn rows(&mut self, sql: String, values: Vec<Value>) -> Result<Vec<Texts>, DriverError> {
        let values: Vec<Column> = values
            .into_iter()
            .map(|value| match value {
                Value::Null => Column::NULL,
                Value::Int(number) => number.into(),
                Value::Text(text) => text.into(),
            })
            .collect();
        let params = if values.is_empty() { Params::Empty } else { values.into() };
        let rows: Vec<Row> = self.0.exec(sql, params).await?;
        rows.into_iter().map(texts).collect()
    }
}

fn texts(row: Row) -> Result<Texts, DriverError> {
    let text = |column| match column {
        Column::NULL => Ok(None),
        Column::Bytes(bytes) => Ok(Some(String::from_utf8(bytes)?)),
        other => Ok(Some(other.as_sql(true))),
    };
    row.unwrap().into_iter().map(text).collect()
}

//! The transactions of SeaORM 1 and 2, on each database that both sides know.

use super::count::{Dialect, Driver, DriverError, Gapless, Texts};
use super::{Counting, GaplessTransaction};
use crate::backend::sql::Value;

/// SeaORM 2 has another name for the call that runs a statement as it is.
macro_rules! transactions {
    ($sea_orm:ident, $query_all:ident) => {
        const _: () = {
            use $sea_orm::{
                ConnectionTrait, DatabaseTransaction, DbBackend, DbErr, QueryResult, Statement,
                Value as Bound,
            };

            impl GaplessTransaction for DatabaseTransaction {
                type Taken<'a, N: 'a> = Counting<'a, N>;

                fn count<'a, N: 'a>(&'a mut self, gapless: Gapless<'a, N>) -> Counting<'a, N> {
                    Box::pin(gapless.count(Statements(self)))
                }
            }

            /// As the closure of a transaction is given it.
            impl GaplessTransaction for &DatabaseTransaction {
                type Taken<'a, N: 'a>
                    = Counting<'a, N>
                where
                    Self: 'a;

                fn count<'a, N: 'a>(&'a mut self, gapless: Gapless<'a, N>) -> Counting<'a, N> {
                    Box::pin(gapless.count(Statements(self)))
                }
            }

            struct Statements<'a>(&'a DatabaseTransaction);

            impl Driver for Statements<'_> {
                fn dialect(&self) -> Dialect {
                    match self.0.get_database_backend() {
                        DbBackend::Postgres => Dialect::Postgres,
                        DbBackend::MySql => Dialect::MySql,
                        _ => Dialect::Sqlite,
                    }
                }

                async fn rows(
                    &mut self,
                    sql: String,
                    values: Vec<Value>,
                ) -> Result<Vec<Texts>, DriverError> {
                    let values = values.into_iter().map(|value| match value {
                        Value::Null => Bound::String(None),
                        Value::Int(number) => number.into(),
                        Value::Text(text) => text.into(),
                    });
                    let backend = self.0.get_database_backend();
                    let statement = Statement::from_sql_and_values(backend, sql, values);
                    let rows = self.0.$query_all(statement).await?;
                    // Columns of MySQL are bytes by a collation such as utf8mb4_bin.
                    let text = |row: &QueryResult, column| {
                        row.try_get_by_index::<Option<String>>(column).or_else(|error| {
                            let bytes = row.try_get_by_index::<Vec<u8>>(column);
                            let text = bytes.ok().and_then(|bytes| String::from_utf8(bytes).ok());
                            text.map(Some).ok_or(error)
                        })
                    };
                    let texts = |row: &QueryResult| {
                        let columns = row.column_names().len();
                        (0..columns)
                            .map(|column| text(row, column))
                            .collect::<Result<Texts, DbErr>>()
                    };
                    Ok(rows.iter().map(texts).collect::<Result<_, _>>()?)
                }
            }
        };
    };
}

#[cfg(feature = "sea-orm-1")]
transactions!(sea_orm_1, query_all);
#[cfg(feature = "sea-orm-2")]
transactions!(sea_orm_2, query_all_raw);

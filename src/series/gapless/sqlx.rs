//! The transactions of sqlx 0.8 and 0.9, of each database that both sides know.

use super::count::{Dialect, Driver, DriverError, Gapless, Texts};
use super::{Counting, GaplessTransaction};
use crate::store::sql::Value;

/// By the name of sqlx's driver.
fn dialect(name: &str) -> Dialect {
    match name {
        "PostgreSQL" => Dialect::Postgres,
        "MySQL" | "MariaDB" => Dialect::MySql,
        _ => Dialect::Sqlite,
    }
}

/// In 0.8 arguments have a lifetime, and statements are plain texts.
macro_rules! transactions {
    ($sqlx:ident, ($($q:lifetime)?), $statement:expr) => {
        const _: () = {
            use $sqlx::{
                ColumnIndex, Database, Decode, Encode, Executor, IntoArguments, Row, Transaction,
                Type,
            };

            impl<DB: Database> GaplessTransaction for Transaction<'_, DB>
            where
                for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
                for<'q> DB::Arguments$(<$q>)?: IntoArguments<$($q,)? DB>,
                for<'q> i64: Encode<'q, DB> + Type<DB>,
                for<'q> String: Encode<'q, DB> + Decode<'q, DB> + Type<DB>,
                for<'q> Option<String>: Encode<'q, DB> + Decode<'q, DB> + Type<DB>,
                usize: ColumnIndex<DB::Row>,
            {
                type Taken<'a>
                    = Counting<'a>
                where
                    Self: 'a;

                fn count<'a>(&'a mut self, gapless: Gapless<'a>) -> Counting<'a> {
                    Box::pin(gapless.count(Statements::<DB>(self)))
                }
            }

            struct Statements<'a, DB: Database>(&'a mut DB::Connection);

            impl<DB: Database> Driver for Statements<'_, DB>
            where
                for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
                for<'q> DB::Arguments$(<$q>)?: IntoArguments<$($q,)? DB>,
                for<'q> i64: Encode<'q, DB> + Type<DB>,
                for<'q> String: Encode<'q, DB> + Decode<'q, DB> + Type<DB>,
                for<'q> Option<String>: Encode<'q, DB> + Decode<'q, DB> + Type<DB>,
                usize: ColumnIndex<DB::Row>,
            {
                fn dialect(&self) -> Dialect {
                    dialect(DB::NAME)
                }

                async fn rows(
                    &mut self,
                    sql: String,
                    values: Vec<Value>,
                ) -> Result<Vec<Texts>, DriverError> {
                    let statement = $statement;
                    let mut query = $sqlx::query::<DB>(statement(&sql));
                    for value in values {
                        query = match value {
                            Value::Null => query.bind(None::<String>),
                            Value::Int(number) => query.bind(number),
                            Value::Text(text) => query.bind(text),
                        };
                    }
                    let rows = query.fetch_all(&mut *self.0).await?;
                    let texts = |row: &DB::Row| {
                        let text = |column| row.try_get(column);
                        (0..row.len()).map(text).collect::<Result<Texts, _>>()
                    };
                    Ok(rows.iter().map(texts).collect::<Result<_, _>>()?)
                }
            }
        };
    };
}

#[cfg(feature = "sqlx-0_8")]
transactions!(sqlx_0_8, ('q), |sql| sql);
#[cfg(feature = "sqlx-0_9")]
transactions!(sqlx_0_9, (), |sql: &String| sqlx_0_9::AssertSqlSafe(sql.clone()));

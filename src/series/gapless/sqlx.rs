//! The transactions of sqlx 0.8 and 0.9, of each database that both sides know, also by its `Any`.

use std::any::Any;

use super::count::{Dialect, Driver, DriverError, Gapless, Texts};
use super::{Counting, GaplessTransaction};
use crate::backend::sql::Value;

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
    ($sqlx:ident, $core:ident, ($($q:lifetime)?), $statement:expr) => {
        const _: () = {
            use $core::any::AnyConnection;
            use $sqlx::{
                ColumnIndex, Database, Decode, Encode, Executor, IntoArguments, Row, Transaction,
                Type,
            };

            impl<DB: Database> GaplessTransaction for Transaction<'_, DB>
            where
                DB::Connection: 'static,
                for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
                for<'q> DB::Arguments$(<$q>)?: IntoArguments<$($q,)? DB>,
                for<'q> i64: Encode<'q, DB> + Type<DB>,
                for<'q> String: Encode<'q, DB> + Decode<'q, DB> + Type<DB>,
                for<'q> Option<String>: Encode<'q, DB> + Decode<'q, DB> + Type<DB>,
                for<'q> Vec<u8>: Decode<'q, DB>,
                usize: ColumnIndex<DB::Row>,
            {
                type Taken<'a, N: 'a>
                    = Counting<'a, N>
                where
                    Self: 'a;

                fn count<'a, N: 'a>(&'a mut self, gapless: Gapless<'a, N>) -> Counting<'a, N> {
                    Box::pin(gapless.count(Statements::<DB>(self)))
                }
            }

            struct Statements<'a, DB: Database>(&'a mut DB::Connection);

            impl<DB: Database> Driver for Statements<'_, DB>
            where
                DB::Connection: 'static,
                for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
                for<'q> DB::Arguments$(<$q>)?: IntoArguments<$($q,)? DB>,
                for<'q> i64: Encode<'q, DB> + Type<DB>,
                for<'q> String: Encode<'q, DB> + Decode<'q, DB> + Type<DB>,
                for<'q> Option<String>: Encode<'q, DB> + Decode<'q, DB> + Type<DB>,
                for<'q> Vec<u8>: Decode<'q, DB>,
                usize: ColumnIndex<DB::Row>,
            {
                fn dialect(&self) -> Dialect {
                    let any = (&*self.0 as &dyn Any).downcast_ref::<AnyConnection>();
                    dialect(any.map_or(DB::NAME, AnyConnection::backend_name))
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
                    // Unchecked, because with a collation such as utf8mb4_bin the driver of MySQL
                    // takes a text for bytes. Those of `Any` are bytes then.
                    let text = |row: &DB::Row, column| {
                        row.try_get_unchecked::<Option<String>, _>(column).or_else(|error| {
                            let bytes = row.try_get_unchecked::<Vec<u8>, _>(column);
                            let text = bytes.ok().and_then(|bytes| String::from_utf8(bytes).ok());
                            text.map(Some).ok_or(error)
                        })
                    };
                    let texts = |row: &DB::Row| {
                        (0..row.len()).map(|column| text(row, column)).collect::<Result<Texts, _>>()
                    };
                    Ok(rows.iter().map(texts).collect::<Result<_, _>>()?)
                }
            }
        };
    };
}

#[cfg(feature = "sqlx-0_8")]
transactions!(sqlx_0_8, sqlx_core_0_8, ('q), |sql| sql);
#[cfg(feature = "sqlx-0_9")]
transactions!(sqlx_0_9, sqlx_core_0_9, (), |sql: &String| sqlx_0_9::AssertSqlSafe(sql.clone()));

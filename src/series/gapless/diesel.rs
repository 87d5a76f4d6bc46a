//! The connections of diesel 2, in a transaction, to each database that both sides know.

use std::any::TypeId;

use diesel_2::backend::Backend;
use diesel_2::connection::TransactionManager;
use diesel_2::deserialize::{self, FromSql, QueryableByName};
use diesel_2::mysql::Mysql;
use diesel_2::pg::Pg;
use diesel_2::query_builder::{BoxedSqlQuery, SqlQuery};
use diesel_2::query_dsl::methods::{ExecuteDsl, LoadQuery};
use diesel_2::row::NamedRow;
use diesel_2::serialize::ToSql;
use diesel_2::sql_types::{BigInt, HasSqlType, Nullable, Text};
use diesel_2::{Connection, RunQueryDsl, sql_query};

use super::GaplessTransaction;
use super::count::{Dialect, Driver, DriverError, Gapless, Texts};
use super::with::ask_for_transaction;
use crate::backend::sql::Value;
use crate::series::error::SeriesError;

/// Says that a [`GaplessTransaction`] is one of diesel's connections.
#[derive(Debug)]
pub enum Diesel {}

impl<C> GaplessTransaction<Diesel> for C
where
    C: Connection,
    C::Backend: HasSqlType<BigInt> + HasSqlType<Text> + 'static,
    i64: ToSql<BigInt, C::Backend>,
    String: ToSql<Text, C::Backend>,
    Option<String>: ToSql<Nullable<Text>, C::Backend> + FromSql<Nullable<Text>, C::Backend>,
    for<'q> Bound<'q, C>: ExecuteDsl<C> + LoadQuery<'q, C, Row>,
{
    type Taken<'a, N: 'a>
        = Result<N, SeriesError>
    where
        C: 'a;

    fn count<'a, N: 'a>(&'a mut self, gapless: Gapless<'a, N>) -> Result<N, SeriesError> {
        gapless.count_now(Statements(self))
    }
}

/// A statement with its values.
type Bound<'q, C> = BoxedSqlQuery<'q, <C as Connection>::Backend, SqlQuery>;

/// The columns of a row.
struct Row(Texts);

impl<DB: Backend> QueryableByName<DB> for Row
where
    Option<String>: FromSql<Nullable<Text>, DB>,
{
    fn build<'a>(row: &impl NamedRow<'a, DB>) -> deserialize::Result<Row> {
        let text = |column| row.get_value::<Nullable<Text>, Option<String>, usize>(column);
        (0..row.field_count()).map(text).collect::<deserialize::Result<Texts>>().map(Row)
    }
}

struct Statements<'a, C>(&'a mut C);

impl<C> Driver for Statements<'_, C>
where
    C: Connection,
    C::Backend: HasSqlType<BigInt> + HasSqlType<Text> + 'static,
    i64: ToSql<BigInt, C::Backend>,
    String: ToSql<Text, C::Backend>,
    Option<String>: ToSql<Nullable<Text>, C::Backend>,
    for<'q> Bound<'q, C>: ExecuteDsl<C> + LoadQuery<'q, C, Row>,
{
    /// That of SQLite has no name where diesel has no SQLite compiled in.
    fn dialect(&self) -> Dialect {
        let backend = TypeId::of::<C::Backend>();
        if backend == TypeId::of::<Pg>() {
            Dialect::Postgres
        } else if backend == TypeId::of::<Mysql>() {
            Dialect::MySql
        } else {
            Dialect::Sqlite
        }
    }

    async fn rows(&mut self, sql: String, values: Vec<Value>) -> Result<Vec<Texts>, DriverError> {
        // What MySQL's client loads has to be a query.
        let is_query = self.dialect() != Dialect::MySql || sql.starts_with("SELECT");
        if !is_query && values.is_empty() {
            // It may be one that cannot be prepared.
            self.0.batch_execute(&sql)?;
            return Ok(Vec::new());
        }
        let mut query = sql_query(sql).into_boxed::<C::Backend>();
        for value in values {
            query = match value {
                Value::Null => query.bind::<Nullable<Text>, _>(None::<String>),
                Value::Int(number) => query.bind::<BigInt, _>(number),
                Value::Text(text) => query.bind::<Text, _>(text),
            };
        }
        if !is_query {
            query.execute(self.0)?;
            return Ok(Vec::new());
        }
        let rows: Vec<Row> = query.load(self.0)?;
        Ok(rows.into_iter().map(|row| row.0).collect())
    }

    /// A connection has the same type in a transaction and outside of one. Diesel does not know of
    /// those that were begun by statements, so the database is asked for them.
    async fn check_transaction(&mut self) -> Result<(), DriverError> {
        let status = C::TransactionManager::transaction_manager_status_mut(self.0);
        if status.transaction_depth()?.is_some() {
            return Ok(());
        }
        ask_for_transaction(self).await
    }
}

//! A connection to a PostgreSQL server, during a call.

use std::future::{Future, poll_fn};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinHandle;
use tokio_postgres::error::{Severity, SqlState};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{AsyncMessage, Client, Connection, SimpleQueryMessage};

use super::{durability, search_path, unsupported};
use crate::backend::sql::executor::Executor;
use crate::backend::sql::{
    Access, Deadline, Error, FRESH, Row, Schema, Session, Value, statements,
};
use crate::sync::{Arc, AtomicBool, Ordering};

/// A connection during a call.
pub struct PostgresSession<'a> {
    pub client: Client,
    pub connection: JoinHandle<()>,
    /// Whether the server has warned of something.
    pub has_warned: Arc<AtomicBool>,
    pub executor: Executor<'a>,
    pub schema: &'a Schema,
    pub deadline: &'a Deadline,
    /// Where the tables are, if the address says so. A pooler may have left it out when it
    /// connected, or hand over a connection on which another client has set its own. So each
    /// transaction sets it.
    pub search_path: Option<String>,
    pub allows_unsupported: bool,
    pub only_for_tests: bool,
}

/// Drives a connection until its end, and notes whether the server has warned of something.
pub async fn drive<S, T>(mut connection: Connection<S, T>, has_warned: Arc<AtomicBool>)
where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    // The statement that waits for an answer gets the error, too.
    while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
        if let AsyncMessage::Notice(notice) = message
            && notice.parsed_severity() == Some(Severity::Warning)
            // Not of its own end, which the next statement finds out.
            && *notice.code() == SqlState::WARNING
        {
            // ORDERING: both sides are tasks of one thread.
            has_warned.store(true, Ordering::Relaxed);
        }
    }
}

impl Session for PostgresSession<'_> {
    fn begin(&mut self, access: Access) -> Result<(), Error> {
        let ms = self.deadline.timeout.as_millis().clamp(2, 3_600_000);
        // The server gives up on a lock before this side does. Else it would go on waiting, with a
        // connection for each call, and the error would say that it is away.
        let lock_ms = ms / 2;
        let place = self.search_path.as_deref().map(search_path::set_statement).unwrap_or_default();
        // A warning is all that tells of a wait for a standby that somebody has ended.
        let sql = format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED; {place} \
             SET LOCAL client_min_messages = warning; \
             SET LOCAL idle_in_transaction_session_timeout = {ms}; \
             SET LOCAL lock_timeout = {lock_ms}; {}",
            durability::query(self.schema)
        );
        let answer = self.wait(self.client.simple_query(&sql)).map_err(|error| match error {
            Error::Unreachable { .. } | Error::Locked | Error::Full(_) => error,
            // Another kind of server may not even know what is asked.
            error => self.detect_unsupported().unwrap_or(error),
        })?;
        let row = answer.iter().rev().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        });
        let setting = |column: usize| row?.try_get(column).ok()?;
        if let Some(error) = self.refuse_unsupported(setting(5)) {
            return Err(error);
        }
        if let Some(extension) = setting(6).filter(|_| !self.allows_unsupported) {
            return Err(unsupported::by_extension(extension));
        }
        let unsafe_setting = setting(1).filter(|_| !self.only_for_tests);
        if let Some(problem) = durability::problem(unsafe_setting, setting(2)) {
            return Err(Error::problem(problem));
        }
        match durability::refuses_writes(setting(3), setting(4)) {
            Some(error) if access != Access::Read => Err(error),
            _ => Ok(()),
        }
    }

    fn commit(&mut self) -> Result<(), Error> {
        // ORDERING: both sides are tasks of one thread.
        self.has_warned.store(false, Ordering::Relaxed);
        self.batch("COMMIT")?;
        // Somebody has ended the wait for a standby, which may not have got it.
        if self.has_warned.load(Ordering::Relaxed) {
            let problem = "it stopped waiting for its standbys, so one of them may become the \
                           primary without what it has just committed; see that they run, and who \
                           ends such waits";
            // Not for another try, which would use up another id.
            return Err(Error::problem(problem));
        }
        Ok(())
    }

    fn roll_back(&mut self) -> Result<(), Error> {
        self.batch("ROLLBACK")
    }

    fn schema_elsewhere(&mut self) -> Result<Option<String>, Error> {
        if self.search_path.is_some() {
            return Ok(None);
        }
        let names = self.schema.tables.iter().map(|table| format!("'{table}'"));
        let sql = format!(
            "SELECT MIN(nspname::TEXT) FROM pg_class \
             JOIN pg_namespace ON pg_namespace.oid = relnamespace \
             WHERE relname IN ({}) AND relkind IN ('r', 'p') AND relpersistence <> 't' \
             AND NOT pg_table_is_visible(pg_class.oid)",
            names.collect::<Vec<_>>().join(", ")
        );
        let rows = self.rows(&sql, &[])?;
        Ok(rows.into_iter().flatten().find_map(|value| match value {
            Value::Text(schema) => Some(schema),
            _ => None,
        }))
    }

    fn create_tables(&mut self) -> Result<(), Error> {
        self.batch(&self.making())
    }

    fn check_may_create(&mut self) -> Result<(), Error> {
        // The statements are one transaction.
        self.batch(&self.making().replace("COMMIT;", "ROLLBACK;"))
    }

    fn rows(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Row>, Error> {
        // Not prepared: a pooler may give each transaction another connection.
        let sql = format!("{FRESH}{}", numbered(sql));
        let rows = self.wait(self.client.query_typed(&sql, &typed(values)))?;
        rows.iter().map(row).collect()
    }

    fn write(&mut self, sql: &str, values: &[Value]) -> Result<u64, Error> {
        self.wait(self.client.execute_typed(&numbered(sql), &typed(values)))
    }

    fn end(self) {
        // The driver says goodbye when there is no client any more, and then is done.
        drop(self.client);
        let _ = self.executor.wait(self.connection);
    }
}

impl PostgresSession<'_> {
    fn wait<T>(
        &self,
        answer: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, Error> {
        Ok(self.executor.wait(answer)??)
    }

    /// The statements that make the tables. Where the address names schemas, they are made in the
    /// first one, or nowhere: a user who may use another schema would make a second registry there.
    fn making(&self) -> String {
        let first = self.search_path.as_deref().map(search_path::first_schema);
        let place = first.map(search_path::set_statement).unwrap_or_default();
        statements(self.schema.sql).replacen("BEGIN;", &format!("BEGIN; {place}"), 1)
    }

    fn batch(&self, sql: &str) -> Result<(), Error> {
        self.wait(self.client.batch_execute(sql))
    }

    /// The error of a server that is another than PostgreSQL by its `version`.
    fn refuse_unsupported(&self, version: Option<&str>) -> Option<Error> {
        if self.allows_unsupported { None } else { unsupported::by_version(version?) }
    }

    /// The same of a server that has just failed.
    fn detect_unsupported(&self) -> Option<Error> {
        self.batch("ROLLBACK").ok()?;
        let answer = self.wait(self.client.simple_query("SELECT version()")).ok()?;
        answer.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => self.refuse_unsupported(row.get(0)),
            _ => None,
        })
    }
}

/// `sql` with `$1`, `$2` and so on for each `?`.
fn numbered(sql: &str) -> String {
    let mut pieces = sql.split('?');
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.zip(1..).fold(first, |sql, (piece, number)| format!("{sql}${number}{piece}"))
}

fn typed(values: &[Value]) -> Vec<(&(dyn ToSql + Sync), Type)> {
    values.iter().map(typed_value).collect()
}

fn typed_value(value: &Value) -> (&(dyn ToSql + Sync), Type) {
    match value {
        Value::Null => (&None::<i64>, Type::INT8),
        Value::Int(number) => (number, Type::INT8),
        Value::Text(text) => (text, Type::VARCHAR),
    }
}

fn row(row: &tokio_postgres::Row) -> Result<Row, Error> {
    let value = |(index, column): (usize, &tokio_postgres::Column)| {
        let value = match *column.type_() {
            Type::INT8 => row.try_get::<_, Option<i64>>(index)?.map(Value::Int),
            Type::INT4 => {
                row.try_get::<_, Option<i32>>(index)?.map(|number| Value::Int(number.into()))
            }
            Type::INT2 => {
                row.try_get::<_, Option<i16>>(index)?.map(|number| Value::Int(number.into()))
            }
            Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME => {
                row.try_get::<_, Option<String>>(index)?.map(Value::Text)
            }
            ref other => {
                let cause = format!("the column {} has the type {other}", column.name());
                return Err(Error::IncompatibleTables(Some(cause.into())));
            }
        };
        Ok(value.unwrap_or(Value::Null))
    };
    row.columns().iter().enumerate().map(value).collect()
}

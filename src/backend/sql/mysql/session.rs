//! A connection to a MySQL or MariaDB server, during a call.

use mysql_async::prelude::Queryable;
use mysql_async::{Column, Conn};

use super::{durability, unsupported};
use crate::backend::sql::executor::Executor;
use crate::backend::sql::{Access, Deadline, Error, Row, Schema, Session, Value, mark, statements};

/// A connection during a call.
pub struct MySqlSession<'a> {
    pub connection: Conn,
    pub executor: Executor<'a>,
    pub schema: &'a Schema,
    pub deadline: &'a Deadline,
    pub allows_unsupported: bool,
    pub only_for_tests: bool,
}

impl Session for MySqlSession<'_> {
    fn begin(&mut self, access: Access) -> Result<(), Error> {
        self.try_begin(access).map_err(|error| match error {
            Error::Unreachable { .. } | Error::Locked | Error::Full(_) => error,
            // Another kind of server may not even know what is asked.
            error => self.detect_unsupported().unwrap_or(error),
        })
    }

    fn commit(&mut self) -> Result<(), Error> {
        self.batch("COMMIT")
    }

    fn roll_back(&mut self) -> Result<(), Error> {
        self.batch("ROLLBACK")
    }

    fn create_tables(&mut self) -> Result<(), Error> {
        // Each of them commits by itself, and none changes anything where another process was
        // first.
        statements(self.schema.sql)
            .split(";\n")
            .try_for_each(|statement| self.batch(statement.trim_end_matches(';')))
    }

    fn check_may_create(&mut self) -> Result<(), Error> {
        // The server looks for the right to make a table before it looks for the one to copy.
        match self.batch("CREATE TABLE uidring_layout LIKE uidring_nothing") {
            Ok(()) | Err(Error::MissingTables(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn rows(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Row>, Error> {
        let answer = self.executor.wait(self.connection.exec(sql, parameters(values)))?;
        let rows: Vec<mysql_async::Row> =
            answer.map_err(|error| self.denied_or_missing(error.into()))?;
        let row = |row: mysql_async::Row| {
            let columns = row.columns();
            let values = row.unwrap().into_iter().zip(columns.iter());
            values.map(|(found, column)| value(found, column)).collect()
        };
        rows.into_iter().map(row).collect()
    }

    fn write(&mut self, sql: &str, values: &[Value]) -> Result<u64, Error> {
        self.executor.wait(self.connection.exec_drop(sql, parameters(values)))??;
        Ok(self.connection.affected_rows())
    }

    fn end(self) {
        // What is wrong with the connection shows in what it was used for.
        let _ = self.executor.wait(self.connection.disconnect());
    }
}

impl MySqlSession<'_> {
    fn try_begin(&mut self, access: Access) -> Result<(), Error> {
        let seconds = self.deadline.timeout.as_secs().clamp(1, 3600);
        // The server gives up on a lock before this side does, so that the error says what is so:
        // on that of a row, and on that of a table, for which it would wait a day.
        let lock_seconds = (seconds / 2).max(1);
        // MariaDB since 11.6.2 gives up at once on a row that changes while it waits for the lock,
        // so that of several starts one alone succeeds.
        self.batch(&format!(
            "SET SESSION wait_timeout = {seconds}, SESSION lock_wait_timeout = {lock_seconds}, \
             SESSION innodb_lock_wait_timeout = {lock_seconds}, SESSION sql_mode = 'TRADITIONAL', \
             SESSION completion_type = 0, SESSION sql_select_limit = {most}, \
             SESSION group_concat_max_len = 65535, {mark} \
             /*M!110602 , SESSION innodb_snapshot_isolation = OFF */",
            most = u64::MAX,
            mark = mark::SET
        ))?;
        // Of the session, because some proxies do not pass on that of the next transaction.
        self.batch("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")?;
        // Not READ WRITE: where writes have been switched off, that may be for a move to another
        // server, and what is written then would be lost.
        self.batch("START TRANSACTION")?;
        // Within it, because a proxy may have a replica answer what is asked outside.
        let answer =
            self.executor.wait(self.connection.query_first(durability::query(self.schema)))?;
        let row: Option<mysql_async::Row> = answer?;
        let setting = |column: usize| row.as_ref()?.get_opt::<String, _>(column)?.ok();
        let setting = |column| setting(column).unwrap_or_default();
        if let Some(error) = self.refuse_unsupported(&setting(6)) {
            return Err(error);
        }
        if setting(10) != "1" {
            return Err(Error::problem(mark::MISSING));
        }
        let kinds = self.schema.tables.iter().zip(11..).map(|(table, at)| (*table, setting(at)));
        let kinds: Vec<_> = kinds.collect();
        let settings = [0, 1, 2, 3, 4, 5].map(setting);
        let forgets = || durability::forgets(&settings).filter(|_| !self.only_for_tests);
        let problem = forgets().or_else(|| durability::problem(&settings, &kinds));
        if let Some(problem) = problem {
            return Err(Error::problem(problem));
        }
        if access == Access::Read {
            return Ok(());
        }
        durability::refuses_writes([7, 8, 9].map(setting)).map_or(Ok(()), Err)
    }

    /// The error of a server that is another than MySQL and MariaDB, by its `banner`.
    fn refuse_unsupported(&self, banner: &str) -> Option<Error> {
        if self.allows_unsupported { None } else { unsupported::by_banner(banner) }
    }

    /// The same of a server that has just failed.
    fn detect_unsupported(&mut self) -> Option<Error> {
        let question = "SELECT CONCAT(VERSION(), ' ', @@version_comment)";
        let banner = self.executor.wait(self.connection.query_first::<String, _>(question)).ok()?;
        self.refuse_unsupported(&banner.ok()??)
    }

    /// MySQL looks for the right to lock rows before it looks for their table, and MariaDB after.
    fn denied_or_missing(&mut self, error: Error) -> Error {
        let Error::Denied(_) = error else { return error };
        let Some(table) = self.schema.tables.first() else { return error };
        match self.batch(&format!("SELECT 1 FROM {table} WHERE FALSE")) {
            Err(missing @ Error::MissingTables(_)) => missing,
            _ => error,
        }
    }

    fn batch(&mut self, sql: &str) -> Result<(), Error> {
        Ok(self.executor.wait(self.connection.query_drop(sql))??)
    }
}

fn parameters(values: &[Value]) -> Vec<mysql_async::Value> {
    let parameter = |value: &Value| match value {
        Value::Null => mysql_async::Value::NULL,
        Value::Int(number) => mysql_async::Value::Int(*number),
        Value::Text(text) => mysql_async::Value::Bytes(text.as_bytes().to_owned()),
    };
    values.iter().map(parameter).collect()
}

fn value(value: mysql_async::Value, column: &Column) -> Result<Value, Error> {
    // Not the value, which may be a secret.
    let malformed = || {
        Error::problem(format!(
            "its column {} has a value that is neither a text nor a whole number below 2^63; see \
             whose tables they are",
            column.name_str()
        ))
    };
    match value {
        mysql_async::Value::NULL => Ok(Value::Null),
        mysql_async::Value::Int(number) => Ok(Value::Int(number)),
        mysql_async::Value::UInt(number) => {
            i64::try_from(number).map(Value::Int).map_err(|_| malformed())
        }
        mysql_async::Value::Bytes(bytes) => {
            String::from_utf8(bytes).map(Value::Text).map_err(|_| malformed())
        }
        _ => Err(malformed()),
    }
}

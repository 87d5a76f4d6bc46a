//! The seam to SQLite, PostgreSQL and MySQL: connect, transact within a deadline, diagnose.
//!
//! A caller brings a [`Schema`] and statements with `?` for each value. [`Client::transact`]
//! connects, runs the statements in one durable transaction, and closes the connection again. What
//! goes wrong is an [`Error`] that says what it means, whichever database it is.

mod client;
mod columns;
#[cfg(any(feature = "mysql", feature = "postgres"))]
mod diagnosis;
#[cfg(any(feature = "mysql", feature = "postgres"))]
mod executor;
#[cfg(feature = "mysql")]
mod mysql;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sqlite")]
mod sqlite;

pub use client::{Call, Client, OnMissing};
#[cfg(feature = "mysql")]
pub use mysql::MySql;
#[cfg(feature = "postgres")]
pub use postgres::Postgres;
#[cfg(feature = "sqlite")]
pub(crate) use sqlite::is_our_worker_node;
#[cfg(feature = "sqlite")]
pub use sqlite::{FileSharing, Sqlite};

use std::fmt::{self, Debug};
use std::io;
use std::path::Path;

pub use super::call::Deadline;
pub use super::error::{Cause, Error, ErrorPhrases, Fault};

/// The columns of a row.
pub type Row = Vec<Value>;

/// How many rows a query returns at most, in the type by which databases count them.
pub fn limit(most: usize) -> i64 {
    i64::try_from(most).unwrap_or(i64::MAX)
}

/// What is in a column, or takes the place of a `?`.
#[derive(Clone, Debug)]
pub enum Value {
    Null,
    Int(i64),
    Text(String),
}

impl Value {
    /// `None` for a text or nothing.
    pub fn int(&self) -> Option<i64> {
        match self {
            Value::Int(number) => Some(*number),
            _ => None,
        }
    }
}

impl From<u64> for Value {
    /// Ids, widths and ticks have less than 63 bits.
    fn from(number: u64) -> Value {
        Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Value {
        Value::Int(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}

/// The version of `schema.sql` and of its siblings for servers.
pub const VERSION: i64 = 4;

/// The tables of a caller, in the words of one database.
#[derive(Debug)]
pub struct Schema {
    /// The statements that make all tables of this library. They change nothing where the tables
    /// are there. Empty where the tables are somebody else's to make, as a file may then be, too.
    pub sql: &'static str,
    pub version: i64,
    /// The names of the tables. Servers are asked whether they keep them through a power failure.
    pub tables: &'static [&'static str],
    /// For a file: a query that returns 1 where the tables are those of the schema.
    pub witness: &'static str,
}

/// Whether a transaction writes. A server that takes no writes is refused only then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read,
    /// A write that gives nothing, but says how something is given.
    #[cfg_attr(not(feature = "series"), allow(dead_code))] // what has definitions
    Define,
    Write,
}

/// What a kind of database has its own words for: statements name them in braces, as `{now}`.
#[derive(Debug)]
pub struct Dialect {
    /// `{now}`: the time by the database, in milliseconds since 1970.
    pub now: &'static str,
    /// `{greatest}`: the function that returns the largest of its arguments.
    pub greatest: &'static str,
    /// `{for update}`: what has a query lock its rows until the end of the transaction.
    pub for_update: &'static str,
    /// A statement that takes the advisory lock of the row `?` of the table `{table}` until the end
    /// of the transaction. It is needed where a lock of a row waits for as long as others come that
    /// share it.
    pub advisory_lock: Option<&'static str>,
    /// A query for the columns of the table `?` that this user may read.
    pub columns: &'static str,
    /// A query for those of the tables `{names}` that are there, all at one time.
    pub tables: &'static str,
}

/// The time by a database, in milliseconds since 1970, in the words of each kind.
pub mod now {
    #[cfg(any(feature = "series", feature = "sqlite"))]
    pub const SQLITE: &str = "CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER)";
    #[cfg(any(feature = "series", feature = "postgres"))]
    pub const POSTGRES: &str = "(EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::BIGINT";
    #[cfg(any(feature = "series", feature = "mysql"))]
    pub const MYSQL: &str = "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000)";
}

/// How MySQL tells a connection from another one, on which a proxy has a query answered.
#[cfg(any(feature = "series", feature = "mysql"))]
pub mod mark {
    /// What is set first.
    pub const SET: &str = "@uidring_connection = CONNECTION_ID()";
    /// Is 1 on the same connection.
    pub const IS_SET: &str = "@uidring_connection <=> CONNECTION_ID()";
    /// What is wrong where it is not.
    pub const MISSING: &str = "it is behind a proxy that has another connection answer the \
        queries of a transaction, where what was given last may be missing; have the proxy keep a \
        transaction on one connection to the primary, as ProxySQL does with \
        transaction_persistent = 1, or give the address of the primary itself";
}

/// How a query of PostgreSQL begins, so that Pgpool-II sends it to the primary. Otherwise it has a
/// standby answer, also within a transaction that has written nothing so far, and a standby that
/// lags does not know what was given last.
///
/// Pgpool-II sends to the primary what begins with a comment, unless `allow_sql_comments` is on,
/// and what calls a volatile function, unless `write_function_list` names others alone. PostgreSQL
/// does not run a `WITH` that the query does not use. But it takes `MIN` and `MAX` from an index
/// only in a query without one: so these stand in a query of their own, `SELECT (SELECT MAX(..))`.
#[cfg(any(feature = "series", feature = "postgres"))]
pub const FRESH: &str = "/*NO LOAD BALANCE*/ WITH fresh AS (SELECT clock_timestamp()) ";

/// A database, and how to connect to it.
pub trait Database: Clone + Debug + Send + Sync + 'static {
    const DIALECT: Dialect;
    /// The statements that make all tables of this library.
    const TABLES: &'static str;
    /// Whether a transaction may make the tables where they are missing.
    const CREATES_TABLES: bool;
    /// Whether others see all of the tables or none while they are made.
    const CREATES_ATOMICALLY: bool;

    /// The path, or the address without the password.
    fn name(&self) -> String;

    /// The database as it is to be connected to now: with the password that its file holds, and by
    /// the address that was given last.
    fn current(&self) -> Result<Self, Error> {
        Ok(self.clone())
    }

    /// The file that holds the password, if the address names one.
    fn password_file(&self) -> Option<&Path> {
        None
    }

    /// Has this database and its clones go by another address of the same one from now on.
    fn renew(&self, address: &str) -> Result<(), Error> {
        let _ = address;
        Err(Error::problem("it has one address for ever"))
    }

    fn connect<'a>(
        &'a self,
        schema: &'a Schema,
        deadline: &'a Deadline,
    ) -> Result<impl Session + 'a, Error>;

    /// Runs `call` on a thread that it may block.
    fn run<T: Send>(call: impl FnOnce() -> T + Send) -> io::Result<T> {
        Ok(call())
    }
}

/// A connection, during a call.
pub trait Session {
    /// Begins a transaction whose commit will be durable, which sees what others commit meanwhile,
    /// and which a server ends when nothing is heard of this side until the deadline's timeout: a
    /// program that is stopped in the middle of it keeps nobody out. A server whose settings make a
    /// commit less than durable is refused.
    fn begin(&mut self, access: Access) -> Result<(), Error>;

    fn commit(&mut self) -> Result<(), Error>;

    fn roll_back(&mut self) -> Result<(), Error>;

    /// The schema that has tables of these names, which no statement here would find. None where
    /// the address says which schema is meant.
    fn schema_elsewhere(&mut self) -> Result<Option<String>, Error> {
        Ok(None)
    }

    /// Makes the tables, outside of a transaction.
    fn create_tables(&mut self) -> Result<(), Error>;

    /// Fails as `create_tables` would where this user may not make them, and makes nothing.
    fn check_may_create(&mut self) -> Result<(), Error>;

    fn rows(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Row>, Error>;

    /// Returns how many rows fit the condition.
    fn write(&mut self, sql: &str, values: &[Value]) -> Result<u64, Error>;

    /// Closes the connection. The database takes back what was not committed. A server would count
    /// a connection that is simply dropped as one that broke, and log that.
    fn end(self);
}

/// A transaction under way.
pub struct Transaction<'a> {
    session: &'a mut dyn Session,
    dialect: Dialect,
}

impl fmt::Debug for Transaction<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transaction").finish_non_exhaustive()
    }
}

impl Transaction<'_> {
    pub fn rows(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Row>, Error> {
        self.session.rows(&self.translate(sql), values)
    }

    /// The row of a key in `table`, if there is one.
    pub fn row(&mut self, table: &str, sql: &str, values: &[Value]) -> Result<Option<Row>, Error> {
        let mut rows = self.rows(sql, values)?;
        if rows.len() > 1 {
            return Err(Error::problem(format!(
                "its table {table} has several rows with one key, as a lost primary key or a table \
                 that inherits from it lets them in; keep the one with the largest number, and \
                 restore the key"
            )));
        }
        Ok(rows.pop())
    }

    /// Returns how many rows fit the condition.
    pub fn write(&mut self, sql: &str, values: &[Value]) -> Result<u64, Error> {
        self.session.write(&self.translate(sql), values)
    }

    /// Takes the advisory lock of the row `name` of `table`, where the database needs one.
    #[cfg(feature = "series")]
    pub fn advisory_lock(&mut self, table: &str, name: &str) -> Result<(), Error> {
        let Some(sql) = self.dialect.advisory_lock else { return Ok(()) };
        self.write(&sql.replace("{table}", table), &[name.into()]).map(drop)
    }

    /// The columns of `table` that this user may read, in capitals: none where it is not there.
    pub fn columns(&mut self, table: &str) -> Result<Vec<String>, Error> {
        let rows = self.rows(self.dialect.columns, &[table.into()])?;
        let name = |row: Row| match row.into_iter().next() {
            Some(Value::Text(name)) => Some(name.to_uppercase()),
            _ => None,
        };
        Ok(rows.into_iter().filter_map(name).collect())
    }

    /// Whether `table` is there with all of `columns`, which are written in capitals, for this user
    /// to read.
    pub fn has(&mut self, table: &str, columns: &[&str]) -> Result<bool, Error> {
        let there = self.columns(table)?;
        Ok(columns.iter().all(|column| there.iter().any(|there| there == column)))
    }

    fn translate(&self, sql: &str) -> String {
        let Dialect { now, greatest, for_update, .. } = self.dialect;
        sql.replace("{now}", now)
            .replace("{greatest}", greatest)
            .replace("{for update}", for_update)
    }
}

/// The statements of a schema without its comments: for somebody who has to run them, and for a
/// driver.
fn statements(schema: &str) -> String {
    let lines = schema
        .lines()
        .filter(|line| !line.trim_start().starts_with("--") && !line.trim().is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

//! The seam to SQLite, PostgreSQL and MySQL: connect, transact within a deadline, diagnose.
//!
//! A caller brings a [`Schema`] and statements with `?` for each value. [`transact`] connects, runs
//! the caller's statements in one durable transaction, and closes the connection again. What goes
//! wrong comes back as an [`Error`] that says what it means, whichever database it is.

#[cfg(any(feature = "mysql", feature = "postgres"))]
mod address;
#[cfg(feature = "mysql")]
mod mysql;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(any(feature = "mysql", feature = "postgres"))]
mod server;
#[cfg(feature = "sqlite")]
mod sqlite;

#[cfg(feature = "mysql")]
pub use mysql::MySql;
#[cfg(feature = "postgres")]
pub use postgres::Postgres;
#[cfg(feature = "sqlite")]
pub use sqlite::Sqlite;

use std::fmt::{self, Debug};
use std::fs;
use std::io;
use std::time::Duration;

use crate::clock::Stopwatch;
use crate::sync::sleep;

/// What a database or its driver said.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;
/// The columns of a row.
pub type Row = Vec<Value>;

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

/// Why a transaction failed. A `problem` says what is wrong or what to do, as a sentence about the
/// database, and does not repeat the cause.
#[derive(Debug)]
pub enum Error {
    /// The database cannot be used as it is.
    Unusable { problem: String, source: Option<Cause> },
    /// The tables are not there.
    NoTables(Option<Cause>),
    /// There are tables of these names, and they are others.
    ForeignTables(Option<Cause>),
    /// The file is somebody else's.
    ForeignFile { problem: &'static str, source: Option<Cause> },
    /// The user lacks a right.
    Denied(Cause),
    /// Other transactions hold the rows, or wrote them first.
    Locked,
    /// The server is down, does not answer, or does not serve this call for now.
    Unreachable { problem: String, source: Option<Cause> },
    /// The disk is full.
    Full(Cause),
    /// The database failed.
    Other(Cause),
}

/// What to say of the tables of a caller.
#[derive(Debug)]
pub struct Words {
    /// What is wrong where there are none, and what to do.
    pub no_tables: &'static str,
    /// What is wrong where there are others of their names, and what to do.
    pub foreign_tables: &'static str,
    /// What to do about a file that is somebody else's.
    pub foreign_file: &'static str,
    /// Which rights to give to the user.
    pub rights: &'static str,
}

/// An [`Error`] in the words of a caller, whose own errors have the same kinds.
#[derive(Debug)]
pub enum Failure {
    Unusable { problem: String, source: Option<Cause> },
    Locked,
    Unreachable { problem: String, source: Option<Cause> },
    Full(Cause),
    Other(Cause),
}

impl Error {
    pub fn in_words(self, words: &Words) -> Failure {
        let (problem, source) = match self.or_shortage() {
            Error::NoTables(source) => (words.no_tables.to_owned(), source),
            Error::ForeignTables(source) => (words.foreign_tables.to_owned(), source),
            Error::ForeignFile { problem, source } => {
                (format!("{problem}; {}", words.foreign_file), source)
            }
            Error::Denied(source) => (words.rights.to_owned(), Some(source)),
            Error::Unusable { problem, source } => (problem, source),
            Error::Locked => return Failure::Locked,
            Error::Unreachable { problem, source } => {
                return Failure::Unreachable { problem, source };
            }
            Error::Full(source) => return Failure::Full(source),
            Error::Other(source) => return Failure::Other(source),
        };
        Failure::Unusable { problem, source }
    }

    /// Says so where the system gives this process no further file: a driver's error says it in its
    /// causes, if at all, and SQLite says that the file cannot be opened.
    fn or_shortage(self) -> Error {
        match self {
            Error::Unusable { source: Some(source), .. }
            | Error::Unreachable { source: Some(source), .. }
            | Error::Other(source)
                if is_named(&*source) || fs::File::open("/").is_err_and(|e| is_shortage(&e)) =>
            {
                let problem = "this process may open no further file; raise its limit of open \
                               files, or let it hold fewer connections";
                Error::Unreachable { problem: problem.to_owned(), source: Some(source) }
            }
            other => other,
        }
    }

    pub fn problem(problem: impl Into<String>) -> Error {
        Error::Unusable { problem: problem.into(), source: None }
    }

    /// The tables are of another version of the schema than the one `known`.
    pub fn other_version(version: i64, known: i64) -> Error {
        Error::problem(format!(
            "its schema has the version {version}, and this uidring knows version {known}; use \
             the uidring that made it"
        ))
    }
}

/// Whether the error is that of the process' limit of open files, or of the system's: EMFILE and
/// ENFILE, which have these numbers on each Unix.
fn is_shortage(error: &io::Error) -> bool {
    cfg!(unix) && matches!(error.raw_os_error(), Some(23 | 24))
}

/// Whether the error or one of its causes is such a one.
fn is_named(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut causes = std::iter::successors(Some(error), |error| error.source());
    causes.any(|cause| cause.downcast_ref().is_some_and(is_shortage))
}

/// Why a transaction was not made: the database failed, or the caller's own rules refused what it
/// found there.
#[derive(Debug)]
pub enum Fault<E> {
    Database(Error),
    Refused(E),
}

impl<E> From<Error> for Fault<E> {
    fn from(error: Error) -> Fault<E> {
        Fault::Database(error)
    }
}

/// The version of `schema.sql` and of its siblings for servers.
pub const VERSION: i64 = 3;

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

/// The tables that the schemas of servers make.
const MADE: [&str; 3] = ["uidring_layout", "uidring_worker_node", "uidring_segment"];

/// How long it is waited for a process that makes the tables, which takes milliseconds on most
/// servers.
const MAKING: Duration = Duration::from_secs(3);

/// What becomes of a transaction on a server that finds its tables missing. Where some of them are
/// there, the others have been lost, and none is made in their place: an empty table would give
/// again what the lost one has given.
pub enum Missing<'a, E> {
    /// They were there before. The transaction fails, and says that they are gone.
    Gone,
    /// The transaction fails.
    Fail,
    /// They are made, unless this refuses it, and the transaction is made then.
    Make(&'a (dyn Fn(&mut Transaction<'_>) -> Result<(), Fault<E>> + Sync)),
    /// As `Make`, but none is made: it is only looked whether this user may make them.
    TryOut(&'a (dyn Fn(&mut Transaction<'_>) -> Result<(), Fault<E>> + Sync)),
}

/// Whether a transaction may write. Only files make a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
}

/// The time that a call has, all in all.
#[derive(Debug)]
pub struct Deadline {
    timeout: Duration,
    since: Stopwatch,
}

impl Deadline {
    pub fn after(timeout: Duration) -> Deadline {
        Deadline { timeout, since: Stopwatch::start() }
    }

    /// For how long the call has waited, as an error tells it: in milliseconds, unless it is the
    /// whole timeout.
    pub fn waited(&self) -> Duration {
        let waited = self.since.elapsed();
        let ms = Duration::from_millis(u64::try_from(waited.as_millis()).unwrap_or(u64::MAX));
        if waited < self.timeout { ms } else { self.timeout }
    }
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
    /// A query for the columns of the table `?` that this user may read.
    pub columns: &'static str,
    /// A query for those of the tables `{names}` that are there, all at one time.
    pub tables: &'static str,
}

/// A database, and how to connect to it.
pub trait Database: Clone + Debug + Send + Sync + 'static {
    const DIALECT: Dialect;
    /// The statements that make all tables of this library.
    const TABLES: &'static str;
    /// Whether a transaction may make the tables where they are missing.
    const MAKES_TABLES: bool;
    /// Whether others see all of the tables or none while they are made.
    const MAKES_AT_ONCE: bool;

    /// The path, or the address without the password.
    fn name(&self) -> String;

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

    /// Makes the tables, outside of a transaction.
    fn make_tables(&mut self) -> Result<(), Error>;

    /// Fails as `make_tables` would where this user may not make them, and makes nothing.
    fn try_out_tables(&mut self) -> Result<(), Error>;

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

    /// Returns how many rows fit the condition.
    pub fn write(&mut self, sql: &str, values: &[Value]) -> Result<u64, Error> {
        self.session.write(&self.translate(sql), values)
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

/// Runs `body` in one transaction, which is committed if `body` succeeds, and taken back if not. If
/// tables turn out to be missing, `missing` says what becomes of it.
pub fn transact<D: Database, T: Send, E: Send>(
    database: &D,
    schema: &Schema,
    deadline: &Deadline,
    access: Access,
    missing: &Missing<'_, E>,
    body: impl Fn(&mut Transaction<'_>) -> Result<T, Fault<E>> + Sync,
) -> Result<T, Fault<E>> {
    let attempt = |session: &mut dyn Session| {
        session.begin(access)?;
        let result = body(&mut Transaction { session, dialect: D::DIALECT })?;
        session.commit()?;
        Ok(result)
    };
    let call = || {
        let mut session = database.connect(schema, deadline)?;
        let result = match attempt(&mut session) {
            Err(Fault::Database(Error::NoTables(cause))) => {
                provide_tables::<D, E>(&mut session, schema, deadline, missing, cause)
                    .and_then(|()| attempt(&mut session))
            }
            result => result,
        };
        session.end();
        result
    };
    D::run(call).unwrap_or_else(|error| {
        Err(Error::Other(format!("no thread can be started: {error}").into()).into())
    })
}

/// Does what [`transact`] does, and takes all of it back: so it fails where that would fail.
pub fn try_out<D: Database, T: Send, E: Send>(
    database: &D,
    schema: &Schema,
    deadline: &Deadline,
    may_be_made: &(dyn Fn(&mut Transaction<'_>) -> Result<(), Fault<E>> + Sync),
    body: impl Fn(&mut Transaction<'_>) -> Result<T, Fault<E>> + Sync,
) -> Result<(), Fault<E>> {
    let attempt = |session: &mut dyn Session| {
        session.begin(Access::Write)?;
        body(&mut Transaction { session, dialect: D::DIALECT })?;
        Ok(session.roll_back()?)
    };
    let call = || {
        let mut session = database.connect(schema, deadline)?;
        let result = match attempt(&mut session) {
            Err(Fault::Database(Error::NoTables(cause))) => {
                let missing = Missing::TryOut(may_be_made);
                provide_tables::<D, E>(&mut session, schema, deadline, &missing, cause)
            }
            result => result,
        };
        session.end();
        result
    };
    D::run(call).unwrap_or_else(|error| {
        Err(Error::Other(format!("no thread can be started: {error}").into()).into())
    })
}

/// Sees to it that the tables are there after a transaction that found some missing, for the
/// `cause` that the database named. Fails if that must not be.
fn provide_tables<D: Database, E>(
    session: &mut dyn Session,
    schema: &Schema,
    deadline: &Deadline,
    missing: &Missing<'_, E>,
    cause: Option<Cause>,
) -> Result<(), Fault<E>> {
    if schema.sql.is_empty() || !D::MAKES_TABLES {
        return Err(Error::NoTables(cause).into());
    }
    let had_them = matches!(missing, Missing::Gone);
    session.roll_back()?;
    let mut there = tables_there::<D>(session)?;
    // Another process may be about to make the others.
    let patience = MAKING.min(deadline.timeout / 2);
    while !D::MAKES_AT_ONCE
        && !had_them
        && (1..MADE.len()).contains(&there.len())
        && deadline.waited() < patience
    {
        sleep(Duration::from_millis(20));
        there = tables_there::<D>(session)?;
    }
    let lost: Vec<&str> =
        schema.tables.iter().copied().filter(|table| !there.contains(table)).collect();
    if lost.is_empty() {
        return Ok(());
    }
    if had_them || !there.is_empty() {
        return Err(gone(&lost, had_them, cause).into());
    }
    let (Missing::Make(may_be_made) | Missing::TryOut(may_be_made)) = missing else {
        return Err(Error::NoTables(cause).into());
    };
    session.begin(Access::Write)?;
    may_be_made(&mut Transaction { session, dialect: D::DIALECT })?;
    session.roll_back()?;
    let made = match missing {
        Missing::TryOut(_) => session.try_out_tables(),
        _ => session.make_tables(),
    };
    match made {
        // No cause, which would be told after the statements.
        Err(Error::Denied(_)) => Err(Error::problem(format!(
            "its tables are not there, and this user may not make them; have somebody who may run \
             this:\n\n{}\n",
            statements(schema.sql)
        ))
        .into()),
        made => Ok(made?),
    }
}

/// Which of the tables of this library are there.
fn tables_there<D: Database>(session: &mut dyn Session) -> Result<Vec<&'static str>, Error> {
    let names = MADE.map(|table| format!("'{table}'")).join(", ");
    let rows = session.rows(&D::DIALECT.tables.replace("{names}", &names), &[])?;
    let is_there = |table: &&str| {
        rows.iter().any(|row| matches!(&row[..], [Value::Text(there)] if there == table))
    };
    Ok(MADE.into_iter().filter(is_there).collect())
}

/// The error of these `tables` that are not there, while others are, or which this process has had.
fn gone(tables: &[&str], had_them: bool, source: Option<Cause>) -> Error {
    let names = tables.join(" and ");
    let (subject, it, its) = match tables {
        [_] => (format!("its table {names} is gone"), "it", "its"),
        _ => (format!("its tables {names} are gone"), "them", "their"),
    };
    // What is left where the first process to start was killed while it made them.
    let or_begin = if had_them {
        ", and this process goes on"
    } else {
        "; or drop the others too, if nothing has ever been given here"
    };
    let problem = format!(
        "{subject}, the only memory of what has been given, so nothing is made in {its} place; see \
         that nobody has removed or renamed {it}, and put {it} back{or_begin}"
    );
    Error::Unusable { problem, source }
}

/// The statements of a schema without its comments: for somebody who has to run them, and for a
/// driver.
fn statements(schema: &str) -> String {
    let lines = schema
        .lines()
        .filter(|line| !line.trim_start().starts_with("--") && !line.trim().is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On each Unix this is EMFILE. It is a cause of what the driver says.
    #[test]
    #[cfg(unix)]
    fn a_shortage_of_open_files_is_called_so() {
        let words =
            Words { no_tables: "", foreign_tables: "", foreign_file: "", rights: "give a right" };
        let failure = Error::Other(Box::new(io::Error::from_raw_os_error(24))).in_words(&words);
        let problem = match failure {
            Failure::Unreachable { problem, .. } => problem,
            other => format!("{other:?}"),
        };
        assert!(problem.starts_with("this process may open no further file"), "{problem}");
        let other = Error::Other(Box::new(io::Error::from_raw_os_error(5))).in_words(&words);
        assert!(matches!(other, Failure::Other(_)), "{other:?}");
    }
}

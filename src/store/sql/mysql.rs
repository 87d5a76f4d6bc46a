//! MySQL and MariaDB: connecting, whether a commit is durable, and what their errors mean.

use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::path::Path;

use mysql_async::prelude::Queryable;
use mysql_async::{Column, Conn, DriverError, IoError, Opts, OptsBuilder, SslOpts};
use rustls::crypto::{self, CryptoProvider};

use super::address::{Form, NO_HOST, take_file};
use super::server::{
    BAD_CERTIFICATE, BAD_PASSWORD, DOWN, Diagnosis, Executor, FULL_UP, INTERRUPTED, NO_DATABASE,
    REPLICA, outside_of_a_runtime,
};
use super::{
    Access, Database, Deadline, Dialect, Error, Row, Schema, Session, Value, now, statements,
};
use crate::pem;
use crate::store::address::without_password;
use crate::store::password::{PASSFILE, PasswordFile};
use crate::store::renewal::{Renewal, other_store};

/// A MySQL or MariaDB server.
#[derive(Clone)]
pub struct MySql {
    name: String,
    options: Opts,
    password_file: Option<PasswordFile>,
    renewal: Renewal<MySql>,
}

/// Without the options, which hold the password.
impl fmt::Debug for MySql {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("MySql").field(&self.name).finish()
    }
}

impl MySql {
    /// The server at `url`. Nothing is asked of it yet.
    pub fn at(url: &str) -> Result<MySql, Error> {
        if let Some(problem) = FORM.problem(url) {
            return Err(Error::problem(problem));
        }
        if names_no_host(url) {
            return Err(Error::problem(NO_HOST));
        }
        let (url, authority) = take_file(url, "ssl-ca")?;
        let (url, password_file) = take_file(&url, PASSFILE)?;
        let options = Opts::from_url(&url)
            .map_err(|error| Error::problem(format!("{error}; see the address")))?;
        if options.db_name().is_none_or(str::is_empty) {
            return Err(Error::problem(
                "the address names no database, as mysql://user@host/database does",
            ));
        }
        // An update counts the rows that it finds, also where it changes nothing. A second
        // connection, by a socket, would not be worth it for one call.
        let options = OptsBuilder::from_opts(options).client_found_rows(true).prefer_socket(false);
        let options: Opts = options.into();
        let has_password = options.pass().is_some_and(|password| !password.is_empty());
        let password_file = password_file.map(|path| PasswordFile::at(path, has_password));
        let mut server = MySql {
            name: without_password(&url),
            options,
            password_file: password_file.transpose()?,
            renewal: Renewal::default(),
        };
        if let Some(path) = authority {
            // The driver reads the file when it connects.
            pem::certificates(&path).map_err(Error::problem)?;
            server.trust(&path);
        }
        Ok(server)
    }

    /// Requires TLS, and trusts the certificate authorities in the file `path`, in PEM, besides
    /// Mozilla's list.
    pub fn trust(&mut self, path: &Path) {
        let tls = self.options.ssl_opts().cloned().unwrap_or_default();
        let tls = SslOpts::with_root_certs(tls, vec![path.to_owned().into()]);
        self.options = OptsBuilder::from_opts(self.options.clone()).ssl_opts(tls).into();
    }
}

const FORM: Form = Form {
    database: "MySQL or MariaDB",
    schemes: &["mysql"],
    example: "mysql://user:password@host:3306/database",
};

/// The driver only says that such an address is incomplete.
fn names_no_host(url: &str) -> bool {
    let authority = url.split('/').nth(2).unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    host.is_empty() || host.starts_with(':')
}

impl Database for MySql {
    const TABLES: &'static str = include_str!("../../../schema.mysql.sql");
    const DIALECT: Dialect = Dialect {
        // `NOW` would be a time of the session's zone.
        now: now::MYSQL,
        greatest: "GREATEST",
        for_update: "FOR UPDATE",
        columns: "SELECT COLUMN_NAME FROM information_schema.COLUMNS \
            WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?",
        tables: "SELECT TABLE_NAME FROM information_schema.TABLES \
            WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN ({names})",
    };
    const MAKES_TABLES: bool = true;
    const MAKES_AT_ONCE: bool = false;

    fn name(&self) -> String {
        self.renewal.look(self, |newest| newest.name.clone())
    }

    fn current(&self) -> Result<MySql, Error> {
        let mut server = self.renewal.newest(self);
        if let Some(file) = &server.password_file {
            let options = OptsBuilder::from_opts(server.options.clone());
            server.options = options.pass(Some(file.read()?)).into();
        }
        Ok(server)
    }

    fn password_file(&self) -> Option<&Path> {
        self.password_file.as_ref().map(PasswordFile::path)
    }

    fn renew(&self, address: &str) -> Result<(), Error> {
        let newer = MySql::at(address)?;
        let place = |server: &MySql| {
            let options = &server.options;
            let host = options.ip_or_hostname().to_owned();
            (host, options.tcp_port(), options.db_name().map(str::to_owned))
        };
        if place(&newer) != place(self) {
            return Err(other_store(&self.name()));
        }
        self.renewal.replace(newer);
        Ok(())
    }

    fn connect<'a>(
        &'a self,
        schema: &'a Schema,
        deadline: &'a Deadline,
    ) -> Result<impl Session + 'a, Error> {
        if self.options.ssl_opts().is_some() && CryptoProvider::get_default().is_none() {
            // The driver asks for the default, which a program with several providers may not have
            // chosen.
            let _ = crypto::ring::default_provider().install_default();
        }
        let executor = Executor::new(deadline)?;
        let connection = executor.wait(Conn::new(self.options.clone()))??;
        Ok(Conversation { connection, executor, schema, deadline })
    }

    fn run<T: Send>(call: impl FnOnce() -> T + Send) -> io::Result<T> {
        outside_of_a_runtime(call)
    }
}

impl From<mysql_async::Error> for Error {
    fn from(error: mysql_async::Error) -> Error {
        diagnose(&error).of(error)
    }
}

fn diagnose(error: &mysql_async::Error) -> Diagnosis {
    let error = match error {
        mysql_async::Error::Server(error) => error,
        mysql_async::Error::Io(IoError::Tls(_)) => return BAD_CERTIFICATE,
        // As the library for TLS has it, and not as words.
        mysql_async::Error::Io(IoError::Io(error))
            if error.get_ref().is_some_and(<dyn StdError + Send + Sync>::is::<rustls::Error>) =>
        {
            return BAD_CERTIFICATE;
        }
        mysql_async::Error::Driver(DriverError::NoClientSslFlagFromServer) => {
            return Diagnosis::Unusable("switch TLS on there");
        }
        mysql_async::Error::Io(_) | mysql_async::Error::Driver(DriverError::ConnectionClosed) => {
            return DOWN;
        }
        _ => return Diagnosis::Other,
    };
    let known = CODES.iter().find(|(code, _)| *code == error.code);
    known.map_or(Diagnosis::Other, |(_, diagnosis)| *diagnosis)
}

/// A replica, or a primary that is being moved.
const READ_ONLY: Diagnosis = Diagnosis::Later(NO_WRITES);
const NO_WRITES: &str = "its read_only is on; if it is the primary and may be written again, run \
    SET GLOBAL read_only = OFF, which ends super_read_only, too; if not, give the address of the \
    primary, or make this server the primary";
const ONLY_READS: Diagnosis = Diagnosis::Later(
    "its transactions only read, as transaction_read_only is on, or tx_read_only on MariaDB; if it \
     may be written again, run SET GLOBAL transaction_read_only = OFF, or of tx_read_only",
);
const LOST_TABLE: Diagnosis = Diagnosis::Unusable(
    "the server knows the name of a table and has lost the table itself, as after a crash while it \
     was made; put back what was there, or drop the tables if nothing has ever been given here",
);
const BLOCKED: Diagnosis = Diagnosis::Later(
    "it has blocked this machine after connections that failed; see what makes them, and run FLUSH \
     HOSTS",
);
const SEE_LOG: Diagnosis = Diagnosis::Later("see the server's log");

/// The servers' error codes, by <https://mariadb.com/docs/server/reference/error-codes> and
/// <https://dev.mysql.com/doc/mysql-errors/en/server-error-reference.html>. A conflict can show at
/// a commit, too: Galera and group replication look for conflicts only there.
const CODES: &[(u16, Diagnosis)] = &[
    // Tables and rights.
    (1146, Diagnosis::NoTables),      // ER_NO_SUCH_TABLE
    (1932, LOST_TABLE),               // ER_NO_SUCH_TABLE_IN_ENGINE
    (1054, Diagnosis::ForeignTables), // ER_BAD_FIELD_ERROR
    (1364, Diagnosis::ForeignTables), // ER_NO_DEFAULT_FOR_FIELD
    (1366, Diagnosis::ForeignTables), // ER_TRUNCATED_WRONG_VALUE_FOR_FIELD
    (1264, Diagnosis::ForeignTables), // ER_WARN_DATA_OUT_OF_RANGE
    (1265, Diagnosis::ForeignTables), // WARN_DATA_TRUNCATED
    (1292, Diagnosis::ForeignTables), // ER_TRUNCATED_WRONG_VALUE
    (1044, Diagnosis::Denied),        // ER_DBACCESS_DENIED_ERROR
    (1142, Diagnosis::Denied),        // ER_TABLEACCESS_DENIED_ERROR
    (1143, Diagnosis::Denied),        // ER_COLUMNACCESS_DENIED_ERROR
    (1227, Diagnosis::Denied),        // ER_SPECIFIC_ACCESS_DENIED_ERROR
    (1045, BAD_PASSWORD),             // ER_ACCESS_DENIED_ERROR
    (1698, BAD_PASSWORD),             // ER_ACCESS_DENIED_NO_PASSWORD_ERROR
    (1049, NO_DATABASE),              // ER_BAD_DB_ERROR
    // Other transactions.
    (1062, Diagnosis::Locked), // ER_DUP_ENTRY: another was first
    (1020, Diagnosis::Locked), // ER_CHECKREAD, of innodb_snapshot_isolation
    (1205, Diagnosis::Locked), // ER_LOCK_WAIT_TIMEOUT
    (1213, Diagnosis::Locked), // ER_LOCK_DEADLOCK, at a commit as well
    (1615, Diagnosis::Locked), // ER_NEED_REPREPARE
    (1689, Diagnosis::Locked), // ER_LOCK_ABORTED
    (3101, Diagnosis::Locked), // ER_TRANSACTION_ROLLBACK_DURING_COMMIT, of group replication
    (1180, SEE_LOG),           // ER_ERROR_DURING_COMMIT, also Galera's word for a conflict
    (3100, SEE_LOG),           // ER_RUN_HOOK_ERROR, of group replication
    (1412, SEE_LOG),           // ER_TABLE_DEF_CHANGED
    // Limits on statements.
    (1317, INTERRUPTED), // ER_QUERY_INTERRUPTED
    (1969, INTERRUPTED), // ER_STATEMENT_TIMEOUT: MariaDB's max_statement_time
    (3024, INTERRUPTED), // ER_QUERY_TIMEOUT: MySQL's max_execution_time
    // Limits on the server and on users.
    (1021, Diagnosis::Full), // ER_DISK_FULL
    (1114, Diagnosis::Full), // ER_RECORD_FILE_FULL
    (1037, FULL_UP),         // ER_OUTOFMEMORY
    (1040, FULL_UP),         // ER_CON_COUNT_ERROR
    (1041, FULL_UP),         // ER_OUT_OF_RESOURCES
    (1129, BLOCKED),         // ER_HOST_IS_BLOCKED
    (1135, FULL_UP),         // ER_CANT_CREATE_THREAD
    (1203, FULL_UP),         // ER_TOO_MANY_USER_CONNECTIONS
    (1206, FULL_UP),         // ER_LOCK_TABLE_FULL
    (1226, FULL_UP),         // ER_USER_LIMIT_REACHED
    (1461, FULL_UP),         // ER_MAX_PREPARED_STMT_COUNT_REACHED
    (1637, FULL_UP),         // ER_TOO_MANY_CONCURRENT_TRXS
    // A server that takes no writes.
    (1290, READ_ONLY),  // ER_OPTION_PREVENTS_STATEMENT: read_only, super_read_only
    (1792, ONLY_READS), // ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION
    (1836, REPLICA),    // ER_READ_ONLY_MODE
    // On the way up or down, or done with us.
    (1047, DOWN), // ER_UNKNOWN_COM_ERROR: a node of Galera that is not in its cluster
    (1053, DOWN), // ER_SERVER_SHUTDOWN
    (1077, DOWN), // ER_NORMAL_SHUTDOWN
    (1078, DOWN), // ER_GOT_SIGNAL
    (1079, DOWN), // ER_SHUTDOWN_COMPLETE
    (1080, DOWN), // ER_FORCING_CLOSE
    (1152, DOWN), // ER_ABORTING_CONNECTION
    (1158, DOWN), // ER_NET_READ_ERROR
    (1159, DOWN), // ER_NET_READ_INTERRUPTED
    (1160, DOWN), // ER_NET_ERROR_ON_WRITE
    (1161, DOWN), // ER_NET_WRITE_INTERRUPTED
    (1184, DOWN), // ER_NEW_ABORTING_CONNECTION
    (1927, DOWN), // ER_CONNECTION_KILLED
    (3032, DOWN), // ER_SERVER_OFFLINE_MODE
    (3168, DOWN), // ER_SERVER_ISNT_AVAILABLE
    (3169, DOWN), // ER_SESSION_WAS_KILLED
    (4031, DOWN), // ER_CLIENT_INTERACTION_TIMEOUT
];

/// What decides whether a commit lasts: five settings, and the kind and the engine of each table,
/// which all its partitions have. The tables are those of this database, if they are there. Newer
/// servers show a temporary table beside the one that it hides. Before the tables, whether the
/// server is one to be written at all: `super_read_only` switches `read_only` on as well.
fn settings(schema: &Schema) -> String {
    let kind = |table: &&str| {
        format!(
            ", (SELECT GROUP_CONCAT(TABLE_TYPE, ' ', COALESCE(ENGINE, '')) \
             FROM information_schema.TABLES \
             WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '{table}')"
        )
    };
    let kinds: String = schema.tables.iter().map(kind).collect();
    format!(
        "SELECT @@innodb_flush_log_at_trx_commit, @@innodb_flush_method, \
         @@log_bin AND @@sql_log_bin, @@sync_binlog, @@binlog_format, @@GLOBAL.read_only{kinds}"
    )
}

/// What is wrong with a server's answer to [`settings`], where each of the tables has a kind.
fn problem_of(settings: [String; 5], kinds: &[(&str, String)]) -> Option<String> {
    let [flushed, method, logged, synced, format] = settings;
    let logged = logged == "1";
    let forgets = |name: &str, value: &str| {
        Some(format!(
            "its {name} is {value}, so that a power failure could take ids back that have been \
             given; run SET GLOBAL {name} = 1, and put the same into the server's configuration, \
             where it outlasts a restart"
        ))
    };
    // MariaDB's 3 syncs at the end of a commit as well.
    if !["1", "3"].contains(&flushed.as_str()) {
        return forgets("innodb_flush_log_at_trx_commit", &flushed);
    }
    // With a binary log InnoDB syncs a transaction as prepared, and a restart rolls it back if the
    // binary log does not have it.
    if logged && synced != "1" {
        return forgets("sync_binlog", &synced);
    }
    // Without syncs of the data files, a commit is safe only where they are on the device of the
    // redo log, by MySQL's manual.
    let methods = [("nosync", "fsync"), ("littlesync", "fsync"), ("O_DIRECT_NO_FSYNC", "O_DIRECT")];
    if let Some((_, better)) = methods.iter().find(|(bad, _)| method.eq_ignore_ascii_case(bad)) {
        return Some(format!(
            "its innodb_flush_method is {method}, so that a power failure could take ids back that \
             have been given; put innodb_flush_method = {better} into the server's configuration, \
             and restart it"
        ));
    }
    // Switching this session alone to rows takes a right that few users have, and would stop a
    // replica whose own binary log is by statements.
    if logged && format.eq_ignore_ascii_case("STATEMENT") {
        return Some(
            "its binlog_format is STATEMENT, with which InnoDB refuses writes under READ \
             COMMITTED; run SET GLOBAL binlog_format = MIXED, and put the same into the server's \
             configuration, where it outlasts a restart"
                .to_owned(),
        );
    }
    kinds.iter().find_map(|(table, kind)| problem_of_table(table, kind))
}

/// What is wrong with `table`, by its kind and its engine. Both are empty where it is not there.
fn problem_of_table(table: &str, kind: &str) -> Option<String> {
    let (kind, engine) = kind.rsplit_once(' ')?;
    if kind.contains("TEMPORARY") {
        return Some(format!(
            "its table {table} is hidden by a temporary one, which the end of a connection \
             removes; drop that, and see who makes it, such as a proxy that shares connections"
        ));
    }
    if kind.contains("VIEW") {
        return Some(format!(
            "its {table} is no table but a view, behind which anything may be, also what a crash \
             of the server would empty; name the database of the table itself"
        ));
    }
    (!engine.eq_ignore_ascii_case("InnoDB")).then(|| {
        format!(
            "its table {table} has the engine {engine}, which need not keep a commit as InnoDB \
             does; run ALTER TABLE {table} ENGINE = InnoDB"
        )
    })
}

/// A connection during a call.
struct Conversation<'a> {
    connection: Conn,
    executor: Executor<'a>,
    schema: &'a Schema,
    deadline: &'a Deadline,
}

impl Session for Conversation<'_> {
    fn begin(&mut self, access: Access) -> Result<(), Error> {
        let seconds = self.deadline.timeout.as_secs().clamp(1, 3600);
        // The server gives up on a lock before this side does, so that the error says what is so:
        // on that of a row, and on that of a table, for which it would wait a day.
        let lock_seconds = (seconds / 2).max(1);
        self.batch(&format!(
            "SET SESSION wait_timeout = {seconds}, SESSION lock_wait_timeout = {lock_seconds}, \
             SESSION innodb_lock_wait_timeout = {lock_seconds}, SESSION sql_mode = 'TRADITIONAL', \
             SESSION completion_type = 0, SESSION sql_select_limit = {most}, \
             SESSION group_concat_max_len = 65535",
            most = u64::MAX
        ))?;
        // Of the session, because some proxies do not pass on that of the next transaction.
        self.batch("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")?;
        // Not READ WRITE: where writes have been switched off, that may be for a move to another
        // server, and what is written then would be lost.
        self.batch("START TRANSACTION")?;
        // Within it, because a proxy may have a replica answer what is asked outside.
        let answer = self.executor.wait(self.connection.query_first(settings(self.schema)))?;
        let row: Option<mysql_async::Row> = answer?;
        let setting = |column: usize| row.as_ref()?.get_opt(column)?.ok();
        let setting = |column| setting(column).unwrap_or_default();
        let kinds = self.schema.tables.iter().zip(6..).map(|(table, at)| (*table, setting(at)));
        let kinds: Vec<_> = kinds.collect();
        if let Some(problem) = problem_of([0, 1, 2, 3, 4].map(setting), &kinds) {
            return Err(Error::problem(problem));
        }
        // The server refuses the writes of most users by itself, but not those of an administrator.
        // MariaDB 12 has words for it, and several for on.
        if access == Access::Write && !["0", "OFF"].contains(&setting(5).as_str()) {
            return Err(Error::Unreachable { problem: NO_WRITES.to_owned(), source: None });
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<(), Error> {
        self.batch("COMMIT")
    }

    fn roll_back(&mut self) -> Result<(), Error> {
        self.batch("ROLLBACK")
    }

    fn make_tables(&mut self) -> Result<(), Error> {
        // Each of them commits by itself, and none changes anything where another process was
        // first.
        statements(self.schema.sql)
            .split(";\n")
            .try_for_each(|statement| self.batch(statement.trim_end_matches(';')))
    }

    fn try_out_tables(&mut self) -> Result<(), Error> {
        // The server looks for the right to make a table before it looks for the one to copy.
        match self.batch("CREATE TABLE uidring_layout LIKE uidring_nothing") {
            Ok(()) | Err(Error::NoTables(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn rows(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Row>, Error> {
        let rows: Vec<mysql_async::Row> =
            self.executor.wait(self.connection.exec(sql, parameters(values)))??;
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

impl Conversation<'_> {
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
    let strange = || {
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
            i64::try_from(number).map(Value::Int).map_err(|_| strange())
        }
        mysql_async::Value::Bytes(bytes) => {
            String::from_utf8(bytes).map(Value::Text).map_err(|_| strange())
        }
        _ => Err(strange()),
    }
}

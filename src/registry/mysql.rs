//! Worker ids from a MySQL or MariaDB server.

use std::error::Error as StdError;
use std::path::Path;
use std::time::{Duration, SystemTime};

use mysql_async::prelude::Queryable;
use mysql_async::{Conn, DriverError, Error, IoError, Opts, OptsBuilder, Row, SslOpts};
use rustls::crypto::{self, CryptoProvider};

use super::host::Host;
use super::server::{
    BAD_CERTIFICATE, BAD_PASSWORD, Call, DOWN, Diagnosis, Driver, FULL_UP, Form, INTERRUPTED,
    NO_DATABASE, NO_HOST, REPLICA, Server, Session, Value, registry_on_a_server, statements,
};
use super::table::{self, Worker};
use super::{Lease, Request, WorkerRegistry};
use crate::layout::Layout;
use crate::registry::RegistryError;

type Fault = table::Fault<Error>;

/// Worker ids from a MySQL or MariaDB server, for the processes of any number of machines.
///
/// ```no_run
/// use uidring::UidGenerator;
/// use uidring::registry::MySqlRegistry;
///
/// let registry = MySqlRegistry::open("mysql://orders:secret@db.example.com/orders?require_ssl=true")?;
/// let uids = UidGenerator::builder().registry(registry).build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantees
///
/// * No (worker id, second) pair is given twice: not to two that ask at once, not after a crash at
///   any instant of a client or the server, not when the rows of ids that were given once are
///   deleted, not when a write that was given up comes about late. Ids come from a row of their own
///   and not from `AUTO_INCREMENT`, which older servers forget when they restart.
/// * The ids fit the layout that the tables were first used with. Another layout is refused.
/// * A start whose commit was not acknowledged may have used up an id; no other failure uses
///   anything up.
///
/// They rest on the server's memory. Each call looks at the settings that decide whether a commit
/// outlasts a power failure, and refuses a server that may forget one, with the value and what
/// mends it:
///
/// * `innodb_flush_log_at_trx_commit` must be 1, or MariaDB's 3: with 0 and 2 the redo log is
///   synced once a second.
/// * `sync_binlog` must be 1 where there is a binary log: after a crash the server rolls a
///   transaction back that the binary log has lost, although its commit was acknowledged. MariaDB's
///   default is 0.
/// * `innodb_flush_method` must not be `nosync` or `littlesync`, which leave out syncs.
/// * `binlog_format` must be `ROW` or `MIXED` where there is a binary log: InnoDB refuses to write
///   by statements under `READ COMMITTED`.
/// * The engine of both tables must be InnoDB: others have no transactions, or other settings.
///
/// It does not look at `innodb_doublewrite`, which file systems that write whole pages can do
/// without, nor at `ALTER INSTANCE DISABLE INNODB REDO_LOG`. And nothing tells it of a disk that
/// acknowledges a sync before it is done.
///
/// A replica takes no writes. One that is promoted and lacks the last commits gives ids again.
/// Replication is asynchronous unless set up otherwise, and semi-synchronous replication falls back
/// to that after a timeout: see that a replica has everything before you promote it, or treat it as
/// an old copy, as `schema.mysql.sql` tells.
///
/// # Tried on
///
/// MariaDB 10.11, by the tests. By hand, a cluster of Galera (26.4, two nodes of MariaDB 10.11):
/// starts and reservations that conflicted were refused, tried again, and repeated nothing, and a
/// node that was cut off gave no ids. What follows is by the manuals alone:
///
/// * MySQL since 5.7 and MariaDB since 10.2 have all that is asked of them.
/// * Group replication, too, refuses one of two conflicting transactions, at its commit.
/// * Galera and group replication acknowledge a commit when the other nodes have received it, and
///   not when they have synced it. An outage of all nodes loses nothing if the settings above hold
///   on each of them. A call looks only at the node that it is made to.
/// * A part of a cluster that is made to go on without the others (Galera's `pc.ignore_sb`,
///   `pc.ignore_quorum` and `pc.bootstrap`, group replication's `group_replication_force_members`)
///   gives the same ids as they do.
/// * A proxy must send all statements of a call to the primary, on one connection.
///
/// # Cost
///
/// A start connects and makes one transaction, and so does each reservation of leased ids. No
/// connection is held in between. Any number of generators may start at once; they get their ids
/// one after the other.
#[derive(Clone, Debug)]
pub struct MySqlRegistry(Server<MySql>);

impl MySqlRegistry {
    /// The registry at `url`, `mysql://user:password@host:port/database`, in the tables
    /// `uidring_layout` and `uidring_worker_node`. Nothing is asked of the server yet. Where the
    /// tables are not there, the first start makes them, by the file `schema.mysql.sql`.
    ///
    /// The parameters are those of [`mysql_async::Opts`], such as
    /// `?require_ssl=true&verify_identity=true`. TLS is used where it is required.
    ///
    /// # Errors
    ///
    /// [`RegistryError::Open`] when `url` is not an address of this form.
    pub fn open(url: &str) -> Result<MySqlRegistry, RegistryError> {
        let mut server = Server::new(MySql { options: Opts::default() }, url);
        let refuse = |problem: String| RegistryError::Open {
            registry: server.name.clone(),
            problem,
            source: None,
        };
        if let Some(problem) = FORM.problem(url) {
            return Err(refuse(problem));
        }
        if names_no_host(url) {
            return Err(refuse(NO_HOST.to_owned()));
        }
        let options =
            Opts::from_url(url).map_err(|error| refuse(format!("{error}; see the address")))?;
        if options.db_name().is_none_or(str::is_empty) {
            return Err(refuse(
                "the address names no database, as mysql://user@host/database does".to_owned(),
            ));
        }
        // An update counts the rows that it finds, also where it changes nothing. A second
        // connection, by a socket, would not be worth it for one call.
        server.driver.options =
            OptsBuilder::from_opts(options).client_found_rows(true).prefer_socket(false).into();
        Ok(MySqlRegistry(server))
    }

    /// Requires TLS, and trusts the certificate authorities in the file `path`, in PEM, besides
    /// Mozilla's list: for servers with certificates of one's own.
    #[must_use]
    pub fn with_root_certificate(mut self, path: impl AsRef<Path>) -> MySqlRegistry {
        let options = self.0.driver.options;
        let tls = options.ssl_opts().cloned().unwrap_or_default();
        let tls = SslOpts::with_root_certs(tls, vec![path.as_ref().to_owned().into()]);
        self.0.driver.options = OptsBuilder::from_opts(options).ssl_opts(tls).into();
        self
    }
}

registry_on_a_server!(MySqlRegistry);

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

#[derive(Clone, Debug)]
struct MySql {
    options: Opts,
}

impl Driver for MySql {
    type Error = Error;
    type Session<'a> = Conversation<'a>;

    const SCHEMA: &'static str = include_str!("../../schema.mysql.sql");

    fn connect<'a>(&self, call: &'a Call<'a>) -> Result<Conversation<'a>, Fault> {
        if self.options.ssl_opts().is_some() && CryptoProvider::get_default().is_none() {
            // The driver asks for the default, which a program with several providers may not have
            // chosen.
            let _ = crypto::ring::default_provider().install_default();
        }
        let connection = call.wait(Conn::new(self.options.clone())).map_err(Fault::Known)??;
        Ok(Conversation { call, connection })
    }

    fn diagnose(error: &Error) -> Diagnosis {
        let error = match error {
            Error::Server(error) => error,
            Error::Io(IoError::Tls(_)) => return BAD_CERTIFICATE,
            // As the library for TLS has it, and not as words.
            Error::Io(IoError::Io(error))
                if error
                    .get_ref()
                    .is_some_and(<dyn StdError + Send + Sync>::is::<rustls::Error>) =>
            {
                return BAD_CERTIFICATE;
            }
            Error::Driver(DriverError::NoClientSslFlagFromServer) => {
                return Diagnosis::Problem("switch TLS on there");
            }
            Error::Io(_) | Error::Driver(DriverError::ConnectionClosed) => return DOWN,
            _ => return Diagnosis::Other,
        };
        let known = CODES.iter().find(|(code, _)| *code == error.code);
        known.map_or(Diagnosis::Other, |(_, diagnosis)| *diagnosis)
    }
}

const SEE_LOG: Diagnosis = Diagnosis::Later("see the server's log");

/// The servers' error codes, by <https://mariadb.com/docs/server/reference/error-codes> and
/// <https://dev.mysql.com/doc/mysql-errors/en/server-error-reference.html>. A conflict can show at
/// a commit, too: Galera and group replication look for conflicts only there.
const CODES: &[(u16, Diagnosis)] = &[
    // Tables and rights.
    (1146, Diagnosis::NoTables),      // ER_NO_SUCH_TABLE
    (1054, Diagnosis::ForeignTables), // ER_BAD_FIELD_ERROR
    (1364, Diagnosis::ForeignTables), // ER_NO_DEFAULT_FOR_FIELD
    (1366, Diagnosis::ForeignTables), // ER_TRUNCATED_WRONG_VALUE_FOR_FIELD
    (1044, Diagnosis::Denied),        // ER_DBACCESS_DENIED_ERROR
    (1142, Diagnosis::Denied),        // ER_TABLEACCESS_DENIED_ERROR
    (1143, Diagnosis::Denied),        // ER_COLUMNACCESS_DENIED_ERROR
    (1227, Diagnosis::Denied),        // ER_SPECIFIC_ACCESS_DENIED_ERROR
    (1045, BAD_PASSWORD),             // ER_ACCESS_DENIED_ERROR
    (1698, BAD_PASSWORD),             // ER_ACCESS_DENIED_NO_PASSWORD_ERROR
    (1049, NO_DATABASE),              // ER_BAD_DB_ERROR
    // Other transactions.
    (1020, Diagnosis::Locked), // ER_CHECKREAD, of innodb_snapshot_isolation
    (1205, Diagnosis::Locked), // ER_LOCK_WAIT_TIMEOUT
    (1213, Diagnosis::Locked), // ER_LOCK_DEADLOCK, at a commit as well
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
    (1135, FULL_UP),         // ER_CANT_CREATE_THREAD
    (1203, FULL_UP),         // ER_TOO_MANY_USER_CONNECTIONS
    (1206, FULL_UP),         // ER_LOCK_TABLE_FULL
    (1226, FULL_UP),         // ER_USER_LIMIT_REACHED
    (1637, FULL_UP),         // ER_TOO_MANY_CONCURRENT_TRXS
    // A server that takes no writes.
    (1290, REPLICA), // ER_OPTION_PREVENTS_STATEMENT: read_only
    (1792, REPLICA), // ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION
    (1836, REPLICA), // ER_READ_ONLY_MODE
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

/// What decides whether a commit lasts. The tables are those of this database, if they are there.
const SETTINGS: &str = "SELECT @@innodb_flush_log_at_trx_commit, @@innodb_flush_method, \
    @@log_bin AND @@sql_log_bin, @@sync_binlog, @@binlog_format, \
    (SELECT ENGINE FROM information_schema.TABLES \
     WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'uidring_layout'), \
    (SELECT ENGINE FROM information_schema.TABLES \
     WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'uidring_worker_node')";

/// What is wrong with a server's answer to [`SETTINGS`].
fn problem_of(settings: [String; 7]) -> Option<String> {
    let [flushed, method, logged, synced, format, layout, worker_node] = settings;
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
    if ["nosync", "littlesync"].iter().any(|none| method.eq_ignore_ascii_case(none)) {
        return Some(format!(
            "its innodb_flush_method is {method}, so that a power failure could take ids back that \
             have been given; put innodb_flush_method = fsync into the server's configuration, and \
             restart it"
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
    let engines = [("uidring_layout", layout), ("uidring_worker_node", worker_node)];
    let (table, engine) = engines
        .iter()
        .find(|(_, engine)| !engine.is_empty() && !engine.eq_ignore_ascii_case("InnoDB"))?;
    Some(format!(
        "its table {table} has the engine {engine}, which need not keep a commit as InnoDB does; \
         run ALTER TABLE {table} ENGINE = InnoDB"
    ))
}

/// A connection during a call.
struct Conversation<'a> {
    call: &'a Call<'a>,
    connection: Conn,
}

impl Session for Conversation<'_> {
    type Error = Error;

    // `NOW` would be a time of the session's zone.
    const NOW_MS: &'static str =
        "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000)";

    fn begin(&mut self, timeout: Duration) -> Result<(), Fault> {
        let answer = self.call.wait(self.connection.query_first(SETTINGS)).map_err(Fault::Known)?;
        let row: Option<Row> = answer?;
        let setting = |column: usize| row.as_ref()?.get_opt(column)?.ok();
        let settings = [0, 1, 2, 3, 4, 5, 6].map(|column| setting(column).unwrap_or_default());
        if let Some(problem) = problem_of(settings) {
            return Err(Fault::Problem(problem));
        }
        let seconds = timeout.as_secs().clamp(1, 3600);
        self.run(&format!(
            "SET SESSION wait_timeout = {seconds}, SESSION innodb_lock_wait_timeout = {seconds}, \
             SESSION sql_mode = 'TRADITIONAL'"
        ))?;
        self.run("SET TRANSACTION ISOLATION LEVEL READ COMMITTED")?;
        self.run("START TRANSACTION READ WRITE")
    }

    fn commit(&mut self) -> Result<(), Fault> {
        self.run("COMMIT")
    }

    fn make_tables(&mut self) -> Result<(), Fault> {
        // Each of them commits by itself, and none changes anything where another process was
        // first.
        statements(MySql::SCHEMA)
            .split(";\n")
            .try_for_each(|statement| self.run(statement.trim_end_matches(';')))
    }

    fn rows(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Vec<Value>>, Fault> {
        let rows: Vec<Row> = self
            .call
            .wait(self.connection.exec(sql, parameters(values)))
            .map_err(Fault::Known)??;
        rows.into_iter().map(|row| row.unwrap().into_iter().map(value).collect()).collect()
    }

    fn write(&mut self, sql: &str, values: &[Value]) -> Result<u64, Fault> {
        self.call
            .wait(self.connection.exec_drop(sql, parameters(values)))
            .map_err(Fault::Known)??;
        Ok(self.connection.affected_rows())
    }

    fn end(self) {
        // What is wrong with the connection shows in what it was used for.
        let _ = self.call.wait(self.connection.disconnect());
    }
}

impl Conversation<'_> {
    fn run(&mut self, sql: &str) -> Result<(), Fault> {
        Ok(self.call.wait(self.connection.query_drop(sql)).map_err(Fault::Known)??)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        Fault::Driver(error)
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

fn value(value: mysql_async::Value) -> Result<Value, Fault> {
    let strange = |value: mysql_async::Value| {
        Fault::Problem(format!(
            "it answered {value:?}, which no column of its tables can hold; see whose tables they are"
        ))
    };
    match value {
        mysql_async::Value::NULL => Ok(Value::Null),
        mysql_async::Value::Int(number) => Ok(Value::Int(number)),
        mysql_async::Value::UInt(number) => {
            i64::try_from(number).map(Value::Int).map_err(|_| strange(value))
        }
        mysql_async::Value::Bytes(ref bytes) => match String::from_utf8(bytes.clone()) {
            Ok(text) => Ok(Value::Text(text)),
            Err(_) => Err(strange(value)),
        },
        value => Err(strange(value)),
    }
}

//! Worker ids from a MySQL or MariaDB server.

use std::error::Error as StdError;
use std::path::Path;
use std::time::{Duration, SystemTime};

use mysql_async::prelude::Queryable;
use mysql_async::{Conn, DriverError, Error, IoError, Opts, OptsBuilder, Row, SslOpts};
use rustls::crypto::{self, CryptoProvider};

use super::host::Host;
use super::server::{Call, Diagnosis, Driver, Form, NO_HOST, Server, Session, Value, registry_on_a_server, statements};
use super::table::{self, Worker};
use super::{Lease, Request, WorkerRegistry};
use crate::error::RegistryError;
use crate::layout::Layout;

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
/// * No (worker id, second) pair is given twice: not to two that ask at once, not after a crash at any instant of a
///   client or the server, not when the rows of ids that were given once are deleted, not when a write that was given
///   up comes about late. Ids come from a row of their own and not from `AUTO_INCREMENT`, which older servers forget
///   when they restart.
/// * The ids fit the layout that the tables were first used with. Another layout is refused.
/// * A start whose commit was not acknowledged may have used up an id; no other failure uses anything up.
///
/// They rest on the server's memory: one that is replaced by a replica that lacks the last commits gives ids again. A
/// server with `innodb_flush_log_at_trx_commit` other than 1, its default, forgets commits when it crashes, and is
/// refused.
///
/// # Cost
///
/// A start connects and makes one transaction, and so does each reservation of leased ids. No connection is held
/// in between. Any number of generators may start at once; they get their ids one after the other.
#[derive(Clone, Debug)]
pub struct MySqlRegistry(Server<MySql>);

impl MySqlRegistry {
    /// The registry at `url`, `mysql://user:password@host:port/database`, in the tables `uidring_layout` and
    /// `uidring_worker_node`. Nothing is asked of the server yet. Where the tables are not there, the first start makes
    /// them, by the file `schema.mysql.sql`.
    ///
    /// The parameters are those of [`mysql_async::Opts`], such as `?require_ssl=true&verify_identity=true`. TLS is used
    /// where it is required.
    ///
    /// # Errors
    ///
    /// [`RegistryError::Open`] when `url` is not an address of this form.
    pub fn open(url: &str) -> Result<MySqlRegistry, RegistryError> {
        let mut server = Server::new(MySql { options: Opts::default() }, url);
        let refuse = |problem: String| RegistryError::Open { registry: server.name.clone(), problem, source: None };
        if let Some(problem) = FORM.problem(url) {
            return Err(refuse(problem));
        }
        if names_no_host(url) {
            return Err(refuse(NO_HOST.to_owned()));
        }
        let options = Opts::from_url(url).map_err(|error| refuse(format!("{error}; see the address")))?;
        if options.db_name().is_none_or(str::is_empty) {
            return Err(refuse("the address names no database, as mysql://user@host/database does".to_owned()));
        }
        // An update counts the rows that it finds, also where it changes nothing. A second connection, by a socket,
        // would not be worth it for one call.
        server.driver.options = OptsBuilder::from_opts(options).client_found_rows(true).prefer_socket(false).into();
        Ok(MySqlRegistry(server))
    }

    /// Requires TLS, and trusts the certificate authorities in the file `path`, in PEM, besides Mozilla's list: for
    /// servers with certificates of one's own.
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

const FORM: Form =
    Form { database: "MySQL or MariaDB", schemes: &["mysql"], example: "mysql://user:password@host:3306/database" };

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
            // The driver asks for the default, which a program with several providers may not have chosen.
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
                if error.get_ref().is_some_and(<dyn StdError + Send + Sync>::is::<rustls::Error>) =>
            {
                return BAD_CERTIFICATE;
            }
            Error::Driver(DriverError::NoClientSslFlagFromServer) => return Diagnosis::Problem("switch TLS on there"),
            Error::Io(_) | Error::Driver(DriverError::ConnectionClosed) => return Diagnosis::Down,
            _ => return Diagnosis::Other,
        };
        // https://mariadb.com/docs/server/reference/error-codes/mariadb-error-code-reference
        match error.code {
            1146 => Diagnosis::NoTables,
            1054 | 1364 | 1366 => Diagnosis::ForeignTables,
            1044 | 1142 | 1143 | 1227 => Diagnosis::Denied,
            1205 | 1213 => Diagnosis::Locked,
            1045 | 1698 => Diagnosis::Problem("see the user and the password"),
            1049 => Diagnosis::Problem("see the name of the database"),
            1290 | 1792 | 1836 => Diagnosis::Problem("give the address of the primary"),
            1021 | 1114 => Diagnosis::Full,
            // Too many connections, or on its way down, or done with us.
            1040 | 1053 | 1077 | 1078 | 1079 | 1080 | 1152 | 1158 | 1159 | 1160 | 1161 | 1203 | 1226 | 1317 | 1927
            | 3169 | 4031 => Diagnosis::Down,
            _ => Diagnosis::Other,
        }
    }
}

const BAD_CERTIFICATE: Diagnosis =
    Diagnosis::Problem("see the server's certificate, and name its authority by with_root_certificate");

/// A connection during a call.
struct Conversation<'a> {
    call: &'a Call<'a>,
    connection: Conn,
}

impl Session for Conversation<'_> {
    type Error = Error;

    // `NOW` would be a time of the session's zone.
    const NOW_MS: &'static str = "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000)";

    fn begin(&mut self, timeout: Duration) -> Result<(), Fault> {
        let flushed = self.rows("SELECT CAST(@@innodb_flush_log_at_trx_commit AS SIGNED)", &[])?;
        if let Some([Value::Int(flushed)]) = flushed.first().map(Vec::as_slice)
            && *flushed != 1
        {
            return Err(Fault::Problem(format!(
                "its innodb_flush_log_at_trx_commit is {flushed}, so that a crash of the server could take ids back that \
                 have been given; set it to 1, which is its default"
            )));
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
        // Each of them commits by itself, and none changes anything where another process was first.
        statements(MySql::SCHEMA).split(";\n").try_for_each(|statement| self.run(statement.trim_end_matches(';')))
    }

    fn rows(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Vec<Value>>, Fault> {
        let rows: Vec<Row> = self.call.wait(self.connection.exec(sql, parameters(values))).map_err(Fault::Known)??;
        rows.into_iter().map(|row| row.unwrap().into_iter().map(value).collect()).collect()
    }

    fn write(&mut self, sql: &str, values: &[Value]) -> Result<u64, Fault> {
        self.call.wait(self.connection.exec_drop(sql, parameters(values))).map_err(Fault::Known)??;
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
        mysql_async::Value::UInt(number) => i64::try_from(number).map(Value::Int).map_err(|_| strange(value)),
        mysql_async::Value::Bytes(ref bytes) => match String::from_utf8(bytes.clone()) {
            Ok(text) => Ok(Value::Text(text)),
            Err(_) => Err(strange(value)),
        },
        value => Err(strange(value)),
    }
}

//! Worker ids from a PostgreSQL server.

use std::path::Path;
use std::time::{Duration, SystemTime};

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore, crypto};
use tokio::task::JoinHandle;
use tokio_postgres::config::SslMode;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Config, Error, Row};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::host::Host;
use super::server::{Call, Diagnosis, Driver, Form, NO_HOST, Server, Session, Value, registry_on_a_server, statements};
use super::table::{self, Worker};
use super::{Lease, Request, WorkerRegistry};
use crate::error::RegistryError;
use crate::layout::Layout;
use crate::sync::Arc;

type Fault = table::Fault<Error>;

/// Worker ids from a PostgreSQL server, for the processes of any number of machines.
///
/// ```no_run
/// use uidring::UidGenerator;
/// use uidring::registry::PostgresRegistry;
///
/// let registry = PostgresRegistry::open("postgres://orders:secret@db.example.com/orders?sslmode=require")?;
/// let uids = UidGenerator::builder().registry(registry).build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantees
///
/// * No (worker id, second) pair is given twice: not to two that ask at once, not after a crash at any instant of a
///   client or the server, not when the rows of ids that were given once are deleted, not when a write that was given
///   up comes about late.
/// * The ids fit the layout that the tables were first used with. Another layout is refused.
/// * A start whose commit was not acknowledged may have used up an id; no other failure uses anything up.
///
/// They rest on the server's memory: a server that runs with `fsync = off`, or is replaced by a standby that lacks the
/// last commits, gives ids again. `synchronous_commit = off` does no harm: it is switched on for these transactions.
///
/// # Cost
///
/// A start connects and makes one transaction, and so does each reservation of leased ids. No connection is held
/// in between. Any number of generators may start at once; they get their ids one after the other.
#[derive(Clone, Debug)]
pub struct PostgresRegistry(Server<Postgres>);

impl PostgresRegistry {
    /// The registry at `url`, `postgres://user:password@host:port/database`, in the tables `uidring_layout` and
    /// `uidring_worker_node` of the user's first schema. Nothing is asked of the server yet. Where the tables are not
    /// there, the first start makes them, by the file `schema.postgres.sql`.
    ///
    /// The parameters are those of [`tokio_postgres::Config`], such as `?connect_timeout=2&options=-csearch_path=ids`.
    /// With `sslmode=require` the server's certificate and name are checked, as with `verify-full`. With `prefer`,
    /// which holds unless set, a server that cannot be checked is spoken to without TLS.
    ///
    /// # Errors
    ///
    /// [`RegistryError::Open`] when `url` is not an address of this form.
    pub fn open(url: &str) -> Result<PostgresRegistry, RegistryError> {
        let driver = Postgres { config: Config::new(), tls: tls(None) };
        let mut server = Server::new(driver, url);
        let refuse = |problem: String| RegistryError::Open { registry: server.name.clone(), problem, source: None };
        if let Some(problem) = FORM.problem(url) {
            return Err(refuse(problem));
        }
        // What libpq calls so is what `require` is here.
        let strict =
            url.replace("sslmode=verify-full", "sslmode=require").replace("sslmode=verify-ca", "sslmode=require");
        server.driver.config = strict.parse().map_err(|error: Error| {
            refuse(format!("{}; see the address", error.into_source().map_or_else(String::new, |why| why.to_string())))
        })?;
        if server.driver.config.get_hosts().is_empty() && server.driver.config.get_hostaddrs().is_empty() {
            return Err(refuse(NO_HOST.to_owned()));
        }
        if server.driver.config.get_application_name().is_none() {
            server.driver.config.application_name("uidring");
        }
        Ok(PostgresRegistry(server))
    }

    /// Trusts the certificate authorities in the file `path`, in PEM, in place of Mozilla's list: for servers with
    /// certificates of one's own.
    ///
    /// # Errors
    ///
    /// [`RegistryError::Open`] when the file cannot be read or holds no certificate.
    pub fn with_root_certificate(mut self, path: impl AsRef<Path>) -> Result<PostgresRegistry, RegistryError> {
        let refuse = |problem: String| RegistryError::Open {
            registry: self.0.name.clone(),
            problem: format!("{}: {problem}", path.as_ref().display()),
            source: None,
        };
        let file = CertificateDer::pem_file_iter(path.as_ref()).map_err(|error| refuse(error.to_string()))?;
        let certificates: Vec<_> = file.collect::<Result<_, _>>().map_err(|error| refuse(error.to_string()))?;
        if certificates.is_empty() {
            return Err(refuse("it holds no certificate".to_owned()));
        }
        let mut roots = RootCertStore::empty();
        for certificate in certificates {
            roots.add(certificate).map_err(|error| refuse(error.to_string()))?;
        }
        self.0.driver.tls = tls(Some(roots));
        Ok(self)
    }
}

registry_on_a_server!(PostgresRegistry);

const FORM: Form = Form {
    database: "PostgreSQL",
    schemes: &["postgres", "postgresql"],
    example: "postgres://user:password@host:5432/database",
};

#[derive(Clone, Debug)]
struct Postgres {
    config: Config,
    tls: Arc<ClientConfig>,
}

/// TLS that trusts `roots`, or Mozilla's list.
fn tls(roots: Option<RootCertStore>) -> Arc<ClientConfig> {
    let roots = roots.unwrap_or_else(|| webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect());
    // Named, as a program may have several providers of cryptography and no default.
    let builder = ClientConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions();
    #[allow(clippy::expect_used)] // of the two that are asked for, both are there
    let builder = builder.expect("ring has the default protocol versions");
    Arc::new(builder.with_root_certificates(roots).with_no_client_auth())
}

impl Driver for Postgres {
    type Error = Error;
    type Session<'a> = Conversation<'a>;

    const SCHEMA: &'static str = include_str!("../../schema.postgres.sql");

    fn connect<'a>(&self, call: &'a Call<'a>) -> Result<Conversation<'a>, Fault> {
        let connect = |config: &Config| {
            let tls = MakeRustlsConnect::new(ClientConfig::clone(&self.tls));
            call.wait(config.connect(tls)).map_err(Fault::Known)
        };
        let (client, connection) = match connect(&self.config)? {
            // As libpq does it: who only prefers TLS goes on without. The server itself has not refused.
            Err(error) if self.config.get_ssl_mode() == SslMode::Prefer && error.as_db_error().is_none() => {
                connect(self.config.clone().ssl_mode(SslMode::Disable))??
            }
            result => result?,
        };
        let connection = call.beside(async {
            // Who waits for an answer gets the error too.
            let _ = connection.await;
        });
        Ok(Conversation { call, client, connection })
    }

    fn diagnose(error: &Error) -> Diagnosis {
        let Some(state) = error.code() else {
            // A connection that broke, or was never made. The driver tells the two kinds apart in words alone.
            return if error.to_string().contains("TLS handshake") { BAD_CERTIFICATE } else { Diagnosis::Down };
        };
        match *state {
            SqlState::UNDEFINED_TABLE => Diagnosis::NoTables,
            SqlState::UNDEFINED_COLUMN | SqlState::DATATYPE_MISMATCH | SqlState::WRONG_OBJECT_TYPE => {
                Diagnosis::ForeignTables
            }
            SqlState::INSUFFICIENT_PRIVILEGE => Diagnosis::Denied,
            SqlState::LOCK_NOT_AVAILABLE | SqlState::T_R_DEADLOCK_DETECTED | SqlState::T_R_SERIALIZATION_FAILURE => {
                Diagnosis::Locked
            }
            SqlState::INVALID_PASSWORD | SqlState::INVALID_AUTHORIZATION_SPECIFICATION => {
                Diagnosis::Problem("see the user and the password")
            }
            SqlState::INVALID_CATALOG_NAME => Diagnosis::Problem("see the name of the database"),
            SqlState::INVALID_SCHEMA_NAME => Diagnosis::Problem("make the schema, or name another in search_path"),
            SqlState::READ_ONLY_SQL_TRANSACTION => Diagnosis::Problem("give the address of the primary"),
            SqlState::DISK_FULL => Diagnosis::Full,
            SqlState::TOO_MANY_CONNECTIONS
            | SqlState::CANNOT_CONNECT_NOW
            | SqlState::ADMIN_SHUTDOWN
            | SqlState::CRASH_SHUTDOWN
            | SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT => Diagnosis::Down,
            _ if state.code().starts_with("08") => Diagnosis::Down,
            _ => Diagnosis::Other,
        }
    }
}

const BAD_CERTIFICATE: Diagnosis =
    Diagnosis::Problem("see the server's certificate, and name its authority by with_root_certificate");

/// A connection during a call.
struct Conversation<'a> {
    call: &'a Call<'a>,
    client: Client,
    connection: JoinHandle<()>,
}

impl Session for Conversation<'_> {
    type Error = Error;

    const NOW_MS: &'static str = "(EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::BIGINT";

    fn begin(&mut self, timeout: Duration) -> Result<(), Fault> {
        let ms = timeout.as_millis().clamp(1, 3_600_000);
        self.batch(&format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL idle_in_transaction_session_timeout = {ms}; \
             SET LOCAL synchronous_commit = on"
        ))
    }

    fn commit(&mut self) -> Result<(), Fault> {
        self.batch("COMMIT")
    }

    fn make_tables(&mut self) -> Result<(), Fault> {
        self.batch("ROLLBACK")?;
        self.batch(&statements(Postgres::SCHEMA))
    }

    fn rows(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Vec<Value>>, Fault> {
        // Not prepared: a pooler may give each transaction another connection.
        let rows = self.wait(self.client.query_typed(&numbered(sql), &typed(values)))?;
        rows.iter().map(row).collect()
    }

    fn write(&mut self, sql: &str, values: &[Value]) -> Result<u64, Fault> {
        self.wait(self.client.execute_typed(&numbered(sql), &typed(values)))
    }

    fn end(self) {
        // The driver says goodbye when there is no client any more, and then is done.
        drop(self.client);
        let _ = self.call.wait(self.connection);
    }
}

impl Conversation<'_> {
    fn wait<T>(&self, answer: impl Future<Output = Result<T, Error>>) -> Result<T, Fault> {
        Ok(self.call.wait(answer).map_err(Fault::Known)??)
    }

    fn batch(&self, sql: &str) -> Result<(), Fault> {
        self.wait(self.client.batch_execute(sql))
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        Fault::Driver(error)
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

fn row(row: &Row) -> Result<Vec<Value>, Fault> {
    let value = |(index, column): (usize, &tokio_postgres::Column)| {
        let value = if *column.type_() == Type::INT8 {
            row.try_get::<_, Option<i64>>(index)?.map(Value::Int)
        } else {
            row.try_get::<_, Option<String>>(index)?.map(Value::Text)
        };
        Ok(value.unwrap_or(Value::Null))
    };
    row.columns().iter().enumerate().map(value).collect()
}

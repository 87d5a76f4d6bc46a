//! Worker ids from a PostgreSQL server.

use std::path::Path;
use std::time::{Duration, SystemTime};

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore, crypto};
use tokio::task::JoinHandle;
use tokio_postgres::config::SslMode;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Config, Error, Row, SimpleQueryMessage};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::host::Host;
use super::server::{
    BAD_CERTIFICATE, BAD_PASSWORD, Call, DOWN, Diagnosis, Driver, FULL_UP, Form, INTERRUPTED,
    NO_DATABASE, NO_HOST, REPLICA, Server, Session, Value, registry_on_a_server, statements,
};
use super::table::{self, Worker};
use super::{Lease, Request, WorkerRegistry};
use crate::layout::Layout;
use crate::registry::RegistryError;
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
/// * No (worker id, second) pair is given twice: not to two that ask at once, not after a crash at
///   any instant of a client or the server, not when the rows of ids that were given once are
///   deleted, not when a write that was given up comes about late.
/// * The ids fit the layout that the tables were first used with. Another layout is refused.
/// * A start whose commit was not acknowledged may have used up an id; no other failure uses
///   anything up.
///
/// They rest on the server's memory. Each call looks at the settings that decide whether a commit
/// outlasts a power failure, and refuses a server that may forget one, with the value and what
/// mends it:
///
/// * `fsync` must be `on`. A service that keeps commits elsewhere, and switches it off for that
///   reason, is refused as well: the two look alike.
/// * Neither table may be `UNLOGGED`: a crash empties such tables.
///
/// These transactions have `synchronous_commit = on`, whatever others have, or `remote_apply`,
/// which waits for more, if that is set. `full_page_writes` may be off, as it is on storage that
/// writes whole pages; on any other, a power failure can tear a page then, and lose its rows. And
/// nothing tells of a disk that acknowledges a sync before it is done.
///
/// A standby takes no writes. One that is promoted and lacks the last commits gives ids again: name
/// it in `synchronous_standby_names`, so that a commit waits for it; or see that it has everything
/// before you promote it; or treat it as an old copy, as `schema.postgres.sql` tells.
///
/// # Tried on
///
/// PostgreSQL 15, by the tests. What follows is by the manuals alone:
///
/// * PostgreSQL since 11 has all that is asked of it.
/// * A pooler may give each transaction another connection, as no setting and no prepared statement
///   outlasts one. It has to keep a transaction on one connection: PgBouncer's modes `session` and
///   `transaction` do, `statement` does not.
/// * CockroachDB and other servers that speak PostgreSQL's language refuse one of two conflicting
///   transactions, some at its commit; that is tried again.
///
/// # Cost
///
/// A start connects and makes one transaction, and so does each reservation of leased ids. No
/// connection is held in between. Any number of generators may start at once; they get their ids
/// one after the other.
#[derive(Clone, Debug)]
pub struct PostgresRegistry(Server<Postgres>);

impl PostgresRegistry {
    /// The registry at `url`, `postgres://user:password@host:port/database`, in the tables
    /// `uidring_layout` and `uidring_worker_node` of the user's first schema. Nothing is asked of
    /// the server yet. Where the tables are not there, the first start makes them, by the file
    /// `schema.postgres.sql`.
    ///
    /// The parameters are those of [`tokio_postgres::Config`], such as
    /// `?connect_timeout=2&options=-csearch_path=ids`. With `sslmode=require` the server's
    /// certificate and name are checked, as with `verify-full`. With `prefer`, which holds unless
    /// set, a server that cannot be checked is spoken to without TLS.
    ///
    /// # Errors
    ///
    /// [`RegistryError::Open`] when `url` is not an address of this form.
    pub fn open(url: &str) -> Result<PostgresRegistry, RegistryError> {
        let driver = Postgres { config: Config::new(), tls: tls(None) };
        let mut server = Server::new(driver, url);
        let refuse = |problem: String| RegistryError::Open {
            registry: server.name.clone(),
            problem,
            source: None,
        };
        if let Some(problem) = FORM.problem(url) {
            return Err(refuse(problem));
        }
        // What libpq calls so is what `require` is here.
        let strict = url
            .replace("sslmode=verify-full", "sslmode=require")
            .replace("sslmode=verify-ca", "sslmode=require");
        server.driver.config = strict.parse().map_err(|error: Error| {
            refuse(format!(
                "{}; see the address",
                error.into_source().map_or_else(String::new, |why| why.to_string())
            ))
        })?;
        if server.driver.config.get_hosts().is_empty()
            && server.driver.config.get_hostaddrs().is_empty()
        {
            return Err(refuse(NO_HOST.to_owned()));
        }
        if server.driver.config.get_application_name().is_none() {
            server.driver.config.application_name("uidring");
        }
        Ok(PostgresRegistry(server))
    }

    /// Trusts the certificate authorities in the file `path`, in PEM, in place of Mozilla's list:
    /// for servers with certificates of one's own.
    ///
    /// # Errors
    ///
    /// [`RegistryError::Open`] when the file cannot be read or holds no certificate.
    pub fn with_root_certificate(
        mut self,
        path: impl AsRef<Path>,
    ) -> Result<PostgresRegistry, RegistryError> {
        let refuse = |problem: String| RegistryError::Open {
            registry: self.0.name.clone(),
            problem: format!("{}: {problem}", path.as_ref().display()),
            source: None,
        };
        let file = CertificateDer::pem_file_iter(path.as_ref())
            .map_err(|error| refuse(error.to_string()))?;
        let certificates: Vec<_> =
            file.collect::<Result<_, _>>().map_err(|error| refuse(error.to_string()))?;
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
            // As libpq does it: who only prefers TLS goes on without. The server itself has not
            // refused.
            Err(error)
                if self.config.get_ssl_mode() == SslMode::Prefer
                    && error.as_db_error().is_none() =>
            {
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
            // A connection that broke, or was never made. The driver tells the kinds apart in words
            // alone.
            let words = error.to_string();
            return match () {
                () if words.contains("TLS handshake") => BAD_CERTIFICATE,
                () if words.contains("invalid configuration") => {
                    Diagnosis::Problem("see the address")
                }
                () => DOWN,
            };
        };
        let known = CODES.iter().find(|(code, _)| state.code().starts_with(code));
        known.map_or(Diagnosis::Other, |(_, diagnosis)| *diagnosis)
    }
}

/// The server's error codes, and classes of them, by
/// <https://www.postgresql.org/docs/current/errcodes-appendix.html>. A conflict can show at a
/// commit, too: CockroachDB looks for some only there.
const CODES: &[(&str, Diagnosis)] = &[
    // Tables and rights.
    ("42P01", Diagnosis::NoTables),      // undefined_table
    ("42703", Diagnosis::ForeignTables), // undefined_column
    ("42804", Diagnosis::ForeignTables), // datatype_mismatch
    ("42809", Diagnosis::ForeignTables), // wrong_object_type
    ("42501", Diagnosis::Denied),        // insufficient_privilege
    ("28000", BAD_PASSWORD),             // invalid_authorization_specification
    ("28P01", BAD_PASSWORD),             // invalid_password
    ("3D000", NO_DATABASE),              // invalid_catalog_name
    // invalid_schema_name
    ("3F000", Diagnosis::Problem("make the schema, or name another in search_path")),
    // Other transactions.
    ("40003", DOWN),              // statement_completion_unknown
    ("40", Diagnosis::Locked),    // 40001 serialization_failure, 40P01 deadlock_detected
    ("55P03", Diagnosis::Locked), // lock_not_available
    // Limits on statements and transactions.
    ("25P03", INTERRUPTED), // idle_in_transaction_session_timeout
    ("25P04", INTERRUPTED), // transaction_timeout
    ("57014", INTERRUPTED), // query_canceled: statement_timeout, and pg_cancel_backend
    // Limits on the server.
    ("53000", FULL_UP),         // insufficient_resources
    ("53100", Diagnosis::Full), // disk_full
    ("53200", FULL_UP),         // out_of_memory
    ("53300", FULL_UP),         // too_many_connections
    // A server that takes no writes.
    ("25006", REPLICA), // read_only_sql_transaction
    // On the way up or down, or done with us.
    ("08", DOWN), // connection_exception; a pooler's errors are 08P01, protocol_violation
    ("57P01", DOWN), // admin_shutdown
    ("57P02", DOWN), // crash_shutdown
    ("57P03", DOWN), // cannot_connect_now
    ("57P05", DOWN), // idle_session_timeout
];

/// What decides whether a commit lasts. It waits for the server's own disk at the least, for
/// standbys if there are synchronous ones, and for more if the operator has asked for more. The
/// tables are those that the search path finds, if they are there. Servers that only speak
/// PostgreSQL's language may have no setting of the name fsync.
const SETTINGS: &str = "SELECT set_config('synchronous_commit', \
    CASE current_setting('synchronous_commit') \
    WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true), \
    current_setting('fsync', true), \
    (SELECT MIN(relname::TEXT) FROM pg_class WHERE relpersistence <> 'p' \
     AND oid IN (to_regclass('uidring_layout'), to_regclass('uidring_worker_node')))";

/// What is wrong with a server that answers so to [`SETTINGS`].
fn problem_of(fsync: Option<&str>, not_logged: Option<&str>) -> Option<String> {
    if fsync == Some("off") {
        return Some(
            "its fsync is off, so that a power failure could take ids back that have been given; \
             run ALTER SYSTEM SET fsync = on; SELECT pg_reload_conf()"
                .to_owned(),
        );
    }
    not_logged.map(|table| {
        format!(
            "its table {table} is not logged, so that a crash of the server would empty it; \
             run ALTER TABLE {table} SET LOGGED"
        )
    })
}

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
        let sql = format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED; \
             SET LOCAL idle_in_transaction_session_timeout = {ms}; {SETTINGS}"
        );
        let answer = self.wait(self.client.simple_query(&sql))?;
        let row = answer.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        });
        let setting = |column: usize| row?.try_get(column).ok()?;
        problem_of(setting(1), setting(2)).map_or(Ok(()), |problem| Err(Fault::Problem(problem)))
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

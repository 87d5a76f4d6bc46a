//! PostgreSQL: connecting, whether a commit is durable, and what its errors mean.

mod refusal;

use std::future::{Future, poll_fn};
use std::io;
use std::path::Path;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinHandle;
use tokio_postgres::config::{Host, SslMode, SslNegotiation};
use tokio_postgres::error::{Severity, SqlState};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{AsyncMessage, Client, Config, Connection, SimpleQueryMessage};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::server::{Executor, outside_of_a_runtime};
use super::{
    Access, Database, Deadline, Dialect, Error, Row, Schema, Session, Value, now, statements,
};
use crate::backend::address::database::{Form, NO_HOST, Parameters};
use crate::backend::address::password_file::{PASSFILE, PasswordFile};
use crate::backend::address::redaction::without_password;
use crate::backend::address::renewal::{Renewal, other_store};
use crate::backend::tls::Tls;
use crate::sync::{Arc, AtomicBool, Ordering};

/// A PostgreSQL server.
#[derive(Clone, Debug)]
pub struct Postgres {
    name: String,
    config: Config,
    tls: Tls,
    password_file: Option<PasswordFile>,
    renewal: Renewal<Postgres>,
    /// Whether it may be a server on which nobody has tried this library.
    may_be_untried: bool,
}

impl Postgres {
    /// The server at `url`. Nothing is asked of it yet.
    pub fn at(url: &str) -> Result<Postgres, Error> {
        if let Some(problem) = FORM.problem(url) {
            return Err(Error::problem(problem));
        }
        let mut parameters = Parameters::of(url);
        let authority = parameters.take_file(&["sslrootcert"])?;
        if authority.as_deref() == Some(Path::new("system")) {
            return Err(Error::problem(
                "sslrootcert=system is not known here; name the file of the system's authorities, \
                 such as /etc/ssl/certs/ca-certificates.crt, or leave sslrootcert out for \
                 Mozilla's list",
            ));
        }
        let identity = parameters.take_identity(&["sslcert"], &["sslkey"])?;
        let mode = parameters.take(&["sslmode"]);
        let password_file = parameters.take_file(&[PASSFILE])?;
        let may_be_untried = parameters.take_yes("untried")?;
        let url = parameters.url();
        let mut config: Config = url.parse().map_err(|error: tokio_postgres::Error| {
            let why = error.into_source().map_or_else(String::new, |why| why.to_string());
            Error::problem(format!("{why}; see the address"))
        })?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(Error::problem(NO_HOST));
        }
        if config.get_application_name().is_none() {
            config.application_name("uidring");
        }
        let is_direct = config.get_ssl_negotiation() == SslNegotiation::Direct;
        let is_about_tls = is_direct || authority.is_some() || identity.is_some();
        config.ssl_mode(match mode.as_deref() {
            Some("require" | "verify-ca" | "verify-full") => SslMode::Require,
            None if is_about_tls => SslMode::Require,
            Some("disable" | "prefer") if is_direct => {
                return Err(Error::problem(
                    "sslnegotiation=direct is for TLS alone; write sslmode=require, verify-ca or \
                     verify-full with it, or leave sslmode out",
                ));
            }
            Some("disable") => SslMode::Disable,
            Some("prefer") | None => SslMode::Prefer,
            Some(_) => {
                return Err(Error::problem(
                    "sslmode is disable, prefer, require, verify-ca or verify-full here; see the \
                     address",
                ));
            }
        });
        let takes_any_name = mode.as_deref() == Some("verify-ca");
        let tls = Tls { authority, identity, takes_any_name };
        tls.config().map_err(Error::problem)?;
        let has_password = config.get_password().is_some_and(|password| !password.is_empty());
        let password_file = password_file.map(|path| PasswordFile::at(path, has_password));
        Ok(Postgres {
            name: without_password(&url),
            config,
            tls,
            password_file: password_file.transpose()?,
            renewal: Renewal::default(),
            may_be_untried,
        })
    }

    /// Trusts the certificate authorities in the file `path`, in PEM, and no others.
    pub fn trust(&mut self, path: &Path) -> Result<(), Error> {
        self.tls.authority = Some(path.to_owned());
        self.tls.config().map(drop).map_err(Error::problem)
    }
}

/// Whether a line of libpq's file of passwords, as far as the password, is about this server.
fn is_of(config: &Config, line: &[String]) -> bool {
    let is = |field: usize, value: &str| line[field] == "*" || line[field] == value;
    let hosts = config.get_hosts().iter().map(|host| match host {
        Host::Tcp(name) => name.clone(),
        #[cfg(unix)]
        Host::Unix(folder) => folder.display().to_string(),
    });
    let mut hosts = hosts.chain(config.get_hostaddrs().iter().map(ToString::to_string));
    let mut ports = config.get_ports().iter().map(ToString::to_string);
    let user = config.get_user().unwrap_or_default();
    hosts.any(|host| is(0, &host))
        && (config.get_ports().is_empty() && is(1, "5432") || ports.any(|port| is(1, &port)))
        && is(2, config.get_dbname().unwrap_or(user))
        && is(3, user)
}

const FORM: Form = Form {
    database: "PostgreSQL",
    schemes: &["postgres", "postgresql"],
    example: "postgres://user:password@host:5432/database",
};

impl Database for Postgres {
    const TABLES: &'static str = include_str!("../../../../schema.postgres.sql");
    const DIALECT: Dialect = Dialect {
        now: now::POSTGRES,
        greatest: "GREATEST",
        for_update: "FOR UPDATE",
        turn: Some(
            "SELECT pg_advisory_xact_lock('uidring_series'::REGCLASS::OID::INT, hashtext(?))",
        ),
        columns: "SELECT attname::TEXT FROM pg_attribute \
            WHERE attrelid = to_regclass(?::TEXT) AND attnum > 0 AND NOT attisdropped \
            AND has_column_privilege(attrelid, attnum, 'SELECT')",
        tables: "SELECT relname::TEXT FROM pg_class \
            WHERE relname IN ({names}) AND pg_table_is_visible(oid)",
    };
    const MAKES_TABLES: bool = true;
    const MAKES_AT_ONCE: bool = true;

    fn name(&self) -> String {
        self.renewal.look(self, |newest| newest.name.clone())
    }

    fn current(&self) -> Result<Postgres, Error> {
        let mut server = self.renewal.newest(self);
        if let Some(file) = &server.password_file {
            let password = file.read_line(|line| is_of(&server.config, line))?;
            server.config.password(password);
        }
        Ok(server)
    }

    fn password_file(&self) -> Option<&Path> {
        self.password_file.as_ref().map(PasswordFile::path)
    }

    fn renew(&self, address: &str) -> Result<(), Error> {
        let newer = Postgres::at(address)?;
        let (new, own) = (&newer.config, &self.config);
        // Without a name, the database is that of the user.
        let database =
            |config: &Config| config.get_dbname().or(config.get_user()).map(str::to_owned);
        let is_same = new.get_hosts() == own.get_hosts()
            && new.get_hostaddrs() == own.get_hostaddrs()
            && new.get_ports() == own.get_ports()
            && new.get_options() == own.get_options()
            && database(new) == database(own);
        if !is_same {
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
        let executor = Executor::new(deadline)?;
        let mut tls = self.tls.config().map_err(Error::problem)?;
        let mut config = self.config.clone();
        if config.get_ssl_negotiation() == SslNegotiation::Direct {
            // Without it, PostgreSQL takes no TLS at once.
            tls.alpn_protocols = vec![b"postgresql".to_vec()];
        }
        let connect =
            |config: &Config| executor.wait(config.connect(MakeRustlsConnect::new(tls.clone())));
        let hosts = config.get_hosts().len().max(config.get_hostaddrs().len());
        if hosts > 1 && config.get_connect_timeout().is_none() {
            // One that does not answer leaves time for the others, with TLS and without.
            let parts = u32::try_from(2 * hosts).unwrap_or(u32::MAX);
            config.connect_timeout(deadline.left() / parts);
        }
        let mode = config.get_ssl_mode();
        let (client, connection) = match connect(&config)? {
            // As libpq does it: a client that only prefers TLS goes on without. The server itself
            // has not refused.
            Err(in_tls) if mode == SslMode::Prefer && in_tls.as_db_error().is_none() => {
                let plain = connect(config.ssl_mode(SslMode::Disable))?;
                plain.map_err(|error| refusal::without_tls(error, &in_tls, &self.config))?
            }
            result => result.map_err(|error| refusal::connecting(error, &self.config))?,
        };
        let told = connection.parameter("crdb_version").or(connection.parameter("server_version"));
        if let Some(error) = told.and_then(refusal::untried_by_parameter)
            && !self.may_be_untried
        {
            return Err(error);
        }
        let has_warned = Arc::new(AtomicBool::new(false));
        let connection = executor.beside(attend(connection, Arc::clone(&has_warned)));
        let search_path = self.config.get_options().and_then(search_path);
        Ok(Conversation {
            client,
            connection,
            has_warned,
            executor,
            schema,
            deadline,
            search_path,
            may_be_untried: self.may_be_untried,
        })
    }

    fn run<T: Send>(call: impl FnOnce() -> T + Send) -> io::Result<T> {
        outside_of_a_runtime(call)
    }
}

/// The `search_path` that the server's options in an address name, read as the server reads them:
/// `-c name=value` or `--name=value`, with a backslash in front of a space that is no end.
fn search_path(options: &str) -> Option<String> {
    let mut words = vec![String::new()];
    let mut letters = options.chars();
    while let Some(letter) = letters.next() {
        if letter.is_ascii_whitespace() {
            words.push(String::new());
        } else if let (Some(word), Some(letter)) =
            (words.last_mut(), if letter == '\\' { letters.next() } else { Some(letter) })
        {
            word.push(letter);
        }
    }
    let mut words = words.into_iter().filter(|word| !word.is_empty());
    let mut found = None;
    while let Some(word) = words.next() {
        let setting = match word.strip_prefix("-c").or_else(|| word.strip_prefix("--")) {
            Some("") => words.next().unwrap_or_default(),
            Some(setting) => setting.to_owned(),
            None => continue,
        };
        if let Some((name, value)) = setting.split_once('=')
            && name.replace('-', "_").eq_ignore_ascii_case("search_path")
        {
            found = Some(value.to_owned());
        }
    }
    found
}

/// The first schema of a `search_path`, as it is written there.
fn first_of(search_path: &str) -> &str {
    let mut is_quoted = false;
    let end = search_path.find(|letter| {
        is_quoted ^= letter == '"';
        letter == ',' && !is_quoted
    });
    &search_path[..end.unwrap_or(search_path.len())]
}

/// The statement that sets the `search_path` of one transaction.
fn set_search_path(search_path: &str) -> String {
    let text = search_path.replace('\\', r"\\").replace('\'', "''");
    format!("SELECT set_config('search_path', E'{text}', true);")
}

/// What decides whether a commit lasts, and whether one can be made at all. It waits for the
/// server's own disk at the least, for standbys if there are synchronous ones, and for more if the
/// operator has asked for more. The tables are those that the search path finds, if they are there,
/// with all partitions, and all tables that inherit from them. The first of them that is no table,
/// or is not logged, is returned behind its kind and its persistence. Servers that only speak
/// PostgreSQL's language may have no setting of the name fsync.
fn settings(schema: &Schema) -> String {
    let tables = schema.tables.iter().map(|table| format!("to_regclass('{table}')"));
    format!(
        "SELECT set_config('synchronous_commit', \
         CASE current_setting('synchronous_commit') \
         WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true), \
         current_setting('fsync', true), \
         (WITH RECURSIVE parts AS (\
         SELECT oid FROM pg_class WHERE oid = ANY (ARRAY[{}]::OID[]) \
         UNION SELECT inhrelid FROM pg_inherits JOIN parts ON inhparent = parts.oid) \
         SELECT MIN(relkind::TEXT || relpersistence::TEXT || oid::REGCLASS::TEXT) FROM pg_class \
         WHERE oid IN (SELECT oid FROM parts) AND relkind <> 'p' \
         AND (relkind <> 'r' OR relpersistence <> 'p')), \
         current_setting('transaction_read_only'), pg_is_in_recovery(), version()",
        tables.collect::<Vec<_>>().join(", ")
    )
}

/// What is wrong with a server that answers so to [`settings`].
fn problem_of(fsync: Option<&str>, bad_table: Option<&str>) -> Option<String> {
    if fsync == Some("off") {
        return Some(
            "its fsync is off, so that a power failure could take ids back that have been given; \
             run ALTER SYSTEM SET fsync = on; SELECT pg_reload_conf()"
                .to_owned(),
        );
    }
    let (kind, table) = bad_table?.split_at_checked(2)?;
    Some(match kind {
        "ru" => format!(
            "its table {table} is not logged, so that a crash of the server would empty it; \
             run ALTER TABLE {table} SET LOGGED"
        ),
        "rt" => format!(
            "its table {table} is a temporary one, which the end of a connection removes; drop it, \
             and see who makes it, such as a pooler that shares connections"
        ),
        "fp" => format!(
            "its table {table} is on another server, which need not keep a commit; give the \
             address of that one"
        ),
        _ => format!(
            "its {table} is no table but a view, behind which anything may be, also what a crash \
             of the server would empty; name the place of the table itself, by the address and \
             its search_path"
        ),
    })
}

/// Why a server that answers so to [`settings`] takes no writes. Where they are switched off, that
/// may be for a moment, or for a move to another server: so this is not switched on again here.
fn takes_no_writes(read_only: Option<&str>, is_standby: Option<&str>) -> Option<Error> {
    let problem = match (read_only, is_standby) {
        (Some("on"), Some("t" | "true")) => {
            "it is a standby, which takes no writes; give the address of the primary, or make this \
             server the primary"
        }
        (Some("on"), _) => {
            "its transactions only read, as default_transaction_read_only is on; if it may be \
             written again, set that to off where it was set: by ALTER ROLE, ALTER DATABASE or \
             ALTER SYSTEM, or in the address"
        }
        _ => return None,
    };
    Some(Error::Unreachable { problem: problem.to_owned(), source: None })
}

/// Drives a connection until its end, and notes whether the server has warned of something.
async fn attend<S, T>(mut connection: Connection<S, T>, has_warned: Arc<AtomicBool>)
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

/// A connection during a call.
struct Conversation<'a> {
    client: Client,
    connection: JoinHandle<()>,
    /// Whether the server has warned of something.
    has_warned: Arc<AtomicBool>,
    executor: Executor<'a>,
    schema: &'a Schema,
    deadline: &'a Deadline,
    /// Where the tables are, if the address says so. A pooler may have left it out when it
    /// connected, or hand over a connection on which another client has set its own. So each
    /// transaction sets it.
    search_path: Option<String>,
    may_be_untried: bool,
}

impl Session for Conversation<'_> {
    fn begin(&mut self, access: Access) -> Result<(), Error> {
        let ms = self.deadline.timeout.as_millis().clamp(2, 3_600_000);
        // The server gives up on a lock before this side does. Else it would go on waiting, with a
        // connection for each call, and the error would say that it is away.
        let lock_ms = ms / 2;
        let place = self.search_path.as_deref().map(set_search_path).unwrap_or_default();
        // A warning is all that tells of a wait for a standby that somebody has ended.
        let sql = format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED; {place} \
             SET LOCAL client_min_messages = warning; \
             SET LOCAL idle_in_transaction_session_timeout = {ms}; \
             SET LOCAL lock_timeout = {lock_ms}; {}",
            settings(self.schema)
        );
        let answer = self.wait(self.client.simple_query(&sql)).map_err(|error| match error {
            Error::Unreachable { .. } | Error::Locked | Error::Full(_) => error,
            // Another kind of server may not even know what is asked.
            error => self.other_kind().unwrap_or(error),
        })?;
        let row = answer.iter().rev().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        });
        let setting = |column: usize| row?.try_get(column).ok()?;
        if let Some(error) = self.refuse_untried(setting(5)) {
            return Err(error);
        }
        if let Some(problem) = problem_of(setting(1), setting(2)) {
            return Err(Error::problem(problem));
        }
        match takes_no_writes(setting(3), setting(4)) {
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

    fn make_tables(&mut self) -> Result<(), Error> {
        self.batch(&self.making())
    }

    fn try_out_tables(&mut self) -> Result<(), Error> {
        // The statements are one transaction.
        self.batch(&self.making().replace("COMMIT;", "ROLLBACK;"))
    }

    fn rows(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Row>, Error> {
        // Not prepared: a pooler may give each transaction another connection.
        let rows = self.wait(self.client.query_typed(&numbered(sql), &typed(values)))?;
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

impl Conversation<'_> {
    fn wait<T>(
        &self,
        answer: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, Error> {
        Ok(self.executor.wait(answer)??)
    }

    /// The statements that make the tables. Where the address names schemas, they are made in the
    /// first one, or nowhere: a user who may use another schema would make a second registry there.
    fn making(&self) -> String {
        let first = self.search_path.as_deref().map(first_of);
        let place = first.map(set_search_path).unwrap_or_default();
        statements(self.schema.sql).replacen("BEGIN;", &format!("BEGIN; {place}"), 1)
    }

    fn batch(&self, sql: &str) -> Result<(), Error> {
        self.wait(self.client.batch_execute(sql))
    }

    /// The error of a server that is another than PostgreSQL by its `version`.
    fn refuse_untried(&self, version: Option<&str>) -> Option<Error> {
        if self.may_be_untried { None } else { refusal::untried(version?) }
    }

    /// The same of a server that has just failed.
    fn other_kind(&self) -> Option<Error> {
        self.batch("ROLLBACK").ok()?;
        let answer = self.wait(self.client.simple_query("SELECT version()")).ok()?;
        answer.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => self.refuse_untried(row.get(0)),
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
                return Err(Error::ForeignTables(Some(cause.into())));
            }
        };
        Ok(value.unwrap_or(Value::Null))
    };
    row.columns().iter().enumerate().map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::{first_of, search_path};

    #[test]
    fn a_search_path_is_found_among_the_options_of_an_address() {
        for (options, found) in [
            ("", None),
            ("-cstatement_timeout=100 -e", None),
            ("-csearch_path=ids", Some("ids")),
            ("-c  search_path=ids -cgeqo=off", Some("ids")),
            ("--search-path=a,b -c", Some("a,b")),
            ("-cSearch_Path=a -csearch_path=b", Some("b")),
            (r#"-csearch_path=a,\ "\\b""#, Some(r#"a, "\b""#)),
        ] {
            assert_eq!(search_path(options).as_deref(), found, "{options}");
        }
    }

    #[test]
    fn the_first_schema_of_a_search_path_may_be_quoted() {
        for (path, first) in [("a", "a"), ("a, b", "a"), (r#""a,""b",c"#, r#""a,""b""#), ("", "")] {
            assert_eq!(first_of(path), first, "{path}");
        }
    }
}

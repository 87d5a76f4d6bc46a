//! MySQL and MariaDB: connecting, whether a commit is durable, and what their errors mean.

mod refusal;

use std::fmt;
use std::io;
use std::path::Path;

use mysql_async::prelude::Queryable;
use mysql_async::{ClientIdentity, Column, Conn, Opts, OptsBuilder, SslOpts};
use rustls::crypto::{self, CryptoProvider};

use super::server::{Executor, outside_of_a_runtime};
use super::{
    Access, Database, Deadline, Dialect, Error, Row, Schema, Session, Value, now, statements,
};
use crate::backend::address::database::{Form, NO_HOST, Parameters};
use crate::backend::address::password_file::{PASSFILE, PasswordFile};
use crate::backend::address::redaction::without_password;
use crate::backend::address::renewal::{Renewal, other_store};
use crate::backend::pem;
use crate::support::callbacks::caught;
use refusal::NO_WRITES;

/// A MySQL or MariaDB server.
#[derive(Clone)]
pub struct MySql {
    name: String,
    options: Opts,
    password_file: Option<PasswordFile>,
    renewal: Renewal<MySql>,
    /// Whether it may be a server on which nobody has tried this library.
    may_be_untried: bool,
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
        let mut parameters = Parameters::of(url);
        let authority = parameters.take_file(&["ssl-ca", "ssl_ca"])?;
        let identity =
            parameters.take_identity(&["ssl-cert", "ssl_cert"], &["ssl-key", "ssl_key"])?;
        if let Some(mode) = parameters.take(&["ssl-mode", "ssl_mode", "sslmode", "sslMode"]) {
            for parameter in tls_of(&mode)? {
                parameters.add(parameter);
            }
        }
        let is_about_tls = authority.is_some()
            || identity.is_some()
            || parameters.has(&["verify_ca", "verify_identity", "built_in_roots"]);
        if is_about_tls && !parameters.has(&["require_ssl"]) {
            parameters.add("require_ssl=true");
        }
        let password_file = parameters.take_file(&[PASSFILE])?;
        let may_be_untried = parameters.take_yes("untried")?;
        let url = parameters.url();
        let options = Opts::from_url(&url)
            .map_err(|error| Error::problem(format!("{error}; see the address")))?;
        if options.db_name().is_none_or(str::is_empty) {
            return Err(Error::problem(
                "the address names no database, as mysql://user@host/database does",
            ));
        }
        let mut tls = options.ssl_opts().cloned();
        if let Some(options) = tls.take_if(|options| options.skip_domain_validation()) {
            tls = Some(options.with_danger_tls_hostname_override(Some(NO_NAME)));
        }
        if let Some((certificate, key)) = identity {
            // The driver reads the files when it connects.
            pem::certificates(&certificate).map_err(Error::problem)?;
            pem::private_key(&key).map_err(Error::problem)?;
            let identity = ClientIdentity::new(certificate.into(), key.into());
            tls = Some(tls.unwrap_or_default().with_client_identity(Some(identity)));
        }
        // An update counts the rows that it finds, also where it changes nothing. A second
        // connection, by a socket, would not be worth it for one call.
        let options = OptsBuilder::from_opts(options).client_found_rows(true).prefer_socket(false);
        let options: Opts = options.ssl_opts(tls).into();
        let has_password = options.pass().is_some_and(|password| !password.is_empty());
        let password_file = password_file.map(|path| PasswordFile::at(path, has_password));
        let mut server = MySql {
            name: without_password(&url),
            options,
            password_file: password_file.transpose()?,
            renewal: Renewal::default(),
            may_be_untried,
        };
        if let Some(path) = authority {
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

/// The name for which the driver asks a certificate where any will do. It takes a certificate for
/// other names if the error of rustls has this word, which rustls has not said since it tells the
/// names: this one is told there. No certificate is for a name that ends so.
const NO_NAME: &str = "NotValidForName.invalid";

/// The driver's parameters for what the servers' own clients call `ssl-mode`.
fn tls_of(mode: &str) -> Result<&'static [&'static str], Error> {
    match mode.to_ascii_uppercase().as_str() {
        "DISABLED" => Ok(&["require_ssl=false"]),
        "REQUIRED" | "VERIFY_IDENTITY" => Ok(&["require_ssl=true"]),
        "VERIFY_CA" => Ok(&["require_ssl=true", "verify_identity=false"]),
        "PREFERRED" => Err(Error::problem(
            "ssl-mode=PREFERRED would go on without TLS where there is none, which is not done \
             here; write REQUIRED, VERIFY_CA, VERIFY_IDENTITY or DISABLED",
        )),
        _ => Err(Error::problem(
            "ssl-mode is DISABLED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY here; see the address",
        )),
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
    const TABLES: &'static str = include_str!("../../../../schema.mysql.sql");
    const DIALECT: Dialect = Dialect {
        // `NOW` would be a time of the session's zone.
        now: now::MYSQL,
        greatest: "GREATEST",
        for_update: "FOR UPDATE",
        turn: None,
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
        // With what is in the files now: the driver keeps what it has read with its options.
        let tls = self.options.ssl_opts().cloned();
        let options = OptsBuilder::from_opts(self.options.clone()).ssl_opts(tls);
        // The driver panics where a user has a plugin that it is built without.
        let connection = caught(|| executor.wait(Conn::new(options)));
        let connection = connection.unwrap_or_else(|| Err(refusal::no_plugin()))?;
        let connection =
            connection.map_err(|error| refusal::connecting(error, self.options.ssl_opts()))?;
        let may_be_untried = self.may_be_untried;
        Ok(Conversation { connection, executor, schema, deadline, may_be_untried })
    }

    fn run<T: Send>(call: impl FnOnce() -> T + Send) -> io::Result<T> {
        outside_of_a_runtime(call)
    }
}

/// What decides whether a commit lasts: settings, and the kind and the engine of each table, which
/// all its partitions have. The tables are those of this database, if they are there. Newer
/// servers show a temporary table beside the one that it hides. Before the tables, whether the
/// server is one to be written at all: `super_read_only` switches `read_only` on as well. What is
/// in a comment is asked of MySQL since 8.0.21 alone.
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
         @@log_bin AND @@sql_log_bin, @@sync_binlog, @@binlog_format, \
         COALESCE(/*!80021 (SELECT VARIABLE_VALUE FROM performance_schema.global_status \
         WHERE VARIABLE_NAME = 'Innodb_redo_log_enabled'), */ 'ON'), \
         CONCAT(VERSION(), ' ', @@version_comment), @@GLOBAL.read_only{kinds}"
    )
}

/// What is wrong with a server's answer to [`settings`], where each of the tables has a kind.
fn problem_of(settings: [String; 6], kinds: &[(&str, String)]) -> Option<String> {
    let [flushed, method, logged, synced, format, redo_log] = settings;
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
    if redo_log.eq_ignore_ascii_case("OFF") {
        return Some(
            "its redo log is off (Innodb_redo_log_enabled), so that a crash could take ids back \
             that have been given, or all tables; run ALTER INSTANCE ENABLE INNODB REDO_LOG"
                .to_owned(),
        );
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
    may_be_untried: bool,
}

impl Session for Conversation<'_> {
    fn begin(&mut self, access: Access) -> Result<(), Error> {
        self.try_begin(access).map_err(|error| match error {
            Error::Unreachable { .. } | Error::Locked | Error::Full(_) => error,
            // Another kind of server may not even know what is asked.
            error => self.other_kind().unwrap_or(error),
        })
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
    fn try_begin(&mut self, access: Access) -> Result<(), Error> {
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
        let setting = |column: usize| row.as_ref()?.get_opt::<String, _>(column)?.ok();
        let setting = |column| setting(column).unwrap_or_default();
        if let Some(error) = self.refuse_untried(&setting(6)) {
            return Err(error);
        }
        let kinds = self.schema.tables.iter().zip(8..).map(|(table, at)| (*table, setting(at)));
        let kinds: Vec<_> = kinds.collect();
        if let Some(problem) = problem_of([0, 1, 2, 3, 4, 5].map(setting), &kinds) {
            return Err(Error::problem(problem));
        }
        // The server refuses the writes of most users by itself, but not those of an administrator.
        // MariaDB 12 has words for it, and several for on.
        if access != Access::Read && !["0", "OFF"].contains(&setting(7).as_str()) {
            return Err(Error::Unreachable { problem: NO_WRITES.to_owned(), source: None });
        }
        Ok(())
    }

    /// The error of a server that is another than MySQL and MariaDB, by what it has `said` of
    /// itself.
    fn refuse_untried(&self, said: &str) -> Option<Error> {
        if self.may_be_untried { None } else { refusal::untried(said) }
    }

    /// The same of a server that has just failed.
    fn other_kind(&mut self) -> Option<Error> {
        let question = "SELECT CONCAT(VERSION(), ' ', @@version_comment)";
        let said = self.executor.wait(self.connection.query_first::<String, _>(question)).ok()?;
        self.refuse_untried(&said.ok()??)
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

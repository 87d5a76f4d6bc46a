//! PostgreSQL: the address, and how to connect.

mod diagnosis;
mod durability;
mod search_path;
mod session;
mod unsupported;

use std::io;
use std::path::Path;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, SslNegotiation};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::executor::{Executor, run_outside_runtime};
use super::{Database, Deadline, Dialect, Error, Schema, Session, now};
use crate::backend::address::database::{Form, NO_HOST, Parameters};
use crate::backend::address::password_file::{PASSFILE, PasswordFile};
use crate::backend::address::redaction::without_password;
use crate::backend::address::renewal::{Renewal, other_store};
use crate::backend::address::{ONLY_FOR_TESTS, warn_if_only_for_tests};
use crate::backend::tls::Tls;
use crate::sync::{Arc, AtomicBool};
use session::PostgresSession;

/// A PostgreSQL server.
#[derive(Clone, Debug)]
pub struct Postgres {
    name: String,
    config: Config,
    tls: Tls,
    password_file: Option<PasswordFile>,
    renewal: Renewal<Postgres>,
    /// Whether it may be a server on which nobody has tried this library.
    allows_unsupported: bool,
    /// Whether it may forget what it has committed.
    only_for_tests: bool,
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
        let allows_unsupported = parameters.take_flag("untried")?;
        let only_for_tests = parameters.take_flag(ONLY_FOR_TESTS)?;
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
        let name = without_password(&url);
        warn_if_only_for_tests(only_for_tests, &name);
        Ok(Postgres {
            name,
            config,
            tls,
            password_file: password_file.transpose()?,
            renewal: Renewal::default(),
            allows_unsupported,
            only_for_tests,
        })
    }

    /// Trusts the certificate authorities in the file `path`, in PEM, and no others.
    pub fn trust(&mut self, path: &Path) -> Result<(), Error> {
        self.tls.authority = Some(path.to_owned());
        self.tls.config().map(drop).map_err(Error::problem)
    }
}

/// Whether a line of libpq's file of passwords, as far as the password, is about this server.
fn matches_server(config: &Config, line: &[String]) -> bool {
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
        advisory_lock: Some(
            "SELECT pg_advisory_xact_lock('{table}'::REGCLASS::OID::INT, hashtext(?))",
        ),
        columns: "SELECT attname::TEXT FROM pg_attribute \
            WHERE attrelid = to_regclass(?::TEXT) AND attnum > 0 AND NOT attisdropped \
            AND has_column_privilege(attrelid, attnum, 'SELECT')",
        tables: "SELECT relname::TEXT FROM pg_class \
            WHERE relname IN ({names}) AND pg_table_is_visible(oid)",
    };
    const CREATES_TABLES: bool = true;
    const CREATES_ATOMICALLY: bool = true;

    fn name(&self) -> String {
        self.renewal.with_newest(self, |newest| newest.name.clone())
    }

    fn current(&self) -> Result<Postgres, Error> {
        let mut server = self.renewal.newest(self);
        if let Some(file) = &server.password_file {
            let password = file.read_line(|line| matches_server(&server.config, line))?;
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
                plain.map_err(|error| diagnosis::without_tls(error, &in_tls, &self.config))?
            }
            result => result.map_err(|error| diagnosis::connecting(error, &self.config))?,
        };
        let version =
            connection.parameter("crdb_version").or(connection.parameter("server_version"));
        if let Some(error) = version.and_then(unsupported::by_parameter)
            && !self.allows_unsupported
        {
            return Err(error);
        }
        let has_warned = Arc::new(AtomicBool::new(false));
        let connection = executor.spawn(session::drive(connection, Arc::clone(&has_warned)));
        let search_path = self.config.get_options().and_then(search_path::from_options);
        Ok(PostgresSession {
            client,
            connection,
            has_warned,
            executor,
            schema,
            deadline,
            search_path,
            allows_unsupported: self.allows_unsupported,
            only_for_tests: self.only_for_tests,
        })
    }

    fn run<T: Send>(call: impl FnOnce() -> T + Send) -> io::Result<T> {
        run_outside_runtime(call)
    }
}

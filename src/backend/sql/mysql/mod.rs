//! MySQL and MariaDB: the address, and how to connect.

mod diagnosis;
mod durability;
mod session;
mod unsupported;

use std::fmt;
use std::io;
use std::path::Path;

use mysql_async::{ClientIdentity, Conn, Opts, OptsBuilder, SslOpts};
use rustls::crypto::{self, CryptoProvider};

use super::executor::{Executor, run_outside_runtime};
use super::{Database, Deadline, Dialect, Error, Schema, Session, now};
use crate::backend::address::database::{Form, NO_HOST, Parameters};
use crate::backend::address::password_file::{PASSFILE, PasswordFile};
use crate::backend::address::redaction::without_password;
use crate::backend::address::renewal::{Renewal, other_store};
use crate::backend::address::{ONLY_FOR_TESTS, warn_if_only_for_tests};
use crate::backend::pem;
use crate::support::callbacks::catch_panic;
use session::MySqlSession;

/// A MySQL or MariaDB server.
#[derive(Clone)]
pub struct MySql {
    name: String,
    options: Opts,
    password_file: Option<PasswordFile>,
    renewal: Renewal<MySql>,
    /// Whether it may be a server on which nobody has tried this library.
    allows_unsupported: bool,
    /// Whether it may forget what it has committed.
    only_for_tests: bool,
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
        let allows_unsupported = parameters.take_flag("untried")?;
        let only_for_tests = parameters.take_flag(ONLY_FOR_TESTS)?;
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
            allows_unsupported,
            only_for_tests,
        };
        if let Some(path) = authority {
            pem::certificates(&path).map_err(Error::problem)?;
            server.trust(&path);
        }
        warn_if_only_for_tests(only_for_tests, &server.name);
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
        advisory_lock: None,
        columns: "SELECT COLUMN_NAME FROM information_schema.COLUMNS \
            WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?",
        tables: "SELECT TABLE_NAME FROM information_schema.TABLES \
            WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN ({names})",
    };
    const CREATES_TABLES: bool = true;
    const CREATES_ATOMICALLY: bool = false;

    fn name(&self) -> String {
        self.renewal.with_newest(self, |newest| newest.name.clone())
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
        let identity = |server: &MySql| {
            let options = &server.options;
            let host = options.ip_or_hostname().to_owned();
            (host, options.tcp_port(), options.db_name().map(str::to_owned))
        };
        if identity(&newer) != identity(self) {
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
        let connection = catch_panic(|| executor.wait(Conn::new(options)));
        let connection = connection.unwrap_or_else(|| Err(diagnosis::no_plugin()))?;
        let connection =
            connection.map_err(|error| diagnosis::connecting(error, self.options.ssl_opts()))?;
        let MySql { allows_unsupported, only_for_tests, .. } = *self;
        Ok(MySqlSession {
            connection,
            executor,
            schema,
            deadline,
            allows_unsupported,
            only_for_tests,
        })
    }

    fn run<T: Send>(call: impl FnOnce() -> T + Send) -> io::Result<T> {
        run_outside_runtime(call)
    }
}

//! Which registry: a file, or a server by its address.

use std::env;
use std::ffi::OsString;
use std::fmt;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{OsStringValueParser, TypedValueParser};
#[cfg(feature = "mysql")]
use uidring::registry::MySqlRegistry;
#[cfg(feature = "postgres")]
use uidring::registry::PostgresRegistry;
use uidring::registry::{RegistryAdmin, SqliteRegistry, Worker, WorkerRegistry};
use uidring::{Layout, RegistryError};

use crate::output::Failure;

/// The variable that may hold the address instead, so that no list of processes shows a password.
const VARIABLE: &str = "UIDRING_DB";

/// What `--db` says.
#[derive(Clone)]
pub(crate) enum Db {
    File(PathBuf),
    /// The address as it was given, with the password.
    Url(String),
}

/// `--db` of the commands that always use a registry.
#[derive(Debug, clap::Args)]
pub(crate) struct DbArg {
    /// The registry of worker ids: a SQLite file, or the address of a server, postgres://.. or
    /// mysql://..
    #[arg(
        long, value_name = "FILE|URL", default_value = "uidring.db", env = VARIABLE,
        hide_env_values = true, value_parser = parser()
    )]
    pub(crate) db: Db,
}

/// Accepts every text, because clap repeats what it refuses, including a password.
pub(crate) fn parser() -> impl TypedValueParser<Value = Db> {
    OsStringValueParser::new().map(Db::from)
}

impl From<OsString> for Db {
    fn from(text: OsString) -> Db {
        let lossy = text.to_string_lossy();
        // Keys and values are no address either, but they must not become a file name.
        if lossy.contains("://") || lossy.starts_with("host=") || lossy.contains("dbname=") {
            Db::Url(lossy.into_owned())
        } else {
            Db::File(text.into())
        }
    }
}

impl fmt::Display for Db {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Db::File(path) => path.display().fmt(f),
            Db::Url(url) if url.contains("://") => f.write_str(&without_password(url)),
            Db::Url(_) => f.write_str("(an address)"),
        }
    }
}

impl fmt::Debug for Db {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl Db {
    /// The registry that the environment names.
    pub(crate) fn of_environment() -> Option<Db> {
        env::var_os(VARIABLE).map(Db::from)
    }

    /// Whether it is a file that `open` would create.
    pub(crate) fn is_missing(&self) -> bool {
        matches!(self, Db::File(path) if !path.exists())
    }

    /// Opens the registry to take ids from it. A missing file is created; a server is not contacted
    /// yet.
    pub(crate) fn open(&self) -> Result<Registry, Failure> {
        match self {
            Db::File(path) => Ok(Registry::Sqlite(SqliteRegistry::open(path)?)),
            Db::Url(url) => server(url),
        }
    }

    /// Opens the registry to read it. A missing file is an error.
    pub(crate) fn open_existing(&self) -> Result<Registry, Failure> {
        match self {
            Db::File(path) => Ok(Registry::Sqlite(SqliteRegistry::open_existing(path)?)),
            Db::Url(url) => server(url),
        }
    }
}

fn server(url: &str) -> Result<Registry, Failure> {
    match url.split_once("://").map_or("", |(scheme, _)| scheme) {
        #[cfg(feature = "postgres")]
        "postgres" | "postgresql" => Ok(Registry::Postgres(Box::new(PostgresRegistry::open(url)?))),
        #[cfg(not(feature = "postgres"))]
        "postgres" | "postgresql" => Err(not_built_in(url, "PostgreSQL", "postgres")),
        #[cfg(feature = "mysql")]
        "mysql" => Ok(Registry::MySql(Box::new(MySqlRegistry::open(url)?))),
        #[cfg(not(feature = "mysql"))]
        "mysql" => Err(not_built_in(url, "MySQL and MariaDB", "mysql")),
        "" => Err(Failure::Failed(
            "a registry is a file, or an address that begins with postgres://, postgresql:// or \
             mysql://; write keys and values as such an address"
                .to_owned(),
        )),
        scheme => Err(Failure::Failed(format!(
            "a registry is a file, or an address that begins with postgres://, postgresql:// or \
             mysql://, and not with {scheme}://"
        ))),
    }
}

#[cfg(not(all(feature = "mysql", feature = "postgres")))]
fn not_built_in(url: &str, what: &str, feature: &str) -> Failure {
    Failure::Failed(format!(
        "cannot open the registry {}: this uidring was built without {what}; \
         build one with it, in a copy of its sources: \
         cargo install --path cli --features {feature}",
        without_password(url)
    ))
}

/// Any of the registries.
#[derive(Debug)]
pub(crate) enum Registry {
    Sqlite(SqliteRegistry),
    #[cfg(feature = "postgres")]
    Postgres(Box<PostgresRegistry>),
    #[cfg(feature = "mysql")]
    MySql(Box<MySqlRegistry>),
}

/// Makes the same call on whichever registry it is.
macro_rules! each {
    ($any:expr, $registry:ident => $call:expr) => {
        match $any {
            Registry::Sqlite($registry) => $call,
            #[cfg(feature = "postgres")]
            Registry::Postgres($registry) => $call,
            #[cfg(feature = "mysql")]
            Registry::MySql($registry) => $call,
        }
    };
}

impl Registry {
    pub(crate) fn leased(self, duration: Duration) -> Registry {
        match self {
            Registry::Sqlite(registry) => Registry::Sqlite(registry.leased(duration)),
            #[cfg(feature = "postgres")]
            Registry::Postgres(registry) => Registry::Postgres(Box::new(registry.leased(duration))),
            #[cfg(feature = "mysql")]
            Registry::MySql(registry) => Registry::MySql(Box::new(registry.leased(duration))),
        }
    }

    pub(crate) fn partition(self, index: u64, of: u64) -> Result<Registry, Failure> {
        match self {
            Registry::Sqlite(registry) => Ok(Registry::Sqlite(registry.partition(index, of)?)),
            #[cfg(any(feature = "mysql", feature = "postgres"))]
            _ => Err(Failure::Usage(
                "--partition is for machines that each have a file; machines that share a server \
                 do not need it"
                    .to_owned(),
            )),
        }
    }

    /// The registry for a generator.
    pub(crate) fn boxed(self) -> Box<dyn WorkerRegistry> {
        match self {
            Registry::Sqlite(registry) => Box::new(registry),
            #[cfg(feature = "postgres")]
            Registry::Postgres(registry) => registry,
            #[cfg(feature = "mysql")]
            Registry::MySql(registry) => registry,
        }
    }

    pub(crate) fn layout(&self) -> Result<Option<Layout>, RegistryError> {
        each!(self, registry => registry.layout())
    }

    pub(crate) fn workers(&self) -> Result<Vec<Worker>, RegistryError> {
        each!(self, registry => registry.workers())
    }

    pub(crate) fn largest_given(&self) -> Result<u64, RegistryError> {
        each!(self, registry => registry.largest_given())
    }

    pub(crate) fn take_back(&self, worker: u64) -> Result<(), RegistryError> {
        each!(self, registry => registry.take_back(worker))
    }

    /// All the ids that it can give.
    pub(crate) fn ids(&self, layout: &Layout) -> Result<RangeInclusive<u64>, RegistryError> {
        let partition = match self {
            Registry::Sqlite(registry) => registry.ids()?,
            #[cfg(any(feature = "mysql", feature = "postgres"))]
            _ => None,
        };
        Ok(partition.unwrap_or(1..=layout.max_worker()))
    }
}

/// An address, or a text that ends with one, without what must not be shown: the password and the
/// parameters, which may hold one. The user stays.
fn without_password(url: &str) -> String {
    let (start, hidden) = url.split_at(url.find(['?', '#']).unwrap_or(url.len()));
    let Some((scheme, rest)) = start.split_once("://") else { return url.to_owned() };
    match rest.rsplit_once('@') {
        Some((user, host)) => {
            format!("{scheme}://{}@{host}", user.split(':').next().unwrap_or(user))
        }
        // This may be no port with parameters, but a password that contains `?` or `#`.
        None if hidden.contains('@') && rest.contains(':') => format!("{scheme}://(an address)"),
        None => format!("{scheme}://{rest}"),
    }
}

/// `text` with [`without_password`] applied to each address in it.
pub(crate) fn without_passwords(text: &str) -> String {
    let word = |word: &str| {
        if !word.contains("://") {
            return word.to_owned();
        }
        let end = word
            .trim_end_matches(|character: char| character.is_whitespace() || character == '\'')
            .len();
        without_password(&word[..end]) + &word[end..]
    };
    text.split_inclusive(char::is_whitespace).map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::{Db, Failure, OsString, without_passwords};

    #[test]
    fn a_name_without_a_scheme_is_a_file() {
        for file in
            ["uidring.db", "/var/lib/uidring.db", "postgres", "mysql:/x", "c:\\uidring.db", ""]
        {
            assert!(
                matches!(
                    Db::from(OsString::from(file)),
                    Db::File(path) if path.as_os_str() == file
                ),
                "{file}"
            );
        }
        assert!(matches!(Db::from(OsString::from("postgres://me:secret@db/ids")), Db::Url(_)));
    }

    #[test]
    fn keys_and_values_make_no_file() {
        for keys in ["host=db dbname=ids password=secret", "password=secret dbname=ids"] {
            let db = Db::from(OsString::from(keys));
            assert!(matches!(db, Db::Url(_)), "{keys}");
            assert_eq!(db.to_string(), "(an address)");
            let problem = match db.open() {
                Err(Failure::Failed(problem)) => problem,
                _ => "none".to_owned(),
            };
            assert!(problem.contains("write keys and values as such an address"), "{problem}");
            assert!(!problem.contains("secret"), "{problem}");
        }
    }

    #[test]
    fn passwords_are_not_shown() {
        for (url, shown) in [
            ("postgres://me:secret@db:5432/ids?sslmode=require", "postgres://me@db:5432/ids"),
            ("mysql://me:se@cret@db/ids", "mysql://me@db/ids"),
            ("mysql://me:sec?ret@db/ids", "mysql://(an address)"),
            ("mysql://me:sec#ret@db/ids", "mysql://(an address)"),
            ("mysql://me:sec/ret@db/ids", "mysql://me@db/ids"),
            ("postgres://db/ids?password=secret", "postgres://db/ids"),
        ] {
            let db = Db::from(OsString::from(url));
            assert_eq!((db.to_string().as_str(), format!("{db:?}").as_str()), (shown, shown));
            let sentence = format!("unexpected argument '--bd={url}' found\n\nUsage: uidring");
            assert_eq!(without_passwords(&sentence), sentence.replace(url, shown));
        }
    }
}

//! Opens the registry or the tags that `--db` names.

use std::env;
use std::path::{self, Path};

#[cfg(feature = "mysql")]
use uidring::registry::MySqlRegistry;
#[cfg(feature = "postgres")]
use uidring::registry::PostgresRegistry;
use uidring::registry::{RegistryAdmin, SqliteRegistry, without_password};
#[cfg(feature = "mysql")]
use uidring::segment::MySqlSegments;
#[cfg(feature = "postgres")]
use uidring::segment::PostgresSegments;
use uidring::segment::{SegmentAdmin, SqliteSegments};
use uidring_args::{Db, Table, Terms};

use crate::text::{Failure, complain};

/// The variable that may hold the address instead, so that no list of processes shows a password.
pub(crate) const VARIABLE: &str = "UIDRING_DB";

/// `--db` of the commands that always use a registry.
#[derive(Debug, clap::Args)]
pub(crate) struct DbArg {
    /// The registry of worker ids and tags: a SQLite file, or the address of a server,
    /// postgres://.. or mysql://.. [default: one file for each user and machine,
    /// uidring/uidring.db in the user's state folder]
    ///
    /// If a server's certificate is from an authority of your own, its address names that
    /// authority's: by sslrootcert=FILE for PostgreSQL, by ssl-ca=FILE for MySQL.
    #[arg(
        long, value_name = "FILE|URL", env = VARIABLE, hide_env_values = true,
        value_parser = Db::parser()
    )]
    db: Option<Db>,
}

impl DbArg {
    pub(crate) fn db(&self) -> Result<Db, Failure> {
        match &self.db {
            Some(db) => Ok(db.clone()),
            None => Db::own().map_err(Failure::Failed),
        }
    }
}

/// `registry`, which gives ids on these `terms`. A macro, because the registries share no trait
/// that has these methods.
macro_rules! boxed {
    ($registry:expr, $terms:expr) => {{
        let (mut registry, Terms { lease, partition, worker_ids, .. }) = ($registry, $terms);
        if let Some(duration) = lease {
            registry = registry.leased(*duration);
        }
        if let Some((index, of)) = partition {
            registry = registry.partition(*index, *of)?;
        }
        if let Some(ids) = worker_ids {
            registry = registry.worker_ids(ids.clone())?;
        }
        Box::new(registry) as Box<dyn RegistryAdmin>
    }};
}

/// `source`, on this `table`. A macro, as the sources share no trait that has these methods.
macro_rules! on_table {
    ($source:expr, $table:expr) => {{
        let (source, table) = ($source, $table);
        let tags: Box<dyn SegmentAdmin> = match table {
            Table::Own => Box::new(source),
            Table::Leaf => Box::new(source.leaf()),
            Table::TinyId => Box::new(source.tinyid()),
        };
        tags
    }};
}

/// The registry that the environment names.
pub(crate) fn of_environment() -> Option<Db> {
    env::var_os(VARIABLE).map(Db::from)
}

/// The words of a command line that name `db`; none where it is used without them.
pub(crate) fn option(db: &Db) -> Vec<String> {
    let is_own = matches!(db, Db::Own(_));
    let is_named = of_environment().is_some_and(|named| named.to_string() == db.to_string());
    let name = db.to_string();
    if is_own || is_named {
        Vec::new()
    } else if name.starts_with('-') {
        vec![format!("--db={name}")]
    } else {
        vec!["--db".to_owned(), name]
    }
}

/// Opens the registry to take ids from it. A missing file is created, which is reported; a server
/// is not contacted yet.
pub(crate) fn open(db: &Db, terms: &Terms) -> Result<Box<dyn RegistryAdmin>, Failure> {
    if terms.uid_generator {
        return of_uid_generator(db);
    }
    match db {
        Db::Own(path) | Db::File(path) => {
            let registry = created(db, || Ok(SqliteRegistry::open(path)?))?;
            Ok(boxed!(registry, terms))
        }
        Db::Url(url) => server(url, terms),
    }
}

/// Opens the table of `UidGenerator`.
fn of_uid_generator(db: &Db) -> Result<Box<dyn RegistryAdmin>, Failure> {
    #[cfg(feature = "mysql")]
    if let Db::Url(url) = db
        && matches!(Kind::of(url)?, Kind::MySql)
    {
        return Ok(Box::new(MySqlRegistry::open(url)?.uid_generator()));
    }
    #[cfg(not(feature = "mysql"))]
    if let Db::Url(url) = db {
        Kind::of(url)?;
    }
    Err(Failure::Usage(format!(
        "--uid-generator is about the table WORKER_NODE on a MySQL or MariaDB server, and not \
         about {db}: name the server with --db mysql://.."
    )))
}

/// Opens the registry to read it, or the table of `uid_generator`. A missing file is an error.
pub(crate) fn open_existing(
    db: &Db,
    uid_generator: bool,
) -> Result<Box<dyn RegistryAdmin>, Failure> {
    if uid_generator {
        return of_uid_generator(db);
    }
    match db {
        Db::Own(path) if db.is_missing() => Err(not_yet(path, "uidring take")),
        Db::Own(path) | Db::File(path) => Ok(Box::new(SqliteRegistry::open_existing(path)?)),
        Db::Url(url) => server(url, &Terms::default()),
    }
}

/// Opens the tags to change them. A missing file is created for tags of its own, which is reported;
/// a server is not contacted yet.
pub(crate) fn tags(db: &Db, table: Table) -> Result<Box<dyn SegmentAdmin>, Failure> {
    match db {
        Db::Own(path) | Db::File(path) if table == Table::Own => {
            Ok(Box::new(created(db, || Ok(SqliteSegments::open(path)?))?))
        }
        _ => existing_tags(db, table),
    }
}

/// Opens the tags that are there. A missing file is an error.
pub(crate) fn existing_tags(db: &Db, table: Table) -> Result<Box<dyn SegmentAdmin>, Failure> {
    match db {
        Db::Own(path) if db.is_missing() => Err(not_yet(path, "uidring tags create")),
        Db::Own(path) | Db::File(path) => {
            Ok(on_table!(SqliteSegments::open_existing(path)?, table))
        }
        Db::Url(url) => tags_on_server(url, table),
    }
}

/// What `open` makes of the file `db`. If it creates the file, that is reported.
fn created<T>(db: &Db, open: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    let missing = db.path().filter(|path| !path.exists());
    db.create_folder().map_err(Failure::Failed)?;
    let opened = open()?;
    if let Some(path) = missing {
        let path = path::absolute(path).unwrap_or_else(|_| path.to_owned());
        complain(&format!("created the registry {}", path.display()));
    }
    Ok(opened)
}

/// The user's own file `path` is not there until `command` creates it.
fn not_yet(path: &Path, command: &str) -> Failure {
    Failure::Failed(format!(
        "this user has no registry yet: {} is created by `{command}`; or name another one with \
         --db",
        path.display()
    ))
}

#[cfg_attr(not(any(feature = "mysql", feature = "postgres")), allow(unused_variables))]
fn server(url: &str, terms: &Terms) -> Result<Box<dyn RegistryAdmin>, Failure> {
    match Kind::of(url)? {
        #[cfg(feature = "postgres")]
        Kind::Postgres => Ok(boxed!(PostgresRegistry::open(url)?, terms)),
        #[cfg(feature = "mysql")]
        Kind::MySql => Ok(boxed!(MySqlRegistry::open(url)?, terms)),
    }
}

#[cfg_attr(not(any(feature = "mysql", feature = "postgres")), allow(unused_variables))]
fn tags_on_server(url: &str, table: Table) -> Result<Box<dyn SegmentAdmin>, Failure> {
    match Kind::of(url)? {
        #[cfg(feature = "postgres")]
        Kind::Postgres => Ok(on_table!(PostgresSegments::open(url)?, table)),
        #[cfg(feature = "mysql")]
        Kind::MySql => Ok(on_table!(MySqlSegments::open(url)?, table)),
    }
}

/// A kind of server that is built in.
enum Kind {
    #[cfg(feature = "postgres")]
    Postgres,
    #[cfg(feature = "mysql")]
    MySql,
}

impl Kind {
    fn of(url: &str) -> Result<Kind, Failure> {
        // What stands before "://" may be a part of a password, which this hides.
        match without_password(url).split_once("://").map_or("", |(scheme, _)| scheme) {
            #[cfg(feature = "postgres")]
            "postgres" | "postgresql" => Ok(Kind::Postgres),
            #[cfg(not(feature = "postgres"))]
            "postgres" | "postgresql" => Err(not_built_in(url, "PostgreSQL", "postgres")),
            #[cfg(feature = "mysql")]
            "mysql" => Ok(Kind::MySql),
            #[cfg(not(feature = "mysql"))]
            "mysql" => Err(not_built_in(url, "MySQL and MariaDB", "mysql")),
            "" => Err(Failure::Failed(
                "a registry is a file, or an address that begins with postgres://, postgresql:// \
                 or mysql://; write keys and values as such an address, and begin the path of a \
                 file that looks like one with ./"
                    .to_owned(),
            )),
            scheme => Err(Failure::Failed(format!(
                "a registry is a file, or an address that begins with postgres://, postgresql:// \
                 or mysql://, and not with {scheme}://"
            ))),
        }
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

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::{Db, Failure, open_existing};

    #[test]
    fn keys_and_values_are_refused_without_the_password() {
        for keys in [
            "host=db dbname=ids password=secret",
            "password=secret dbname=ids",
            "host=db password=secret://x",
            "user = me password=secret",
            "file:secret.db",
        ] {
            let db = Db::from(OsString::from(keys));
            let problem = match open_existing(&db, false) {
                Err(Failure::Failed(problem)) => problem,
                _ => "none".to_owned(),
            };
            assert!(problem.contains("write keys and values as such an address"), "{problem}");
            assert!(!problem.contains("secret"), "{problem}");
        }
    }
}

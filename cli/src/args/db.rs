//! Opens the registry or the tags that `--db` names.

use std::path::{self, Path};

use uidring::series::Series;
use uidring::store::{StoreRegistry, StoreSegments};
use uidring::{RegistryOptions, Store};
use uidring_args::{Db, RegistryConfig, Table};

use crate::text::{Failure, print_error};

/// An environment variable for the address, so that no process list shows its password.
pub(crate) const VARIABLE: &str = "UIDRING_DB";

/// `--db` of the commands that always use a registry.
#[derive(Debug, clap::Args)]
pub(crate) struct DbArg {
    /// The registry of worker ids, tags and series: a SQLite file, or the address of a server,
    /// postgres://.., mysql://.., etcd://.., zookeeper://.. or redis://.. [default: one file for
    /// each user and machine, uidring/uidring.db in the user's state folder]
    ///
    /// A file on a network file system, whose locks need not hold, is named by
    /// `sqlite:FILE?network_file_system=yes`.
    ///
    /// If a server's certificate is from an authority of your own, its address names that
    /// authority's: by sslrootcert=FILE for PostgreSQL, by ssl-ca=FILE for MySQL, by ca=FILE for
    /// the others. A certificate of your own is sslcert=FILE&sslkey=FILE,
    /// ssl-cert=FILE&ssl-key=FILE or cert=FILE&key=FILE.
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
            // Clap knows the variable in one spelling alone.
            None => of_environment().map_or_else(Db::of_user, Ok).map_err(Failure::Failed),
        }
    }
}

/// The registry that the environment names.
pub(crate) fn of_environment() -> Option<Db> {
    uidring_args::variable(VARIABLE).map(Db::from)
}

/// The arguments that select `db`. Empty for the default.
pub(crate) fn option(db: &Db) -> Vec<String> {
    let is_own = matches!(db, Db::Own(_));
    let is_named = of_environment().is_some_and(|named| named.to_string() == db.to_string());
    let name = db.value();
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
pub(crate) fn open(db: &Db, config: &RegistryConfig) -> Result<StoreRegistry, Failure> {
    if config.uid_generator {
        return of_uid_generator(db);
    }
    created(db, |store| Ok(store.registry_with(RegistryOptions::from(config))?))
}

/// Opens the table of `UidGenerator`.
fn of_uid_generator(db: &Db) -> Result<StoreRegistry, Failure> {
    let store = db.store()?;
    if store.scheme() != "mysql" {
        return Err(Failure::Usage(format!(
            "--uid-generator is about the table WORKER_NODE on a MySQL or MariaDB server, and not \
             about {db}: name the server with --db mysql://.."
        )));
    }
    Ok(store.registry_with(RegistryOptions::new().uid_generator())?)
}

/// Opens the registry to read it, or the table of `uid_generator`. A missing file is an error.
pub(crate) fn open_existing(db: &Db, uid_generator: bool) -> Result<StoreRegistry, Failure> {
    if uid_generator {
        return of_uid_generator(db);
    }
    Ok(existing(db, "uidring take")?.registry()?)
}

/// Opens the tags to change them. A missing file is created for tags of its own, which is reported;
/// a server is not contacted yet.
pub(crate) fn tags(db: &Db, table: Table) -> Result<StoreSegments, Failure> {
    match table {
        Table::Own => created(db, |store| Ok(store.segments()?)),
        Table::Leaf | Table::TinyId | Table::CosId => existing_tags(db, table),
    }
}

/// Opens the tags that are there. A missing file is an error.
pub(crate) fn existing_tags(db: &Db, table: Table) -> Result<StoreSegments, Failure> {
    if table == Table::CosId && db.store()?.scheme() != "redis" {
        return Err(Failure::Usage(format!(
            "--table cosid is about CosId's counters in Redis, and not about {db}: name the server \
             with --db redis://.."
        )));
    }
    Ok(existing(db, "uidring tags create")?.segments_in(table.into())?)
}

/// Opens the series to create one. A missing file is created, which is reported; a server is not
/// contacted yet.
pub(crate) fn series(db: &Db) -> Result<Series, Failure> {
    created(db, |store| Ok(Series::builder().store(store).build()?))
}

/// Opens the store to lend worker ids from it. A missing file is created, which is reported; a
/// server is not contacted yet.
#[cfg(unix)]
pub(crate) fn lending(db: &Db) -> Result<Store, Failure> {
    created(db, |store| Ok(store.clone()))
}

/// Opens the store to read which worker ids of pools are lent. A missing file is an error.
pub(crate) fn lent(db: &Db) -> Result<Store, Failure> {
    existing(db, "uidring workers lend")
}

/// Opens the series that are there. A missing file is an error.
pub(crate) fn existing_series(db: &Db) -> Result<Series, Failure> {
    let store = existing(db, "uidring series create")?;
    Ok(Series::builder().store(&store).build()?)
}

/// Opens the store `db` with `open`. Reports it if that creates the file.
fn created<T>(db: &Db, open: impl FnOnce(&Store) -> Result<T, Failure>) -> Result<T, Failure> {
    let store = db.store()?;
    let missing = db.path().filter(|path| !path.exists());
    db.create_folder().map_err(Failure::Failed)?;
    let opened = open(&store)?;
    if let Some(path) = missing {
        let path = path::absolute(path).unwrap_or_else(|_| path.to_owned());
        print_error(&format!("created the registry {}", path.display()));
    }
    Ok(opened)
}

/// The store `db`, whose file must exist. `command` is what creates the default file.
fn existing(db: &Db, command: &str) -> Result<Store, Failure> {
    match db {
        Db::Own(path) if db.is_missing() => Err(not_yet(path, command)),
        _ => Ok(db.existing_store()?),
    }
}

/// The error when the default file `path` does not exist. `command` creates it.
fn not_yet(path: &Path, command: &str) -> Failure {
    Failure::Failed(format!(
        "this user has no registry yet: {} is created by `{command}`; or name another one with \
         --db",
        path.display()
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

//! Opens the registry and the tags that the options name.

use std::fs::File;
use std::path::Path;

#[cfg(feature = "mysql")]
use uidring::registry::MySqlRegistry;
#[cfg(feature = "postgres")]
use uidring::registry::PostgresRegistry;
use uidring::registry::{RegistryAdmin, SqliteRegistry, without_password};
#[cfg(feature = "mysql")]
use uidring::segment::MySqlSegments;
#[cfg(feature = "postgres")]
use uidring::segment::PostgresSegments;
use uidring::segment::{SegmentError, SegmentSource, SqliteSegments, TinyIdToken};
use uidring::{BuildError, Layout, RegistryError};
use uidring_args::{BesideUidGenerator, Db, Table, Terms, with_causes};

use crate::stats::trouble::Cause;

/// Why the database cannot be used.
#[derive(Debug)]
pub(crate) struct Unusable {
    pub(crate) cause: Cause,
    /// Whether it may be usable in a moment.
    pub(crate) is_transient: bool,
    pub(crate) problem: String,
}

impl Unusable {
    /// For good.
    fn as_it_is(problem: String) -> Unusable {
        Unusable { cause: Cause::Unusable, is_transient: false, problem }
    }

    /// For a moment.
    pub(crate) fn for_now(problem: String) -> Unusable {
        Unusable { cause: Cause::Away, is_transient: true, problem }
    }
}

const BESIDE_UID_GENERATOR: BesideUidGenerator = BesideUidGenerator {
    worker_ids: "--worker-ids or --partition, and for Leaf's snowflakes with --leaf-worker-ids",
    db: "--db or --leaf-db",
};

impl From<RegistryError> for Unusable {
    fn from(error: RegistryError) -> Unusable {
        let cause = Cause::of_registry(&error);
        let problem = BESIDE_UID_GENERATOR.told(&error);
        Unusable { cause, is_transient: error.is_transient(), problem }
    }
}

impl From<SegmentError> for Unusable {
    fn from(error: SegmentError) -> Unusable {
        let cause = Cause::of(&error);
        Unusable { cause, is_transient: error.is_transient(), problem: with_causes(&error) }
    }
}

impl From<BuildError> for Unusable {
    fn from(error: BuildError) -> Unusable {
        let (cause, is_transient) = match error {
            BuildError::Registry(error) => return error.into(),
            BuildError::StartDeadline { ref last, .. } => (Cause::of_registry(last), true),
            BuildError::Spawn(_) => (Cause::Unusable, true),
            _ => (Cause::Unusable, false),
        };
        Unusable { cause, is_transient, problem: with_causes(&error) }
    }
}

/// `registry`, which gives ids on these `terms`. A macro, because the registries share no trait
/// that has these methods.
macro_rules! on_terms {
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

/// `source`, on the table `table`. A macro, as the sources share no trait that has these methods.
macro_rules! on_table {
    ($source:expr, $table:expr) => {{
        let source = $source;
        let source: Box<dyn SegmentSource> = match $table {
            Table::Own => Box::new(source),
            Table::Leaf => Box::new(source.leaf()),
            Table::TinyId => Box::new(source.tinyid()),
        };
        source
    }};
}

/// Checks an address, without contacting the server.
pub(crate) fn check(db: &Db) -> Result<(), String> {
    match db {
        Db::Own(_) | Db::File(_) => Ok(()),
        Db::Url(url) => {
            let registry = registry_on_server(url, &Terms::default());
            registry.map(drop).map_err(|unusable| unusable.problem)
        }
    }
}

/// Whether it is a server of MySQL or MariaDB.
pub(crate) fn is_mysql(db: &Db) -> bool {
    match db {
        Db::Own(_) | Db::File(_) => false,
        #[cfg(feature = "mysql")]
        Db::Url(url) => matches!(Kind::of(url), Ok(Kind::MySql)),
        #[cfg(not(feature = "mysql"))]
        Db::Url(_) => false,
    }
}

/// Opens the registry of worker ids. A missing file is created; a server is not contacted yet.
pub(crate) fn registry(db: &Db, terms: &Terms) -> Result<Box<dyn RegistryAdmin>, Unusable> {
    match db {
        Db::Own(path) | Db::File(path) => {
            create_folder(db)?;
            Ok(on_terms!(SqliteRegistry::open(path)?, terms))
        }
        Db::Url(url) => registry_on_server(url, terms),
    }
}

/// Opens the source of dense numbers, in the same way.
pub(crate) fn source(db: &Db, table: Table) -> Result<Box<dyn SegmentSource>, Unusable> {
    match db {
        Db::Own(path) | Db::File(path) => {
            create_folder(db)?;
            Ok(on_table!(SqliteSegments::open(path)?, table))
        }
        Db::Url(url) => source_on_server(url, table),
    }
}

/// Looks whether a start with this database would succeed, and makes nothing: where `layout` is
/// none, that of the registry counts.
pub(crate) fn try_out(db: &Db, terms: &Terms, layout: Option<Layout>) -> Result<(), Unusable> {
    let registry = match db {
        Db::Own(path) | Db::File(path) if !path.exists() => return try_out_folder(db, path),
        Db::Own(path) | Db::File(path) => {
            on_terms!(SqliteRegistry::open_existing(path)?, terms)
        }
        Db::Url(url) => registry_on_server(url, terms)?,
    };
    let layout = match layout {
        Some(layout) => layout,
        None => registry.layout()?.unwrap_or_default(),
    };
    Ok(registry.try_out(&layout)?)
}

/// The same for the source of dense numbers.
pub(crate) fn try_out_tags(db: &Db, table: Table) -> Result<(), Unusable> {
    match db {
        Db::Own(path) | Db::File(path) if !path.exists() => match table {
            Table::Own => try_out_folder(db, path),
            Table::Leaf | Table::TinyId => Err(Unusable::as_it_is(format!(
                "{} does not exist, and so has no table {}",
                path.display(),
                table.name()
            ))),
        },
        Db::Own(_) | Db::File(_) | Db::Url(_) => {
            source(db, table)?.tags()?;
            Ok(())
        }
    }
}

/// Whether the file could be made.
fn try_out_folder(db: &Db, path: &Path) -> Result<(), Unusable> {
    let wrong = |problem: String| Err(Unusable::as_it_is(problem));
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let mut folder = parent.unwrap_or(Path::new("."));
    if let Db::Own(_) = db {
        // It is made with those above it.
        while let Some(above) = folder.parent().filter(|_| !folder.exists()) {
            folder = above;
        }
    }
    if !folder.is_dir() {
        return wrong(format!("the folder {} does not exist; make it first", folder.display()));
    }
    let probe = folder.join(format!(".uidring-server-check-{}", std::process::id()));
    let made = File::create_new(&probe).map(drop);
    let removed = std::fs::remove_file(&probe);
    match made.and(removed) {
        Ok(()) => Ok(()),
        Err(error) => wrong(format!(
            "the folder {} cannot be written: {error}; give this user the right to write to it",
            folder.display()
        )),
    }
}

/// Reads tinyid's pairs of token and tag.
pub(crate) fn tokens(db: &Db) -> Result<Vec<TinyIdToken>, Unusable> {
    let tokens = match db {
        Db::Own(path) | Db::File(path) => SqliteSegments::open(path)?.tinyid().tokens()?,
        Db::Url(url) => tokens_on_server(url)?,
    };
    Ok(tokens)
}

/// The file beside, for another layout.
pub(crate) fn beside(db: &Db, extension: &str) -> Option<Db> {
    match db {
        Db::Own(path) => Some(Db::Own(path.with_extension(extension))),
        Db::File(path) => Some(Db::File(path.with_extension(extension))),
        Db::Url(_) => None,
    }
}

fn create_folder(db: &Db) -> Result<(), Unusable> {
    db.create_folder().map_err(Unusable::as_it_is)
}

#[cfg_attr(not(any(feature = "mysql", feature = "postgres")), allow(unused_variables))]
fn registry_on_server(url: &str, terms: &Terms) -> Result<Box<dyn RegistryAdmin>, Unusable> {
    match Kind::of(url)? {
        #[cfg(feature = "mysql")]
        Kind::MySql if terms.uid_generator => {
            Ok(Box::new(MySqlRegistry::open(url)?.uid_generator()))
        }
        #[cfg(feature = "mysql")]
        Kind::MySql => Ok(on_terms!(MySqlRegistry::open(url)?, terms)),
        #[cfg(feature = "postgres")]
        Kind::Postgres => Ok(on_terms!(PostgresRegistry::open(url)?, terms)),
    }
}

#[cfg_attr(not(any(feature = "mysql", feature = "postgres")), allow(unused_variables))]
fn source_on_server(url: &str, table: Table) -> Result<Box<dyn SegmentSource>, Unusable> {
    match Kind::of(url)? {
        #[cfg(feature = "postgres")]
        Kind::Postgres => Ok(on_table!(PostgresSegments::open(url)?, table)),
        #[cfg(feature = "mysql")]
        Kind::MySql => Ok(on_table!(MySqlSegments::open(url)?, table)),
    }
}

#[cfg_attr(not(any(feature = "mysql", feature = "postgres")), allow(unused_variables))]
fn tokens_on_server(url: &str) -> Result<Vec<TinyIdToken>, Unusable> {
    match Kind::of(url)? {
        #[cfg(feature = "postgres")]
        Kind::Postgres => Ok(PostgresSegments::open(url)?.tinyid().tokens()?),
        #[cfg(feature = "mysql")]
        Kind::MySql => Ok(MySqlSegments::open(url)?.tinyid().tokens()?),
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
    fn of(url: &str) -> Result<Kind, Unusable> {
        let wrong = |problem: String| Err(Unusable::as_it_is(problem));
        // What stands before "://" may be a part of a password, which this hides.
        match without_password(url).split_once("://").map_or("", |(scheme, _)| scheme) {
            #[cfg(feature = "postgres")]
            "postgres" | "postgresql" => Ok(Kind::Postgres),
            #[cfg(feature = "mysql")]
            "mysql" => Ok(Kind::MySql),
            scheme if ["postgres", "postgresql", "mysql"].contains(&scheme) => wrong(format!(
                "this uidring-server was built without the feature for {scheme}:// addresses"
            )),
            _ => wrong(
                "a registry is a file, or an address that begins with postgres://, postgresql:// \
                 or mysql://; begin the path of a file that looks like one with ./"
                    .to_owned(),
            ),
        }
    }
}

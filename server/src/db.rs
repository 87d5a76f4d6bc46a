//! Which registry and which tags: the user's own file, another file, or a server by its address.

use std::ffi::OsString;
use std::fmt;
use std::fs::{DirBuilder, File};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::builder::{OsStringValueParser, TypedValueParser};
use etcetera::base_strategy::{BaseStrategy, choose_native_strategy};
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
use uidring_args::{BesideUidGenerator, with_causes};

use crate::stats::trouble::Cause;

/// A registry, as the option names it.
#[derive(Clone)]
pub(crate) enum Db {
    /// The one that this user has on this machine. Its folder is created with it.
    Own(PathBuf),
    File(PathBuf),
    /// The address as it was given, with the password.
    Url(String),
}

/// The table that dense numbers come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Table {
    /// `uidring_segment`, uidring's own
    Own,
    /// `leaf_alloc`, of Meituan's Leaf
    Leaf,
    /// `tiny_id_info`, of tinyid
    #[value(name = "tinyid")]
    TinyId,
}

impl Table {
    /// As the database has it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Table::Own => "uidring_segment",
            Table::Leaf => "leaf_alloc",
            Table::TinyId => "tiny_id_info",
        }
    }
}

/// How the registry gives worker ids.
#[derive(Clone, Debug, Default)]
pub(crate) struct Terms {
    pub(crate) lease: Option<Duration>,
    /// The part with this index among so many.
    pub(crate) partition: Option<(u64, u64)>,
    pub(crate) worker_ids: Option<RangeInclusive<u64>>,
    /// From the table of `UidGenerator`, and not on any of the terms above.
    #[cfg_attr(not(feature = "mysql"), allow(dead_code))] // the options have refused it
    pub(crate) uid_generator: bool,
}

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

/// Accepts every text, because clap repeats what it refuses, including a password.
pub(crate) fn parser() -> impl TypedValueParser<Value = Db> {
    OsStringValueParser::new().map(Db::from)
}

impl From<OsString> for Db {
    fn from(text: OsString) -> Db {
        let lossy = text.to_string_lossy();
        if is_path(&lossy) { Db::File(text.into()) } else { Db::Url(lossy.into_owned()) }
    }
}

/// Whether `text` can only be meant as a path. What begins as an address or as keys and values do
/// must not become the name of a file, which would show the password in it.
fn is_path(text: &str) -> bool {
    let is_word = |character: char| character.is_ascii_alphanumeric() || "_+-.".contains(character);
    let word = text.len() - text.trim_start_matches(is_word).len();
    match text[word..].trim_start().chars().next() {
        Some('=') => word == 0,
        // A single letter is a drive of Windows.
        Some(':') => word < 2,
        _ => !text.contains("://") && !text.contains("dbname="),
    }
}

impl fmt::Display for Db {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Db::Own(path) | Db::File(path) => path.display().fmt(f),
            Db::Url(url) => f.write_str(&without_password(url)),
        }
    }
}

impl fmt::Debug for Db {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
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

impl Db {
    pub(crate) fn own() -> Result<Db, String> {
        let folders = choose_native_strategy()
            .map_err(|_| "this user has no home folder for a registry; name one".to_owned())?;
        let folder = folders.state_dir().unwrap_or_else(|| {
            // Windows copies the folder for data to the user's other machines. The other one is the
            // local folder.
            if cfg!(windows) { folders.cache_dir() } else { folders.data_dir() }
        });
        Ok(Db::Own(folder.join("uidring").join("uidring.db")))
    }

    /// Checks an address, without contacting the server.
    pub(crate) fn check(&self) -> Result<(), String> {
        match self {
            Db::Own(_) | Db::File(_) => Ok(()),
            Db::Url(url) => {
                let registry = registry_on_server(url, &Terms::default());
                registry.map(drop).map_err(|unusable| unusable.problem)
            }
        }
    }

    /// Whether it is a server of MySQL or MariaDB.
    pub(crate) fn is_mysql(&self) -> bool {
        match self {
            Db::Own(_) | Db::File(_) => false,
            #[cfg(feature = "mysql")]
            Db::Url(url) => matches!(Kind::of(url), Ok(Kind::MySql)),
            #[cfg(not(feature = "mysql"))]
            Db::Url(_) => false,
        }
    }

    /// Opens the registry of worker ids. A missing file is created; a server is not contacted yet.
    pub(crate) fn registry(&self, terms: &Terms) -> Result<Box<dyn RegistryAdmin>, Unusable> {
        match self {
            Db::Own(path) | Db::File(path) => {
                self.create_folder(path)?;
                Ok(on_terms!(SqliteRegistry::open(path)?, terms))
            }
            Db::Url(url) => registry_on_server(url, terms),
        }
    }

    /// Opens the source of dense numbers, in the same way.
    pub(crate) fn source(&self, table: Table) -> Result<Box<dyn SegmentSource>, Unusable> {
        match self {
            Db::Own(path) | Db::File(path) => {
                self.create_folder(path)?;
                Ok(on_table!(SqliteSegments::open(path)?, table))
            }
            Db::Url(url) => source_on_server(url, table),
        }
    }

    /// Looks whether a start with this database would succeed, and makes nothing: where `layout` is
    /// none, that of the registry counts.
    pub(crate) fn try_out(&self, terms: &Terms, layout: Option<Layout>) -> Result<(), Unusable> {
        let registry = match self {
            Db::Own(path) | Db::File(path) if !path.exists() => return self.try_out_folder(path),
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
    pub(crate) fn try_out_tags(&self, table: Table) -> Result<(), Unusable> {
        match self {
            Db::Own(path) | Db::File(path) if !path.exists() => match table {
                Table::Own => self.try_out_folder(path),
                Table::Leaf | Table::TinyId => Err(Unusable::as_it_is(format!(
                    "{} does not exist, and so has no table {}",
                    path.display(),
                    table.name()
                ))),
            },
            Db::Own(_) | Db::File(_) | Db::Url(_) => {
                self.source(table)?.tags()?;
                Ok(())
            }
        }
    }

    /// Whether the file could be made.
    fn try_out_folder(&self, path: &Path) -> Result<(), Unusable> {
        let wrong = |problem: String| Err(Unusable::as_it_is(problem));
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let mut folder = parent.unwrap_or(Path::new("."));
        if let Db::Own(_) = self {
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
    pub(crate) fn tokens(&self) -> Result<Vec<TinyIdToken>, Unusable> {
        let tokens = match self {
            Db::Own(path) | Db::File(path) => SqliteSegments::open(path)?.tinyid().tokens()?,
            Db::Url(url) => tokens_on_server(url)?,
        };
        Ok(tokens)
    }

    /// The file beside, for another layout.
    pub(crate) fn beside(&self, extension: &str) -> Option<Db> {
        match self {
            Db::Own(path) => Some(Db::Own(path.with_extension(extension))),
            Db::File(path) => Some(Db::File(path.with_extension(extension))),
            Db::Url(_) => None,
        }
    }

    /// Creates the folder of the user's own registry, for this user alone.
    fn create_folder(&self, path: &Path) -> Result<(), Unusable> {
        let (Db::Own(_), Some(folder)) = (self, path.parent()) else { return Ok(()) };
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.recursive(true).create(folder).map_err(|error| {
            Unusable::as_it_is(format!("cannot create the folder {}: {error}", folder.display()))
        })
    }
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

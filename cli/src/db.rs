//! Which registry, and which tags: the user's own, another file, or a server by its address.

use std::env;
use std::ffi::OsString;
use std::fmt;
use std::fs::DirBuilder;
use std::io;
use std::ops::RangeInclusive;
use std::path::{self, Path, PathBuf};
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
use uidring::segment::{SegmentAdmin, SqliteSegments};

use crate::output::{Failure, complain};

/// The variable that may hold the address instead, so that no list of processes shows a password.
pub(crate) const VARIABLE: &str = "UIDRING_DB";

/// A registry, as `--db` names it.
#[derive(Clone)]
pub(crate) enum Db {
    /// The one that this user has on this machine. Its folder is created with it.
    Own(PathBuf),
    File(PathBuf),
    /// The address as it was given, with the password.
    Url(String),
}

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
        value_parser = parser()
    )]
    db: Option<Db>,
}

impl DbArg {
    pub(crate) fn db(&self) -> Result<Db, Failure> {
        match &self.db {
            Some(db) => Ok(db.clone()),
            None => Db::own(),
        }
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

/// How a registry gives ids.
#[derive(Debug, Default)]
pub(crate) struct Terms {
    /// How long a lease lasts; `None` for permanent ids.
    pub(crate) lease: Option<Duration>,
    /// The part with this index among so many.
    pub(crate) partition: Option<(u64, u64)>,
    pub(crate) worker_ids: Option<RangeInclusive<u64>>,
    /// From the table of `UidGenerator`, and not on any of the terms above.
    pub(crate) uid_generator: bool,
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

/// The table that tags are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Tags {
    /// `uidring_segment`, this library's own
    Own,
    /// `leaf_alloc`, of Meituan's Leaf
    Leaf,
    /// `tiny_id_info`, of tinyid
    #[value(name = "tinyid")]
    TinyId,
}

/// `source`, on the table `tags`. A macro, as the sources share no trait that has these methods.
macro_rules! on_table {
    ($source:expr, $tags:expr) => {{
        let (source, tags) = ($source, $tags);
        let tags: Box<dyn SegmentAdmin> = match tags {
            Tags::Own => Box::new(source),
            Tags::Leaf => Box::new(source.leaf()),
            Tags::TinyId => Box::new(source.tinyid()),
        };
        tags
    }};
}

impl Db {
    fn own() -> Result<Db, Failure> {
        let Ok(folders) = choose_native_strategy() else {
            return Err(Failure::Failed(
                "this user has no home folder for a registry: name one with --db".to_owned(),
            ));
        };
        let folder = folders.state_dir().unwrap_or_else(|| {
            // Windows copies the folder for data to the user's other machines. The other one is the
            // local folder.
            if cfg!(windows) { folders.cache_dir() } else { folders.data_dir() }
        });
        Ok(Db::Own(folder.join("uidring").join("uidring.db")))
    }

    /// The registry that the environment names.
    pub(crate) fn of_environment() -> Option<Db> {
        env::var_os(VARIABLE).map(Db::from)
    }

    /// The words of a command line that name it; none where it is used without them.
    pub(crate) fn option(&self) -> Vec<String> {
        let is_own = matches!(self, Db::Own(_));
        let is_named = Db::of_environment().is_some_and(|db| db.to_string() == self.to_string());
        let name = self.to_string();
        if is_own || is_named {
            Vec::new()
        } else if name.starts_with('-') {
            vec![format!("--db={name}")]
        } else {
            vec!["--db".to_owned(), name]
        }
    }

    /// Whether it is a file that `open` would create.
    pub(crate) fn is_missing(&self) -> bool {
        self.path().is_some_and(|path| !path.exists())
    }

    fn path(&self) -> Option<&Path> {
        match self {
            Db::Own(path) | Db::File(path) => Some(path),
            Db::Url(_) => None,
        }
    }

    /// Opens the registry to take ids from it. A missing file is created, which is reported; a
    /// server is not contacted yet.
    pub(crate) fn open(&self, terms: &Terms) -> Result<Box<dyn RegistryAdmin>, Failure> {
        if terms.uid_generator {
            return self.of_uid_generator();
        }
        match self {
            Db::Own(path) | Db::File(path) => {
                let is_missing = self.is_missing();
                if let Db::Own(path) = self {
                    create_folder_of(path)?;
                }
                let registry = SqliteRegistry::open(path)?;
                if is_missing {
                    created(path);
                }
                Ok(boxed!(registry, terms))
            }
            Db::Url(url) => server(url, terms),
        }
    }

    /// Opens the table of `UidGenerator`.
    fn of_uid_generator(&self) -> Result<Box<dyn RegistryAdmin>, Failure> {
        #[cfg(feature = "mysql")]
        if let Db::Url(url) = self
            && matches!(Kind::of(url)?, Kind::MySql)
        {
            return Ok(Box::new(MySqlRegistry::open(url)?.uid_generator()));
        }
        #[cfg(not(feature = "mysql"))]
        if let Db::Url(url) = self {
            Kind::of(url)?;
        }
        Err(Failure::Usage(format!(
            "--uid-generator is about the table WORKER_NODE on a MySQL or MariaDB server, and not \
             about {self}: name the server with --db mysql://.."
        )))
    }

    /// Opens the registry to read it, or the table of `uid_generator`. A missing file is an error.
    pub(crate) fn open_existing(
        &self,
        uid_generator: bool,
    ) -> Result<Box<dyn RegistryAdmin>, Failure> {
        if uid_generator {
            return self.of_uid_generator();
        }
        match self {
            Db::Own(path) if self.is_missing() => Err(Failure::Failed(format!(
                "this user has no registry yet: {} is created by `uidring take`; \
                 or name another one with --db",
                path.display()
            ))),
            Db::Own(path) | Db::File(path) => Ok(Box::new(SqliteRegistry::open_existing(path)?)),
            Db::Url(url) => server(url, &Terms::default()),
        }
    }
}

impl Db {
    /// Opens the tags to change them. A missing file is created for tags of its own, which is
    /// reported; a server is not contacted yet.
    pub(crate) fn tags(&self, tags: Tags) -> Result<Box<dyn SegmentAdmin>, Failure> {
        match self {
            Db::Own(path) | Db::File(path) if tags == Tags::Own => {
                let is_missing = self.is_missing();
                if let Db::Own(path) = self {
                    create_folder_of(path)?;
                }
                let source = SqliteSegments::open(path)?;
                if is_missing {
                    created(path);
                }
                Ok(Box::new(source))
            }
            _ => self.existing_tags(tags),
        }
    }

    /// Opens the tags that are there. A missing file is an error.
    pub(crate) fn existing_tags(&self, tags: Tags) -> Result<Box<dyn SegmentAdmin>, Failure> {
        match self {
            Db::Own(path) if self.is_missing() => Err(Failure::Failed(format!(
                "this user has no registry yet: {} is created by `uidring tags create`; \
                 or name another one with --db",
                path.display()
            ))),
            Db::Own(path) | Db::File(path) => {
                Ok(on_table!(SqliteSegments::open_existing(path)?, tags))
            }
            Db::Url(url) => tags_on_server(url, tags),
        }
    }
}

fn created(path: &Path) {
    let path = path::absolute(path).unwrap_or_else(|_| path.to_owned());
    complain(&format!("created the registry {}", path.display()));
}

/// Creates the folder of the file `path` for this user alone.
fn create_folder_of(path: &Path) -> Result<(), Failure> {
    let Some(folder) = path.parent() else { return Ok(()) };
    create_private(folder).map_err(|error| {
        let folder = folder.display();
        Failure::Failed(format!("cannot create the folder {folder} of the registry: {error}"))
    })
}

fn create_private(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
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
fn tags_on_server(url: &str, tags: Tags) -> Result<Box<dyn SegmentAdmin>, Failure> {
    match Kind::of(url)? {
        #[cfg(feature = "postgres")]
        Kind::Postgres => Ok(on_table!(PostgresSegments::open(url)?, tags)),
        #[cfg(feature = "mysql")]
        Kind::MySql => Ok(on_table!(MySqlSegments::open(url)?, tags)),
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

/// `text` with [`without_password`] applied to each address in it.
pub(crate) fn without_passwords(text: &str) -> String {
    let word = |word: &str| {
        let Some(colon) = word.find("://") else { return word.to_owned() };
        // An address may follow an option, or stand in quotes.
        let start = word[..colon]
            .trim_end_matches(|character: char| character.is_ascii_alphanumeric())
            .len();
        let end = word
            .trim_end_matches(|character: char| character.is_whitespace() || character == '\'')
            .len();
        word[..start].to_owned() + &without_password(&word[start..end]) + &word[end..]
    };
    text.split_inclusive(char::is_whitespace).map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::{Db, Failure, OsString, without_passwords};

    #[test]
    fn a_name_without_a_scheme_is_a_file() {
        for file in [
            "uidring.db",
            "/var/lib/a=b.db",
            "postgres",
            "./mysql:/x",
            "c:\\uidring.db",
            "a b=c",
            "",
        ] {
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
        for keys in [
            "host=db dbname=ids password=secret",
            "password=secret dbname=ids",
            "host=db password=secret://x",
            "user = me password=secret",
            "file:secret.db",
        ] {
            let db = Db::from(OsString::from(keys));
            assert!(matches!(db, Db::Url(_)), "{keys}");
            assert_eq!(db.to_string(), "(an address)");
            let problem = match db.open_existing(false) {
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

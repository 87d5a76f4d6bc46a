//! Opens the registry and the tags that the options name.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use uidring::registry::RegistryAdmin;
use uidring::segment::{SegmentError, TinyIdToken};
use uidring::store::{StoreError, StoreRegistry, StoreSegments};
use uidring::{BuildError, Layout, RegistryError, RegistryOptions, Store};
use uidring_args::{Db, RegistryConfig, Table, with_causes};

use crate::stats::trouble::Cause;

/// Why the database cannot be used.
#[derive(Debug)]
pub(crate) struct StoreFailure {
    pub(crate) cause: Cause,
    /// Whether a retry may succeed.
    pub(crate) is_transient: bool,
    pub(crate) problem: String,
}

impl StoreFailure {
    /// A permanent problem.
    pub(crate) fn permanent(problem: String) -> StoreFailure {
        StoreFailure { cause: Cause::Unusable, is_transient: false, problem }
    }

    /// A transient problem.
    pub(crate) fn for_now(problem: String) -> StoreFailure {
        StoreFailure { cause: Cause::Away, is_transient: true, problem }
    }
}

impl From<RegistryError> for StoreFailure {
    fn from(error: RegistryError) -> StoreFailure {
        let cause = Cause::of_registry(&error);
        StoreFailure { cause, is_transient: error.is_transient(), problem: with_causes(&error) }
    }
}

impl From<SegmentError> for StoreFailure {
    fn from(error: SegmentError) -> StoreFailure {
        let cause = Cause::of(&error);
        StoreFailure { cause, is_transient: error.is_transient(), problem: with_causes(&error) }
    }
}

impl From<BuildError> for StoreFailure {
    fn from(error: BuildError) -> StoreFailure {
        let (cause, is_transient) = match error {
            BuildError::Registry(error) => return error.into(),
            BuildError::StartDeadline { ref last, .. } => (Cause::of_registry(last), true),
            BuildError::Spawn(_) => (Cause::Unusable, true),
            // Somebody may set the clock.
            BuildError::BeforeEpoch { .. } => (Cause::ClockUnset, true),
            _ => (Cause::Unusable, false),
        };
        StoreFailure { cause, is_transient, problem: with_causes(&error) }
    }
}

impl From<StoreError> for StoreFailure {
    fn from(error: StoreError) -> StoreFailure {
        StoreFailure::permanent(match error {
            StoreError::NotBuiltIn { address, .. } => format!(
                "this uidring-server was built without the feature for {}:// addresses",
                address.split("://").next().unwrap_or_default()
            ),
            error => with_causes(&error),
        })
    }
}

/// The stores that were opened, and whether they may be made.
static OPENED: Mutex<Vec<(Db, bool, Store)>> = Mutex::new(Vec::new());

/// The store `db`. It is one and the same each time, so that it can go by another address, and
/// tells once that it is new.
fn store(db: &Db, may_make: bool) -> Result<Store, StoreError> {
    let open = || if may_make { db.store() } else { db.existing_store() };
    let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
    let is_it = |(known, kind, _): &&(Db, bool, Store)| known == db && *kind == may_make;
    if let Some((.., store)) = opened.iter().find(is_it) {
        return Ok(store.clone());
    }
    let store = open()?;
    opened.push((db.clone(), may_make, store.clone()));
    Ok(store)
}

/// The store `db`, which must be there.
pub(crate) fn existing(db: &Db) -> Result<Store, StoreError> {
    store(db, false)
}

/// Has all that runs on the store `db` go by the address `newer` from now on.
pub(crate) fn renew(db: &Db, newer: &Db) -> Result<(), String> {
    let opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let mut stores: Vec<Store> =
        opened.into_iter().filter(|(known, ..)| known == db).map(|(.., store)| store).collect();
    if stores.is_empty() {
        stores.push(db.store().map_err(|error| StoreFailure::from(error).problem)?);
    }
    for store in stores {
        newer.renew(&store).map_err(|error| StoreFailure::from(error).problem)?;
    }
    Ok(())
}

/// Checks the address without contacting the server.
pub(crate) fn check(db: &Db) -> Result<(), String> {
    store(db, true).map(drop).map_err(|error| StoreFailure::from(error).problem)
}

/// Whether the store is of the kind that this scheme names.
pub(crate) fn is_of(db: &Db, scheme: &str) -> bool {
    store(db, true).is_ok_and(|store| store.scheme() == scheme)
}

/// Whether a start is made, or only looked whether one would succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Start,
    Check,
}

/// Opens the store. A start creates the folder of the default file, and a check looks whether a
/// missing file could be made.
fn opened(db: &Db, mode: Mode) -> Result<Store, StoreFailure> {
    match mode {
        Mode::Start => {
            db.create_folder().map_err(StoreFailure::permanent)?;
            Ok(store(db, true)?)
        }
        Mode::Check => {
            if db.path().is_none() {
                return Ok(existing(db)?);
            }
            if let Some(path) = to_be_made(db) {
                dry_run_making(db, path)?;
            }
            Ok(db.trial_store()?)
        }
    }
}

/// Opens the registry of worker ids. A missing file is created. A server is not contacted yet.
pub(crate) fn registry(
    db: &Db,
    config: &RegistryConfig,
    mode: Mode,
) -> Result<StoreRegistry, StoreFailure> {
    Ok(opened(db, mode)?.registry_with(RegistryOptions::from(config))?)
}

/// Opens the registry of a file that must exist: a lost file must not be replaced by an empty one.
pub(crate) fn existing_registry(
    db: &Db,
    config: &RegistryConfig,
) -> Result<StoreRegistry, StoreFailure> {
    Ok(existing(db)?.registry_with(RegistryOptions::from(config))?)
}

/// Opens the source of dense numbers, and checks whether the store answers and has the table. A
/// missing file is created, unless the table is of others.
pub(crate) fn source(db: &Db, table: Table, mode: Mode) -> Result<StoreSegments, StoreFailure> {
    let store = match (table, db.path()) {
        (Table::Own | Table::CosId, _) => opened(db, mode)?,
        // Others make it, and the file with it.
        (_, Some(path)) if !path.exists() => {
            return Err(StoreFailure::permanent(format!(
                "{} does not exist, and so has no table {}",
                path.display(),
                table.name()
            )));
        }
        (Table::Leaf | Table::TinyId, _) => existing(db)?,
    };
    let tags = store.segments_in(table.into())?;
    check_table(&tags, table)?;
    Ok(tags)
}

/// The layout of the registry, if a worker id was ever taken from it. Creates nothing.
pub(crate) fn remembered_layout(db: &Db) -> Result<Option<Layout>, StoreFailure> {
    if to_be_made(db).is_some() {
        return Ok(None);
    }
    Ok(existing(db)?.registry()?.layout()?)
}

/// Whether nobody has ever taken a worker id from this registry. `UidGenerator`'s table does not
/// tell.
pub(crate) fn is_new(
    registry: &StoreRegistry,
    config: &RegistryConfig,
) -> Result<bool, StoreFailure> {
    Ok(!config.uid_generator && registry.layout()?.is_none())
}

/// Checks whether the store answers and has the table.
pub(crate) fn check_table(tags: &StoreSegments, table: Table) -> Result<(), SegmentError> {
    // Any tag will do: whether it is there does not matter.
    table.find(tags, "uidring").map(drop)
}

/// The file, if a start makes tables in it: it is missing or empty.
fn to_be_made(db: &Db) -> Option<&Path> {
    db.path().filter(|path| match path.metadata() {
        Ok(found) => found.is_file() && found.len() == 0,
        Err(_) => !path.exists(),
    })
}

/// Whether the file could be made, or written to where it is empty.
fn dry_run_making(db: &Db, path: &Path) -> Result<(), StoreFailure> {
    let cannot_write = |what: &str, path: &Path, error: io::Error| {
        StoreFailure::permanent(format!(
            "the {what} {} cannot be written: {error}; give this user the right to write to it",
            path.display()
        ))
    };
    // SQLite keeps its journal there, also where the file exists.
    let folder = folder_of(db, path);
    if !folder.is_dir() {
        // The store says so.
        return Ok(());
    }
    let probe = folder.join(format!(".uidring-server-check-{}", std::process::id()));
    let made = File::create_new(&probe).map(drop);
    let removed = std::fs::remove_file(&probe);
    made.and(removed).map_err(|error| cannot_write("folder", folder, error))?;
    if path.exists() {
        let opened = File::options().append(true).open(path);
        opened.map_err(|error| cannot_write("file", path, error))?;
    }
    Ok(())
}

/// The folder of the file; for the user's own file, the lowest one above it that exists.
fn folder_of<'a>(db: &Db, path: &'a Path) -> &'a Path {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let mut folder = parent.unwrap_or(Path::new("."));
    if let Db::Own(_) = db {
        // Missing folders are created, so check the nearest one that exists.
        while let Some(above) = folder.parent().filter(|_| !folder.exists()) {
            folder = above;
        }
    }
    folder
}

/// Reads tinyid's pairs of token and tag.
pub(crate) fn tokens(db: &Db) -> Result<Vec<TinyIdToken>, StoreFailure> {
    Ok(store(db, true)?.tinyid_tokens()?)
}

/// The file with another extension, for a second layout.
pub(crate) fn with_extension(db: &Db, extension: &str) -> Option<Db> {
    match db {
        Db::Own(path) => Some(Db::Own(path.with_extension(extension))),
        Db::File(path) => Some(Db::File(path.with_extension(extension))),
        Db::OnNetwork(path) => Some(Db::OnNetwork(path.with_extension(extension))),
        Db::Url(_) => None,
    }
}

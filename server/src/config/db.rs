//! Opens the registry and the tags that the options name.

use std::fs::File;
use std::path::Path;

use uidring::registry::RegistryAdmin;
use uidring::segment::{SegmentError, SegmentSource, TinyIdToken};
use uidring::store::{StoreError, StoreRegistry, StoreSegments};
use uidring::{BuildError, Layout, RegistryError, RegistryOptions, Store};
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

impl From<StoreError> for Unusable {
    fn from(error: StoreError) -> Unusable {
        Unusable::as_it_is(match error {
            StoreError::NotBuiltIn { address, .. } => format!(
                "this uidring-server was built without the feature for {}:// addresses",
                address.split("://").next().unwrap_or_default()
            ),
            error => with_causes(&error),
        })
    }
}

/// Checks an address, without contacting the server.
pub(crate) fn check(db: &Db) -> Result<(), String> {
    db.store().map(drop).map_err(|error| Unusable::from(error).problem)
}

/// Whether it is a server of MySQL or MariaDB.
pub(crate) fn is_mysql(db: &Db) -> bool {
    db.store().is_ok_and(|store| store.scheme() == "mysql")
}

/// The store, with the folder of the user's own file.
fn opened(db: &Db) -> Result<Store, Unusable> {
    db.create_folder().map_err(Unusable::as_it_is)?;
    Ok(db.store()?)
}

/// Opens the registry of worker ids. A missing file is created; a server is not contacted yet.
pub(crate) fn registry(db: &Db, terms: &Terms) -> Result<StoreRegistry, Unusable> {
    Ok(opened(db)?.registry_with(RegistryOptions::from(terms))?)
}

/// The same, where a file must exist: one that was lost is not made anew.
pub(crate) fn existing_registry(db: &Db, terms: &Terms) -> Result<StoreRegistry, Unusable> {
    Ok(db.existing_store()?.registry_with(RegistryOptions::from(terms))?)
}

/// Opens the source of dense numbers, in the same way.
pub(crate) fn source(db: &Db, table: Table) -> Result<StoreSegments, Unusable> {
    Ok(opened(db)?.segments_in(table.into())?)
}

/// Looks whether a start with this database would succeed, and makes nothing: where `layout` is
/// none, that of the registry counts.
pub(crate) fn try_out(db: &Db, terms: &Terms, layout: Option<Layout>) -> Result<(), Unusable> {
    if let Some(path) = db.path().filter(|path| !path.exists()) {
        return try_out_folder(db, path);
    }
    let registry = db.existing_store()?.registry_with(RegistryOptions::from(terms))?;
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
    Ok(db.store()?.tinyid_tokens()?)
}

/// The file beside, for another layout.
pub(crate) fn beside(db: &Db, extension: &str) -> Option<Db> {
    match db {
        Db::Own(path) => Some(Db::Own(path.with_extension(extension))),
        Db::File(path) => Some(Db::File(path.with_extension(extension))),
        Db::Url(_) => None,
    }
}

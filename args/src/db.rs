//! The store: the user's default file, another file, or the address of a server.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::DirBuilder;
use std::path::{Path, PathBuf};

use clap::builder::{OsStringValueParser, TypedValueParser};
use etcetera::base_strategy::{BaseStrategy, choose_native_strategy};
use uidring::Store;
use uidring::store::without_password;
use uidring::store::{StoreError, path_of};

/// A store, as `--db` names it.
#[derive(Clone, PartialEq, Eq)]
pub enum Db {
    /// The user's default file on this machine. Its folder is created when needed.
    Own(PathBuf),
    /// Another file.
    File(PathBuf),
    /// The same, which may be on a network file system.
    OnNetwork(PathBuf),
    /// The address of a server as it was given, with the password.
    Url(String),
}

impl Db {
    /// The user's default file on this machine.
    ///
    /// # Errors
    /// The user has no home folder.
    pub fn of_user() -> Result<Db, String> {
        let folders = choose_native_strategy().map_err(|_| {
            "this user has no home folder for a registry: name one with --db".to_owned()
        })?;
        let folder = folders.state_dir().unwrap_or_else(|| {
            // On Windows, the data folder is synchronized to the user's other machines, but the
            // cache folder is local.
            if cfg!(windows) { folders.cache_dir() } else { folders.data_dir() }
        });
        Ok(Db::Own(folder.join("uidring").join("uidring.db")))
    }

    /// Parses the value of the option. The parser accepts every text, because clap repeats what it
    /// refuses, including a password.
    #[must_use]
    pub fn parser() -> impl TypedValueParser<Value = Db> {
        OsStringValueParser::new().map(Db::from)
    }

    /// Opens the store. Nothing is looked for in it yet; a file that is missing is made when
    /// worker ids or tags are opened.
    ///
    /// # Errors
    /// The address is not one, or its kind of store is not built in.
    pub fn store(&self) -> Result<Store, StoreError> {
        Store::open(self.address())
    }

    /// The same, where a file must exist and nothing is written to open it.
    ///
    /// # Errors
    /// As [`store`](Db::store).
    pub fn existing_store(&self) -> Result<Store, StoreError> {
        Store::open_existing(self.address())
    }

    /// Has `store`, which is open, go by this address from now on.
    ///
    /// # Errors
    /// The address is not one, or names another store.
    pub fn renew(&self, store: &Store) -> Result<(), StoreError> {
        store.renew(self.address())
    }

    /// The same for a trial, which makes nothing, whether the file is there or not.
    ///
    /// # Errors
    /// As [`store`](Db::store).
    pub fn trial_store(&self) -> Result<Store, StoreError> {
        Store::open_trial(self.address())
    }

    fn address(&self) -> OsString {
        match self {
            // Written so that it is never mistaken for an address.
            Db::Own(path) | Db::File(path) => plain(path).into_os_string(),
            Db::OnNetwork(path) => on_network(path),
            Db::Url(url) => url.into(),
        }
    }

    /// The value of `--db` for this store, without the password.
    #[must_use]
    pub fn value(&self) -> String {
        match self {
            Db::Own(path) | Db::File(path) => plain(path).display().to_string(),
            Db::OnNetwork(path) => on_network(path).to_string_lossy().into_owned(),
            Db::Url(_) => self.to_string(),
        }
    }

    /// The file, if it is one.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match self {
            Db::Own(path) | Db::File(path) | Db::OnNetwork(path) => Some(path),
            Db::Url(_) => None,
        }
    }

    /// Whether it is a file that does not exist.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        self.path().is_some_and(|path| !path.exists())
    }

    /// Creates the folder of the user's own file, for this user alone. Other folders must exist.
    ///
    /// # Errors
    /// The folder cannot be created.
    pub fn create_folder(&self) -> Result<(), String> {
        let Db::Own(path) = self else { return Ok(()) };
        let Some(folder) = path.parent() else { return Ok(()) };
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.recursive(true).create(folder).map_err(|error| {
            format!("cannot create the folder {} of the registry: {error}", folder.display())
        })
    }
}

impl From<OsString> for Db {
    fn from(text: OsString) -> Db {
        match path_of(&text) {
            Some(path) if is_on_network(&text) => Db::OnNetwork(path),
            Some(path) => Db::File(path),
            None => Db::Url(text.to_string_lossy().into_owned()),
        }
    }
}

/// What ends the address of a file that may be on a network file system.
const ON_NETWORK: &str = "?network_file_system=yes";

/// Whether it is such an address. Of a path, that would be a part of the name.
fn is_on_network(address: &OsStr) -> bool {
    let text = address.to_string_lossy();
    text.starts_with("sqlite:") && text.ends_with(ON_NETWORK)
}

/// The address that permits a network file system.
fn on_network(path: &Path) -> OsString {
    let mut address = OsString::from("sqlite:");
    address.push(path);
    address.push(ON_NETWORK);
    address
}

/// `path`, so that it is not read as an address.
fn plain(path: &Path) -> PathBuf {
    if path_of(path).as_deref() == Some(path) { path.into() } else { Path::new(".").join(path) }
}

impl fmt::Display for Db {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Db::Own(path) | Db::File(path) | Db::OnNetwork(path) => path.display().fmt(f),
            Db::Url(url) => f.write_str(&without_password(url)),
        }
    }
}

/// Without the password.
impl fmt::Debug for Db {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test that cannot go on has failed
mod tests {
    use super::*;
    use crate::passwords::tests::ADDRESSES;

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
        for file in ["/tmp/a://b", "//tmp/x", "c:\\x=y"] {
            let store = Db::File(PathBuf::from(file)).store().unwrap();
            let path = std::path::absolute(file).unwrap();
            assert_eq!(store.file(), Some(path.as_path()));
        }
    }

    #[test]
    fn what_an_address_permits_is_kept() {
        let address = "sqlite:/mnt/ids.db?network_file_system=yes";
        let db = Db::from(OsString::from(address));
        assert_eq!(db.path(), Some(Path::new("/mnt/ids.db")));
        assert_eq!((db.value().as_str(), db.to_string().as_str()), (address, "/mnt/ids.db"));
        // On Windows with the letter of the drive.
        let absolute = std::path::absolute("/mnt/ids.db").unwrap();
        assert_eq!(db.store().unwrap().file(), Some(absolute.as_path()));
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
        }
    }

    #[test]
    fn passwords_are_not_shown() {
        for (url, shown) in ADDRESSES {
            let db = Db::from(OsString::from(url));
            assert_eq!((db.to_string().as_str(), format!("{db:?}").as_str()), (shown, shown));
        }
    }

    #[test]
    fn only_the_folder_of_ones_own_file_is_created() {
        let folder = std::env::temp_dir().join(format!("uidring-args-{}", std::process::id()));
        let path = folder.join("state").join("uidring.db");
        Db::File(path.clone()).create_folder().unwrap();
        assert!(!folder.exists());
        let own = Db::Own(path);
        own.create_folder().unwrap();
        assert!(folder.join("state").is_dir() && own.is_missing());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = folder.join("state").metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700, "for this user alone");
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
}

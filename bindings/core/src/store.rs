//! What a program opens by the address of a store, and closes.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use uidring::store::{path_of, with_login};
use uidring::{Audience, Store};
use zeroize::Zeroizing;

use crate::error::Error;
use crate::files::OurFile;
use crate::options::{LoginOptions, Secret};

/// What a program opens by the address of a store.
pub trait Open: Send + Sync + Sized + 'static {
    /// Opens it at `address`: the path of a SQLite file, or the address of a server.
    ///
    /// # Errors
    /// The options are wrong, or the store cannot be used.
    fn open(address: &str, options: &[(&str, &str)]) -> Result<Self, Error>;
}

/// What a program closes.
pub trait Close: Send + Sync + 'static {
    /// Ends all takes, and gives back to the store what is left: a leased worker id, numbers. Of
    /// keys, it overwrites the library's copy. A second close succeeds, unless the first has
    /// failed.
    ///
    /// # Errors
    /// The store has not got it back in time, so that numbers are lost. All takes have ended even
    /// so.
    fn close(&self) -> Result<(), Error>;
}

/// The store at `address`, and what says that its file is open, until it is closed.
pub(crate) fn open_store(
    address: &str,
    login: &LoginOptions,
    timeout: Option<Duration>,
) -> Result<(Store, OpenFile), Error> {
    // What errors say of options is then said as a binding has them.
    Audience::Binding.set();
    let password = login.password.as_ref().map(|Secret(password)| password.as_str());
    let mut address = Zeroizing::new(with_login(address, login.user.as_deref(), password)?);
    // A file forgets nothing.
    if login.only_for_tests && path_of(&*address).is_none() {
        let mark = if address.contains('?') { '&' } else { '?' };
        address = Zeroizing::new(format!("{}{mark}only_for_tests=yes", *address));
    }
    let store = Store::open(&*address)?;
    let file = store.file().map(OurFile::open).transpose()?;
    let store = match timeout {
        Some(timeout) => store.with_timeout(timeout),
        None => store,
    };
    Ok((store, OpenFile(Arc::new(ArcSwapOption::from(file.map(Arc::new))))))
}

/// The file of a store, if it has one, for as long as it is open. Clones are of one opening.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpenFile(Arc<ArcSwapOption<OurFile>>);

impl OpenFile {
    /// The store was closed.
    pub(crate) fn close(&self) {
        self.0.store(None);
    }
}

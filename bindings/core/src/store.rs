//! What a program opens by the address of a store, and closes.

use std::time::Duration;

use uidring::{Audience, Store};

use crate::error::Error;

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

/// The store at `address`.
pub(crate) fn open_store(address: &str, timeout: Option<Duration>) -> Result<Store, Error> {
    // What errors say of options is then said as a binding has them.
    Audience::Binding.set();
    let store = Store::open(address)?;
    Ok(match timeout {
        Some(timeout) => store.with_timeout(timeout),
        None => store,
    })
}

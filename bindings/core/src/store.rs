//! Opens the store that an address names.

use std::time::Duration;

use uidring::{Audience, Store};

use crate::error::Error;

/// The store at `address`: the path of a SQLite file, or the address of a server.
pub(crate) fn opened(address: &str, timeout: Option<Duration>) -> Result<Store, Error> {
    // What errors say of options is then said as a binding has them.
    Audience::Binding.set();
    let store = Store::open(address)?;
    Ok(match timeout {
        Some(timeout) => store.with_timeout(timeout),
        None => store,
    })
}

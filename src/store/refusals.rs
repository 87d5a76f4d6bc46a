//! The errors of stores that are not opened, whatever their kind.

use std::time::Duration;

use super::address::UNCLEAR;
use super::call::{Error, Words};
use super::error::StoreError;
use super::storage_error::StorageError;
use crate::registry::RegistryError;

/// Nothing is looked for in the store while its address is read.
const WORDS: Words =
    Words { what: "the store", no_tables: "", foreign_tables: "", foreign_file: "", rights: "" };

/// The error of an address that cannot be used.
pub(super) fn refused(address: &str, mut error: Error) -> StoreError {
    if address.ends_with(UNCLEAR) {
        // What the driver takes for the host or a parameter may be a part of the password.
        error = Error::problem(
            "if its user or password has one of @, /, ? and #, write these as %40, %2F, %3F and \
             %23; the driver's error could show a part of the password",
        );
    }
    StoreError::Address(error.told(&WORDS, address, "open the store", Duration::ZERO))
}

/// The error of a store that has no table of `UidGenerator`.
pub(super) fn no_uid_generator(registry: &str) -> RegistryError {
    let problem = "only MySQL and MariaDB have the table WORKER_NODE of UidGenerator; name the \
                   server with mysql://, or leave out uid_generator";
    StorageError::unusable(format!("the registry {registry}"), problem).into()
}

/// The error of a store that has no counters of `CosId`.
pub(super) fn no_cosid(store: &str) -> StorageError {
    let problem = "the counters of CosId are in Redis; name the server with redis://";
    StorageError::unusable(format!("the tags in {store}"), problem)
}

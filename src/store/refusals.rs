//! The errors of stores that are not opened, whatever their kind.

use std::time::Duration;

use super::address::{UNCLEAR, without_password};
use super::call::{Error, Words};
use super::error::StoreError;
use super::storage_error::StorageError;
use crate::registry::RegistryError;

/// Nothing is looked for in the store while its address is read.
const WORDS: Words =
    Words { what: "the store", no_tables: "", foreign_tables: "", foreign_file: "", rights: "" };

/// The error of the address of a server that cannot be used.
pub(super) fn refused_address(address: &str, mut error: Error) -> StoreError {
    let shown = without_password(address);
    // What the driver takes for the host or a parameter may be a part of the password.
    let is_unclear = shown.ends_with(UNCLEAR)
        || address.split_once("password=").is_some_and(|(_, rest)| rest.contains('&'));
    if is_unclear {
        error = Error::problem(
            "if its user or password has one of @, /, ?, # and &, write these as %40, %2F, %3F, \
             %23 and %26; the driver's error could show a part of the password",
        );
    }
    refused(&shown, error)
}

/// The error of a store that cannot be used, of which the address or the path is `shown`.
pub(super) fn refused(shown: &str, error: Error) -> StoreError {
    StoreError::Address(error.told(&WORDS, shown, "open the store", Duration::ZERO))
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

#[cfg(test)]
mod tests {
    use super::{Error, refused_address};

    #[test]
    fn what_a_driver_says_does_not_show_a_part_of_a_password() {
        for (address, is_shown) in [
            ("postgres://me@db/ids?password=first&second", false),
            ("postgres://me:fir@second?@db/ids", false),
            ("password=second", false),
            ("postgres://me:pass@db/ids?second", true),
            ("postgres://me@db/ids?second&password=pass", true),
        ] {
            let error = Error::problem("unknown option `second`");
            let text = refused_address(address, error).to_string();
            assert_eq!(text.contains("unknown option `second`"), is_shown, "{text}");
            assert_eq!(text.contains("write these as %40"), !is_shown, "{text}");
            assert!(!text.contains("first") && !text.contains("pass@"), "{text}");
        }
    }
}

//! The errors of stores that are not opened, whatever their kind.

use std::time::Duration;

use super::error::StoreError;
use crate::backend::address::escapes::ESCAPES;
use crate::backend::address::redaction::{UNCLEAR, without_password};
use crate::backend::error::{Error, ErrorPhrases};
use crate::backend::storage_error::StorageError;
use crate::registry::RegistryError;
use crate::support::audience::UID_GENERATOR;

/// Nothing is looked for in the store while its address is read.
const PHRASES: ErrorPhrases = ErrorPhrases {
    subject: "the store",
    missing_tables: "",
    incompatible_tables: "",
    not_a_database: "",
    unrelated_tables: "",
    permissions: "",
};

/// The error of a store that cannot be used, of which the address or the path is `shown`.
pub(super) fn open_error(shown: &str, error: Error) -> StoreError {
    StoreError::Address(error.into_storage_error(&PHRASES, shown, "open the store", Duration::ZERO))
}

/// What ends a user or a password in an address, unless it is escaped.
const SEPARATORS: [char; 5] = ['@', '/', '?', '#', '&'];

/// The error where this address of a server cannot be used.
#[allow(dead_code, reason = "a build with SQLite alone has no addresses of servers")]
pub(super) fn address_error(address: &str, mut error: Error) -> StoreError {
    let shown = without_password(address);
    // What the driver takes for the host or a parameter may be a part of the password.
    let is_unclear = shown.ends_with(UNCLEAR)
        || address.split_once("password=").is_some_and(|(_, rest)| rest.contains(SEPARATORS));
    if is_unclear {
        error = Error::problem(format!(
            "{ESCAPES}; if the password is a parameter, write it before the host, as in \
             user:password@host; the error itself is not shown, because it could show a part of \
             the password"
        ));
    }
    open_error(&shown, error)
}

/// The error of a store that has no table of `UidGenerator`.
pub(super) fn no_uid_generator(registry: &str) -> RegistryError {
    let problem = format!(
        "only MySQL and MariaDB have the table WORKER_NODE of UidGenerator; name the server with \
         mysql://, or leave out {UID_GENERATOR}"
    );
    StorageError::unusable(format!("the registry {registry}"), problem).into()
}

/// The error of a store that has no counters of `CosId`.
pub(super) fn no_cosid(store: &str) -> StorageError {
    let problem = "the counters of CosId are in Redis; name the server with redis://";
    StorageError::unusable(format!("the tags in {store}"), problem)
}

#[cfg(test)]
mod tests {
    use super::{Error, address_error};

    #[test]
    fn what_a_driver_says_does_not_show_a_part_of_a_password() {
        for (address, is_shown) in [
            ("postgres://me@db/ids?password=first&second", false),
            ("postgres://me:fir@second?@db/ids", false),
            ("postgres:///?password=first@db?second=1", false),
            ("password=second", false),
            ("postgres://me:pass@db/ids?second", true),
            ("postgres://me@db/ids?second&password=pass", true),
        ] {
            let error = Error::problem("unknown option `second`");
            let text = address_error(address, error).to_string();
            assert_eq!(text.contains("unknown option `second`"), is_shown, "{text}");
            assert_eq!(text.contains("write these as %2F"), !is_shown, "{text}");
            assert!(!text.contains("first") && !text.contains("pass@"), "{text}");
        }
    }
}

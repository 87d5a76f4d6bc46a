//! The errors of stores that are not opened, whatever their kind.

use std::time::Duration;

use super::error::StoreError;
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
pub(super) fn refused(shown: &str, error: Error) -> StoreError {
    StoreError::Address(error.into_storage_error(&PHRASES, shown, "open the store", Duration::ZERO))
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

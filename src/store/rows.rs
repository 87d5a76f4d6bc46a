//! What the stores with SQL share.

use super::error::StoreError;
use super::kind::Calls;
use super::options::{RegistryOptions, Table};
use super::sql::{Error, Failure, Words};
use crate::registry::{RegistryError, RegistryTables, SqlRegistry};
use crate::segment::{SegmentAdmin, SegmentTables, SqlSegments, TinyId};

/// Nothing is looked for in the database while its address is read.
const WORDS: Words = Words { no_tables: "", foreign_tables: "", foreign_file: "", rights: "" };

/// The error of an address that cannot be used.
pub(super) fn refused(address: String, error: Error) -> StoreError {
    let (problem, source) = match error.in_words(&WORDS) {
        Failure::Unusable { problem, source } | Failure::Unreachable { problem, source } => {
            (problem, source)
        }
        Failure::Locked => ("it is locked".to_owned(), None),
        Failure::Full(source) | Failure::Other(source) => {
            ("it cannot be read".to_owned(), Some(source))
        }
    };
    StoreError::Address { address, problem, source }
}

/// The error of a store that has no table of `UidGenerator`.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub(super) fn no_uid_generator(registry: String) -> RegistryError {
    let problem = "only MySQL and MariaDB have the table WORKER_NODE of UidGenerator; name the \
                   server with mysql://, or leave out uid_generator";
    RegistryError::Open { registry, problem: problem.to_owned(), source: None }
}

/// `registry`, which gives its ids as the `options` say.
pub(super) fn with_options<D: RegistryTables>(
    mut registry: SqlRegistry<D>,
    options: &RegistryOptions,
    calls: Calls,
) -> Result<SqlRegistry<D>, RegistryError> {
    if let Some(timeout) = calls.timeout {
        registry = registry.with_timeout(timeout);
    }
    if let Some((name, port)) = &options.host {
        registry = registry.with_host(name, port);
    }
    if let Some(duration) = options.lease {
        registry = registry.leased(duration);
    }
    if let Some((index, of)) = options.partition {
        registry = registry.partition(index, of)?;
    }
    if let Some(ids) = &options.worker_ids {
        registry = registry.worker_ids(ids.clone())?;
    }
    Ok(registry)
}

/// `source`, on the table `table`.
pub(super) fn on_table<D: SegmentTables>(
    source: SqlSegments<D>,
    table: Table,
    calls: Calls,
) -> Box<dyn SegmentAdmin> {
    let source = with_timeout(source, calls);
    match table {
        Table::Own => Box::new(source),
        Table::Leaf => Box::new(source.leaf()),
        Table::TinyId => Box::new(source.tinyid()),
    }
}

/// `source`, on the table of tinyid.
pub(super) fn tinyid<D: SegmentTables>(
    source: SqlSegments<D>,
    calls: Calls,
) -> SqlSegments<D, TinyId> {
    with_timeout(source, calls).tinyid()
}

fn with_timeout<D: SegmentTables>(source: SqlSegments<D>, calls: Calls) -> SqlSegments<D> {
    match calls.timeout {
        Some(timeout) => source.with_timeout(timeout),
        None => source,
    }
}

//! What the stores with SQL share.

use super::address::UNCLEAR;
use super::error::StoreError;
use super::kind::Calls;
use super::options::{RegistryOptions, Table};
use super::sql::{Error, Failure, Words};
use crate::registry::{RegistryError, RegistryTables, SqlRegistry};
use crate::segment::{Leaf, SegmentAdmin, SegmentTable, SegmentTables, SqlSegments, TinyId};
use crate::sync::Arc;

/// Nothing is looked for in the database while its address is read.
const WORDS: Words = Words { no_tables: "", foreign_tables: "", foreign_file: "", rights: "" };

/// The error of an address that cannot be used.
pub(super) fn refused(address: String, error: Error) -> StoreError {
    if address.ends_with(UNCLEAR) {
        // What the driver takes for the host or a parameter may be a part of the password.
        let problem = "if its user or password has one of @, /, ? and #, write these as %40, %2F, \
                       %3F and %23; the driver's error could show a part of the password";
        return StoreError::Address { address, problem: problem.to_owned(), source: None };
    }
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
pub(super) fn no_uid_generator(registry: String) -> RegistryError {
    let problem = "only MySQL and MariaDB have the table WORKER_NODE of UidGenerator; name the \
                   server with mysql://, or leave out uid_generator";
    RegistryError::Open { registry, problem: problem.to_owned(), source: None }
}

/// What a store with SQL gives clones of, so that each of them knows what the others have seen of
/// the tables: a table that was lost is not made anew by any.
#[derive(Debug)]
pub(super) struct Rows<D> {
    registry: SqlRegistry<D>,
    own: SqlSegments<D>,
    leaf: SqlSegments<D, Leaf>,
    tinyid: SqlSegments<D, TinyId>,
}

impl<D: RegistryTables + SegmentTables> Rows<D> {
    pub(super) fn of(database: D) -> Rows<D> {
        let own = SqlSegments::on(database.clone());
        let (leaf, tinyid) = (own.clone().leaf(), own.clone().tinyid());
        Rows { registry: SqlRegistry::on(database), own, leaf, tinyid }
    }

    /// The registry, which gives its ids as the `options` say.
    pub(super) fn registry(
        &self,
        options: &RegistryOptions,
        calls: Calls,
    ) -> Result<SqlRegistry<D>, RegistryError> {
        let mut registry = self.registry.clone();
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

    /// The source on this library's own table.
    pub(super) fn own(&self, calls: Calls) -> SqlSegments<D> {
        timed(&self.own, calls)
    }

    /// The source on tinyid's table.
    pub(super) fn tinyid(&self, calls: Calls) -> SqlSegments<D, TinyId> {
        timed(&self.tinyid, calls)
    }

    /// The source on `table`.
    pub(super) fn segments(&self, table: Table, calls: Calls) -> Arc<dyn SegmentAdmin> {
        match table {
            Table::Own => Arc::new(self.own(calls)),
            Table::Leaf => Arc::new(timed(&self.leaf, calls)),
            Table::TinyId => Arc::new(self.tinyid(calls)),
        }
    }
}

/// A clone of `source` whose calls take as long as `calls` may.
fn timed<D: SegmentTables, T: SegmentTable>(
    source: &SqlSegments<D, T>,
    calls: Calls,
) -> SqlSegments<D, T> {
    let source = source.clone();
    match calls.timeout {
        Some(timeout) => source.with_timeout(timeout),
        None => source,
    }
}

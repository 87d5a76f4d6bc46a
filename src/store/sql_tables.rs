//! What the stores with SQL share.

use super::kind::Calls;
use super::open_errors::no_cosid;
use super::options::{RegistryOptions, Table};
use crate::backend::sql::Client;
#[cfg(feature = "lend")]
use crate::lend::SqlLoans;
use crate::registry::{RegistryError, RegistryTables, SqlRegistry};
use crate::segment::{
    Leaf, SegmentAdmin, SegmentError, SegmentSource, SegmentTable, SegmentTables, SqlSegments,
    TinyId,
};
#[cfg(feature = "series")]
use crate::series::SqlSeries;
use crate::sync::Arc;

/// What a store with SQL gives clones of. All have clones of one client, so that each of them knows
/// what the others have seen of the tables: a table that was lost is not made anew by any.
#[derive(Debug)]
pub(super) struct SqlTables<D> {
    registry: SqlRegistry<D>,
    uidring: SqlSegments<D>,
    leaf: SqlSegments<D, Leaf>,
    tinyid: SqlSegments<D, TinyId>,
    #[cfg(feature = "lend")]
    loans: SqlLoans<D>,
    #[cfg(feature = "series")]
    series: SqlSeries<D>,
}

impl<D: RegistryTables + SegmentTables> SqlTables<D> {
    pub(super) fn of(database: D) -> SqlTables<D> {
        let client = Client::new(database);
        let uidring = SqlSegments::on(client.clone());
        let (leaf, tinyid) = (uidring.clone().leaf(), uidring.clone().tinyid());
        #[cfg(feature = "lend")]
        let loans = SqlLoans::on(client.clone());
        #[cfg(feature = "series")]
        let series = SqlSeries::on(client.clone());
        SqlTables {
            registry: SqlRegistry::on(client),
            uidring,
            leaf,
            tinyid,
            #[cfg(feature = "lend")]
            loans,
            #[cfg(feature = "series")]
            series,
        }
    }

    /// The registry, which gives its ids as the `options` say.
    pub(super) fn registry(
        &self,
        options: &RegistryOptions,
        calls: Calls,
    ) -> Result<SqlRegistry<D>, RegistryError> {
        let mut registry = self.registry.clone();
        set(&mut registry.client, calls);
        options.configure(&mut registry.config)?;
        Ok(registry)
    }

    /// The source on this library's own table.
    pub(super) fn uidring(&self, calls: Calls) -> SqlSegments<D> {
        source(&self.uidring, calls)
    }

    /// The source on tinyid's table.
    pub(super) fn tinyid(&self, calls: Calls) -> SqlSegments<D, TinyId> {
        source(&self.tinyid, calls)
    }

    /// The pools of worker ids that are lent.
    #[cfg(feature = "lend")]
    pub(super) fn loans(&self, calls: Calls) -> SqlLoans<D> {
        let mut loans = self.loans.clone();
        set(&mut loans.client, calls);
        loans
    }

    /// The series.
    #[cfg(feature = "series")]
    pub(super) fn series(&self, calls: Calls) -> SqlSeries<D> {
        let mut series = self.series.clone();
        set(&mut series.client, calls);
        series
    }

    /// The source on `table`.
    pub(super) fn segments(
        &self,
        table: Table,
        calls: Calls,
    ) -> Result<Arc<dyn SegmentAdmin>, SegmentError> {
        Ok(match table {
            Table::Own => Arc::new(self.uidring(calls)),
            Table::Leaf => Arc::new(source(&self.leaf, calls)),
            Table::TinyId => Arc::new(self.tinyid(calls)),
            Table::CosId => return Err(no_cosid(&self.uidring.name()).into()),
        })
    }
}

/// A clone of `source` whose calls do as `calls` say.
fn source<D: SegmentTables, T: SegmentTable>(
    source: &SqlSegments<D, T>,
    calls: Calls,
) -> SqlSegments<D, T> {
    let mut source = source.clone();
    set(&mut source.client, calls);
    source
}

fn set<D>(client: &mut Client<D>, calls: Calls) {
    client.may_create = calls.may_create;
    if let Some(timeout) = calls.timeout {
        client.timeout = timeout;
    }
}

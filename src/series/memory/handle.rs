//! [`Handle`]: the shared part of [`SeriesGenerator`](super::SeriesGenerator) and of numbers that
//! are counted in a transaction.

use super::scope::Scope;
use super::scopes::Scopes;
use super::series_cache::CachedSeries;
use super::shared::Shared;
use crate::series::error::SeriesError;
use crate::series::form::date::Date;
use crate::series::form::period::Period;
use crate::series::store::SeriesVersion;
use crate::series::store::counter::Counter;
use crate::sync::Arc;

/// One scope of a series, and the loader that keeps it supplied.
#[derive(Clone)]
pub(crate) struct Handle {
    pub shared: Arc<Shared>,
    pub scopes: Arc<Scopes>,
    pub scope: Arc<Scope>,
}

impl Handle {
    /// The name of the series.
    pub fn name(&self) -> &str {
        &self.scopes.series
    }

    /// The series as this process knows it.
    pub fn cached_series(&self) -> Result<Arc<CachedSeries>, SeriesError> {
        self.scope.check()?;
        Ok(self.scopes.cached.load_full())
    }

    /// Fails unless the version can write the numbers of this scope and day.
    pub fn check_text(&self, version: &SeriesVersion, date: Date) -> Result<(), SeriesError> {
        let pattern = version.definition.pattern();
        pattern.check_date(date)?;
        Ok(pattern.check_scope(&self.scope.name)?)
    }

    pub fn counter<'a>(&'a self, version: &SeriesVersion, period: Period) -> Counter<'a> {
        let (series, scope) = (self.name(), &*self.scope.name);
        Counter { series, version: version.number, period, scope }
    }
}

//! [`KnownSeries`], what this process knows of series that it has read by the program's own
//! transactions.

use std::collections::HashMap;

use arc_swap::ArcSwap;

use super::series_cache::CachedSeries;
use super::shared::in_ms;
use crate::clock::{Clock, SystemClock};
use crate::series::error::SeriesError;
use crate::series::store::SeriesRecord;
use crate::sync::Arc;

/// Series, as a transaction of the program's read them last.
///
/// It is read and changed without a lock: in a forked process, one that was held at the fork is
/// never released. And it has no connection that such a process could not use.
#[derive(Debug, Default)]
pub(crate) struct KnownSeries(ArcSwap<HashMap<Box<str>, Arc<CachedSeries>>>);

impl KnownSeries {
    /// The series of this name, if it was read.
    pub fn get(&self, name: &str) -> Option<Arc<CachedSeries>> {
        self.0.load().get(name).cloned()
    }

    /// Remembers what a transaction has read.
    pub fn insert(&self, record: SeriesRecord) -> Result<Arc<CachedSeries>, SeriesError> {
        let name: Box<str> = record.name.as_str().into();
        let cached = Arc::new(CachedSeries::of(record)?);
        self.0.rcu(|known| {
            let mut known = HashMap::clone(known);
            known.insert(name.clone(), Arc::clone(&cached));
            known
        });
        Ok(cached)
    }

    /// The time, in milliseconds since 1970.
    pub fn now_ms() -> i64 {
        in_ms(SystemClock.now())
    }
}

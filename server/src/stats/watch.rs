//! All statistics for operators, and the state of the database.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime};

use crate::stats::demand::Demand;
use crate::stats::grants::Grants;
use crate::stats::loads::Loads;
use crate::stats::rates::{Rates, TagRates};
use crate::stats::readings::Readings;

/// The statistics.
#[derive(Debug)]
pub(crate) struct Watch {
    pub(crate) loads: Loads,
    pub(crate) rates: Rates,
    pub(crate) readings: Readings,
    pub(crate) tag_rates: TagRates,
    pub(crate) series_rates: TagRates,
    pub(crate) demand: Demand,
    /// What the registries of worker ids answer.
    pub(crate) uid_grants: Grants,
    pub(crate) snowflake_grants: Grants,
    pub(crate) started: SystemTime,
    /// When the database last went away or came back.
    since: Mutex<SystemTime>,
}

impl Watch {
    pub(crate) fn new() -> Watch {
        let (loads, rates, readings, demand) = Default::default();
        let (uid_grants, snowflake_grants) = Default::default();
        let rates_of = || TagRates::new(Instant::now());
        let (tag_rates, series_rates) = (rates_of(), rates_of());
        let (started, since) = (SystemTime::now(), Mutex::new(SystemTime::now()));
        Watch {
            loads,
            rates,
            readings,
            tag_rates,
            series_rates,
            demand,
            uid_grants,
            snowflake_grants,
            started,
            since,
        }
    }

    /// Records that the database went away or came back.
    pub(crate) fn database_changed(&self) {
        *self.lock() = SystemTime::now();
    }

    /// When the database last went away or came back.
    pub(crate) fn database_since(&self) -> SystemTime {
        *self.lock()
    }

    fn lock(&self) -> MutexGuard<'_, SystemTime> {
        // No code panics while it holds the lock.
        self.since.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

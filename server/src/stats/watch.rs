//! All statistics for operators, and the state of the database.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use crate::stats::asked::Asked;
use crate::stats::loads::Loads;
use crate::stats::rates::{Rates, TagRates};
use crate::stats::readings::Readings;

/// How often the end of a lease is read. Each reading reads the rows of all worker ids.
const READ_LEASE: Duration = Duration::from_secs(10);

/// The statistics.
#[derive(Debug)]
pub(crate) struct Watch {
    pub(crate) loads: Loads,
    pub(crate) rates: Rates,
    pub(crate) readings: Readings,
    pub(crate) tag_rates: TagRates,
    pub(crate) series_rates: TagRates,
    pub(crate) asked: Asked,
    pub(crate) started: SystemTime,
    since: Mutex<Since>,
}

#[derive(Clone, Copy, Debug)]
struct Since {
    /// When the database last went away or came back.
    database: SystemTime,
    /// When the lease of the worker id ends, if it is leased.
    lease_until: Option<SystemTime>,
    lease_read: Option<Instant>,
}

impl Watch {
    pub(crate) fn new() -> Watch {
        let now = SystemTime::now();
        let since = Mutex::new(Since { database: now, lease_until: None, lease_read: None });
        let (loads, rates, readings, asked) = Default::default();
        let rates_of = || TagRates::new(Instant::now());
        let (tag_rates, series_rates) = (rates_of(), rates_of());
        Watch { loads, rates, tag_rates, series_rates, readings, asked, started: now, since }
    }

    /// Records that the database went away or came back.
    pub(crate) fn database_changed(&self) {
        self.lock().database = SystemTime::now();
    }

    /// When the database last went away or came back.
    pub(crate) fn database_since(&self) -> SystemTime {
        self.lock().database
    }

    /// Whether the end of the lease is due to be read. If so, sets the next time.
    pub(crate) fn lease_is_due(&self) -> bool {
        let mut since = self.lock();
        let is_due = since.lease_read.is_none_or(|read| read.elapsed() >= READ_LEASE);
        if is_due {
            since.lease_read = Some(Instant::now());
        }
        is_due
    }

    pub(crate) fn set_lease_until(&self, until: Option<SystemTime>) {
        self.lock().lease_until = until;
    }

    pub(crate) fn lease_until(&self) -> Option<SystemTime> {
        self.lock().lease_until
    }

    fn lock(&self) -> MutexGuard<'_, Since> {
        // No code panics while it holds the lock.
        self.since.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! [`Builder`], the configuration of [`Series`].

use std::fmt;
use std::time::Duration;

use super::catalog::Series;
use crate::clock::{Clock, SystemClock};
use crate::segment::{Builder as SegmentsBuilder, SegmentError, Segments};
use crate::series::error::SeriesError;
use crate::series::memory::counter_source::CounterSource;
use crate::series::memory::series_cache::SeriesCache;
use crate::series::memory::shared::Shared;
use crate::store::Store;
use crate::sync::Arc;

impl Series {
    /// Starts a configuration.
    pub fn builder() -> Builder {
        Builder::new()
    }
}

/// The configuration of [`Series`].
#[must_use]
#[derive(Debug)]
pub struct Builder {
    store: Option<Store>,
    clock: Option<DebugClock>,
    segments: SegmentsBuilder,
    refresh: Duration,
    rest: Duration,
}

/// A clock has nothing to show.
struct DebugClock(Arc<dyn Clock>);

impl fmt::Debug for DebugClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}

/// How long a range should last, unless it is set.
const REFRESH: Duration = Duration::from_secs(15 * 60);
/// How long a scope may give no number before it rests, unless it is set.
const REST: Duration = Duration::from_secs(10 * 60);

impl Builder {
    fn new() -> Builder {
        let segments = Segments::builder();
        Builder { store: None, clock: None, segments, refresh: REFRESH, rest: REST }
    }

    /// The store that the series are in: a SQLite file, or a server of PostgreSQL, MySQL or
    /// MariaDB. There is no default.
    pub fn store(self, store: &Store) -> Builder {
        Builder { store: Some(store.clone()), ..self }
    }

    /// The clock that says which day it is: the system's unless set.
    pub fn clock(self, clock: impl Clock) -> Builder {
        Builder { clock: Some(DebugClock(Arc::new(clock))), ..self }
    }

    /// How long a take waits when no numbers are in memory, before it fails: one second unless set.
    pub fn max_wait(self, max_wait: Duration) -> Builder {
        Builder { segments: self.segments.max_wait(max_wait), ..self }
    }

    /// How much demand is kept in memory: numbers for at least this time at the present rate. 10
    /// seconds unless set.
    pub fn ahead(self, ahead: Duration) -> Builder {
        Builder { segments: self.segments.ahead(ahead), ..self }
    }

    /// How often a busy scope asks the store: about once in this time, 15 minutes unless set.
    pub fn refresh(self, refresh: Duration) -> Builder {
        Builder { segments: self.segments.refresh(refresh), refresh, ..self }
    }

    /// The most numbers of a scope in memory, which are lost if the process is killed: as many as
    /// `ahead` and `refresh` ask for unless set. A larger step of the series takes precedence.
    pub fn max_in_memory(self, max_in_memory: u64) -> Builder {
        Builder { segments: self.segments.max_in_memory(max_in_memory), ..self }
    }

    /// How many loads of different scopes run at once: 4 unless set.
    pub fn loads(self, loads: usize) -> Builder {
        Builder { segments: self.segments.loads(loads), ..self }
    }

    /// How long a scope may give no number before it is given up, and what is left of its range
    /// goes back: 10 minutes unless set, and at least a second. It may take half as long again.
    pub fn rest(self, rest: Duration) -> Builder {
        // The loader looks twice in this time.
        Builder { rest: rest.max(Duration::from_secs(1)), ..self }
    }

    /// How long a shutdown waits until everything left has been given back: 15 seconds unless set.
    pub fn shutdown_deadline(self, shutdown_deadline: Duration) -> Builder {
        Builder { segments: self.segments.shutdown_deadline(shutdown_deadline), ..self }
    }

    /// Starts the loader. Where the store is a file, it is made if it does not exist.
    ///
    /// ```
    /// # use uidring::series::Series;
    /// let error = Series::builder().build().unwrap_err();
    /// assert_eq!(error.to_string(), "series need a store: call Builder::store");
    /// ```
    ///
    /// # Errors
    ///
    /// [`SeriesError::NoStore`], [`SeriesError::Storage`] when the store is of a kind that has no
    /// series, or a file that cannot be used, and [`SeriesError::Load`] when no thread can be
    /// started.
    pub fn build(self) -> Result<Series, SeriesError> {
        let store = self.store.ok_or(SeriesError::NoStore)?.series()?;
        let clock = self.clock.map_or_else(|| Arc::new(SystemClock) as Arc<dyn Clock>, |c| c.0);
        let cache = Arc::new(SeriesCache::new(store));
        let source = CounterSource {
            cache: Arc::clone(&cache),
            clock: Arc::clone(&clock),
            refresh: self.refresh,
        };
        let segments = self.segments.rest(self.rest).supplier(source).build();
        let segments = segments.map_err(|error| SeriesError::Load(SegmentError::other(error)))?;
        Ok(Series::new(Shared { cache, segments, clock }))
    }
}

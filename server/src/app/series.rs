//! The series of the database. They are opened by the first request for one, so that a service
//! whose clients use none asks the database for nothing more.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use uidring::segment::SegmentError;
use uidring::series::{Series, SeriesError, SeriesGenerator};
use uidring_args::Db;

use crate::config::db;
use crate::stats::rates::TagCount;
use crate::stats::series_use::{SeriesTakes, SeriesUse};
use crate::stats::trouble::{Cause, Trouble};

/// The kinds of stores that have series.
const SCHEMES: [&str; 3] = ["sqlite", "postgres", "mysql"];

/// The series of the database.
pub(crate) struct AppSeries {
    /// How many loads of numbers may run at once.
    loads: usize,
    /// Where they are, once the database has answered.
    db: OnceLock<Db>,
    opened: OnceLock<Series>,
    /// Held by the one request that opens them.
    opening: Mutex<()>,
    /// The series that any thread has used.
    used: Mutex<BTreeMap<Box<str>, UsedSeries>>,
    /// Requests for series that were not used before. Their names are not stored, so made-up names
    /// do not use up the memory.
    first_uses: SeriesUse,
}

/// A series that this process has used.
#[derive(Clone)]
pub(crate) struct UsedSeries {
    pub(crate) generator: SeriesGenerator,
    pub(crate) takes: Arc<SeriesUse>,
}

/// The state of a series that this process has used.
pub(crate) struct SeriesState {
    pub(crate) name: Box<str>,
    /// The scopes that this process counts in.
    pub(crate) scopes: usize,
    pub(crate) takes: SeriesTakes,
}

/// Why a series gives nothing.
#[derive(Debug)]
pub(crate) enum NoSeries {
    /// The database has not answered yet.
    NotReady,
    /// The store is of a kind that has none.
    NotHere,
    Error(SeriesError),
}

impl NoSeries {
    /// What is wrong with the database, if that is the reason.
    pub(crate) fn trouble(&self) -> Option<Trouble> {
        match self {
            NoSeries::Error(SeriesError::Storage(error)) => {
                Some(Trouble::of(&SegmentError::Storage(error.clone())))
            }
            NoSeries::Error(SeriesError::Load(error)) => Some(Trouble::of(error)),
            NoSeries::Error(SeriesError::Take(error)) => Trouble::of_take(*error),
            _ => None,
        }
    }
}

impl From<SeriesError> for NoSeries {
    fn from(error: SeriesError) -> NoSeries {
        NoSeries::Error(error)
    }
}

/// Locks a mutex. A poisoned lock is accepted, because no panic can leave this data half written.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl AppSeries {
    pub(crate) fn new(loads: usize) -> AppSeries {
        let (db, opened) = (OnceLock::new(), OnceLock::new());
        let (opening, used, first_uses) = Default::default();
        AppSeries { loads, db, opened, opening, used, first_uses }
    }

    /// Sets where the series are. A file is there.
    pub(crate) fn set_db(&self, db: Db) {
        let _ = self.db.set(db);
    }

    /// All series. The first call may block on a file.
    pub(crate) fn all(&self) -> Result<&Series, NoSeries> {
        if let Some(opened) = self.opened.get() {
            return Ok(opened);
        }
        let db = self.db.get().ok_or(NoSeries::NotReady)?;
        if !SCHEMES.iter().any(|scheme| db::is_of(db, scheme)) {
            return Err(NoSeries::NotHere);
        }
        let _opening = lock(&self.opening);
        if let Some(opened) = self.opened.get() {
            return Ok(opened);
        }
        // A lost file is not replaced by an empty one.
        let store = db::existing(db).map_err(|_| NoSeries::NotReady)?;
        let opened = Series::builder().store(&store).loads(self.loads).build()?;
        Ok(self.opened.get_or_init(|| opened))
    }

    /// A series that any thread has used before.
    pub(crate) fn used(&self, name: &str) -> Option<UsedSeries> {
        lock(&self.used).get(name).cloned()
    }

    /// The series of this name. Blocks on the database if it was not used before.
    pub(crate) fn find(&self, name: &str) -> Result<UsedSeries, NoSeries> {
        if let Some(used) = self.used(name) {
            return Ok(used);
        }
        let found = self.all()?.get(name).map_err(NoSeries::from);
        self.first_uses.note(0, found.as_ref().err().and_then(NoSeries::trouble));
        let found = UsedSeries { generator: found?, takes: Arc::default() };
        Ok(lock(&self.used).entry(name.into()).or_insert(found).clone())
    }

    /// All series that this process has used, sorted.
    pub(crate) fn states(&self) -> Vec<SeriesState> {
        let used = lock(&self.used).clone();
        let state = |(name, used): (Box<str>, UsedSeries)| {
            let (scopes, takes) = (used.generator.status().scopes, used.takes.read());
            SeriesState { name, scopes, takes }
        };
        used.into_iter().map(state).collect()
    }

    /// How many numbers of each series were taken.
    pub(crate) fn counts(&self) -> HashMap<Box<str>, TagCount> {
        let used = lock(&self.used);
        let count = |used: &UsedSeries| TagCount { here: used.takes.read().taken, to_clients: 0 };
        used.iter().map(|(name, used)| (name.clone(), count(used))).collect()
    }

    /// One entry for each series that clients have asked for since `since`: why no numbers can be
    /// taken, or `None` if they can.
    pub(crate) fn asked_since(&self, since: Instant) -> Vec<Option<Cause>> {
        // A series that was found says nothing of its numbers.
        let first_uses = Some(self.first_uses.read()).filter(|takes| takes.trouble.is_some());
        let used = lock(&self.used);
        let takes = used.values().map(|used| used.takes.read()).chain(first_uses);
        let asked = takes.filter(|takes| takes.asked.is_some_and(|asked| asked >= since));
        asked.map(|takes| takes.trouble.map(|trouble| trouble.cause)).collect()
    }

    /// Gives unused numbers back. Blocks on the database.
    pub(crate) fn give_back(&self) {
        if let Some(opened) = self.opened.get()
            && let Err(error) = opened.clone().shutdown()
        {
            tracing::warn!(%error, "not all numbers of series were given back");
        }
    }
}

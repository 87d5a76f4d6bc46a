//! The series of the database. They are opened by the first request for one, so that a service
//! whose clients use none asks the database for nothing more.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use uidring::segment::SegmentError;
use uidring::series::{Series, SeriesError, SeriesGenerator, TightCounter};
use uidring_args::Db;

use crate::app::NotReady;
use crate::app::supply::{Supply, in_time};
use crate::config::db::{self, StoreFailure};
use crate::stats::loads::LONGEST_PAUSE;
use crate::stats::rates::TagCount;
use crate::stats::series_use::{SeriesTakes, SeriesUse};
use crate::stats::trouble::{Cause, Trouble};

/// The kinds of stores that have series.
const SCHEMES: [&str; 3] = ["sqlite", "postgres", "mysql"];

/// The series of the database.
pub(crate) struct AppSeries {
    /// How many loads of numbers may run at once.
    loads: usize,
    /// The most numbers of a scope in memory.
    max_in_memory: u64,
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
    /// Whether its numbers are given.
    pub(crate) supply: Supply,
    /// Whether it gives numbers from memory because the database is away for all.
    pub(crate) is_shared: bool,
    /// How many periods of scopes have given all their numbers, as far as this process knows.
    pub(crate) full_count: usize,
    /// How many have given 80 % of them, and not all.
    pub(crate) nearly_full_count: usize,
    /// The first ones of both, as people are told of them.
    pub(crate) full: Vec<String>,
    pub(crate) nearly_full: Vec<String>,
}

impl SeriesState {
    /// `source` is why the database cannot be used, if it cannot.
    fn new(name: Box<str>, used: &UsedSeries, source: Option<&Trouble>) -> SeriesState {
        let takes = used.takes.read();
        let status = used.generator.status();
        let told = |is_full: bool| -> Vec<String> {
            let counters = status.tight.iter().filter(|counter| counter.is_full() == is_full);
            let told = counters.map(|TightCounter { scope, period, .. }| match scope.as_str() {
                "" => format!("{name} in {period}"),
                scope => format!("{name} in {period}, scope {scope}"),
            });
            told.collect()
        };
        let (full, nearly_full) = (told(true), told(false));
        let (mut in_memory, mut until) = (0_u64, None);
        let is_quiet = takes.asked.is_none_or(|asked| asked.elapsed() > LONGEST_PAUSE);
        let is_quiet = is_quiet && source.is_none();
        // Of a scope without numbers in memory, and of another one.
        let (mut out, mut failing) = (None, None);
        used.generator.each_scope(|status| {
            let numbers = &status.numbers;
            in_memory = in_memory.saturating_add(numbers.in_memory);
            let failure = numbers.last_failure.as_deref();
            let Some(trouble) = failure.and_then(trouble_of_load) else { return };
            // Of what passes by itself, nobody has asked since.
            let is_old = is_quiet && numbers.failing_for > Some(LONGEST_PAUSE);
            if is_old && trouble.may_be_over() {
                return;
            }
            if numbers.in_memory == 0 {
                out.get_or_insert(trouble);
            } else {
                failing.get_or_insert(trouble);
                let ends = numbers.empty_in;
                until = until.map_or(ends, |first: Duration| ends.map(|end| first.min(end)));
            }
        });
        let is_shared = failing.is_none() && source.is_some();
        let supply = if let Some(why) = takes.trouble.clone().or(out) {
            Supply::NotGiving(why)
        } else if let Some(why) = failing.or_else(|| source.cloned()) {
            match in_memory {
                0 => Supply::NotGiving(why),
                _ => Supply::FromMemory { until: in_time(until), why },
            }
        } else {
            Supply::Giving
        };
        let (full_count, nearly_full_count) = (status.full, status.nearly_full);
        SeriesState {
            scopes: status.scopes,
            takes,
            supply,
            is_shared,
            full_count,
            nearly_full_count,
            full,
            nearly_full,
            name,
        }
    }

    /// Whether the counter of the series gave numbers again.
    pub(crate) fn went_back(&self) -> bool {
        self.supply.why().is_some_and(|why| why.cause == Cause::WentBack)
    }

    /// The state of the series in one word.
    pub(crate) fn state_name(&self) -> &'static str {
        match &self.supply {
            _ if self.went_back() => "went-back",
            Supply::Giving if !self.full.is_empty() => "full",
            Supply::Giving if !self.nearly_full.is_empty() => "nearly-full",
            supply => supply.state_name(),
        }
    }
}

/// What is wrong with a scope whose numbers could not be loaded, unless its period is closed, full
/// or changed.
fn trouble_of_load(failure: &SegmentError) -> Option<Trouble> {
    let of_series = match failure {
        SegmentError::Series { error, .. } => error.downcast_ref::<SeriesError>(),
        _ => None,
    };
    match of_series {
        Some(error) => SeriesFailure::Error(error.clone()).trouble(),
        None => Some(Trouble::of(failure)),
    }
}

/// Why a series gives nothing.
#[derive(Debug)]
pub(crate) enum SeriesFailure {
    /// The database has not answered yet.
    NotReady(NotReady),
    /// The store is of a kind that has none.
    NotHere,
    Error(SeriesError),
}

impl SeriesFailure {
    /// What is wrong with a series that was used before. Only what a client did wrong is nothing,
    /// and what the next request mends.
    pub(crate) fn trouble(&self) -> Option<Trouble> {
        match self {
            SeriesFailure::Error(error @ SeriesError::NoSuchSeries { .. }) => {
                Some(Trouble::with_cause(Cause::NoSuchTag, error))
            }
            none => none.trouble_of_new(),
        }
    }

    /// The same of a series that was not used before, whose name a client may have made up.
    pub(crate) fn trouble_of_new(&self) -> Option<Trouble> {
        let SeriesFailure::Error(error) = self else { return None };
        match error {
            SeriesError::Storage(error) => Some(Trouble::of(&SegmentError::Storage(error.clone()))),
            SeriesError::Load(error) => Some(Trouble::of(error)),
            SeriesError::Take(error) => Trouble::of_take(*error),
            SeriesError::NoSuchSeries { .. }
            | SeriesError::BadName { .. }
            | SeriesError::BadRequest { .. }
            | SeriesError::Definition(_)
            | SeriesError::Scope(_)
            | SeriesError::Format(_)
            | SeriesError::Differs { .. }
            | SeriesError::BadChange { .. }
            | SeriesError::Gapless { .. }
            | SeriesError::NotGapless { .. }
            | SeriesError::Closed { .. }
            | SeriesError::NotClosable { .. }
            | SeriesError::Full { .. }
            | SeriesError::Changed { .. }
            | SeriesError::Loading { .. } => None,
            SeriesError::WentBack { .. } => Some(Trouble::with_cause(Cause::WentBack, error)),
            SeriesError::Clock { .. } => Some(Trouble::with_cause(Cause::ClockUnset, error)),
            error => Some(Trouble::with_cause(Cause::Unknown, error)),
        }
    }
}

impl From<SeriesError> for SeriesFailure {
    fn from(error: SeriesError) -> SeriesFailure {
        SeriesFailure::Error(error)
    }
}

/// Locks a mutex. A poisoned lock is accepted, because no panic can leave this data half written.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl AppSeries {
    pub(crate) fn new(loads: usize, max_in_memory: u64) -> AppSeries {
        let (db, opened) = (OnceLock::new(), OnceLock::new());
        let (opening, used, first_uses) = Default::default();
        AppSeries { loads, max_in_memory, db, opened, opening, used, first_uses }
    }

    /// Sets where the series are. A file is there.
    pub(crate) fn set_db(&self, db: Db) {
        let _ = self.db.set(db);
    }

    /// All series. The first call may block on a file.
    pub(crate) fn open(&self) -> Result<&Series, SeriesFailure> {
        if let Some(opened) = self.opened.get() {
            return Ok(opened);
        }
        let db = self.db.get().ok_or(SeriesFailure::NotReady(NotReady(Cause::NotAsked)))?;
        if !SCHEMES.iter().any(|scheme| db::is_of(db, scheme)) {
            return Err(SeriesFailure::NotHere);
        }
        let _opening = lock(&self.opening);
        if let Some(opened) = self.opened.get() {
            return Ok(opened);
        }
        // A lost file is not replaced by an empty one.
        let store = db::existing(db)
            .map_err(|error| SeriesFailure::NotReady(NotReady(StoreFailure::from(error).cause)))?;
        let opened = Series::builder().store(&store).loads(self.loads);
        let opened = opened.max_in_memory(self.max_in_memory).build()?;
        Ok(self.opened.get_or_init(|| opened))
    }

    /// A series that any thread has used before.
    pub(crate) fn used(&self, name: &str) -> Option<UsedSeries> {
        lock(&self.used).get(name).cloned()
    }

    /// The series of this name. Blocks on the database if it was not used before.
    pub(crate) fn find(&self, name: &str) -> Result<UsedSeries, SeriesFailure> {
        if let Some(used) = self.used(name) {
            return Ok(used);
        }
        let found = self.open()?.get(name).map_err(SeriesFailure::from);
        self.first_uses.record(0, found.as_ref().err().and_then(SeriesFailure::trouble_of_new));
        let found = UsedSeries { generator: found?, takes: Arc::default() };
        Ok(lock(&self.used).entry(name.into()).or_insert(found).clone())
    }

    /// All series that this process has used, sorted. `source` is why the database cannot be used,
    /// if it cannot.
    pub(crate) fn states(&self, source: Option<&Trouble>) -> Vec<SeriesState> {
        let used = lock(&self.used).clone();
        used.into_iter().map(|(name, used)| SeriesState::new(name, &used, source)).collect()
    }

    /// Why series that were not used before give nothing, if they do not.
    pub(crate) fn first_uses(&self) -> Option<Trouble> {
        self.first_uses.read().trouble
    }

    /// Records that the database has answered a probe.
    pub(crate) fn database_answered(&self) {
        self.first_uses.database_answered();
        lock(&self.used).values().for_each(|used| used.takes.database_answered());
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

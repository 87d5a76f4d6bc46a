//! [`SeriesStatus`] and [`ScopeStatus`], the state of a scope.

use super::SeriesGenerator;
use crate::segment::SegmentStatus;
use crate::series::error::SeriesError;
use crate::series::form::period::Period;
use crate::series::memory::handle::Handle;
use crate::series::memory::nearly_full::{TightCounter, is_tight};

/// The most counters in a status.
const MOST_IN_STATUS: usize = 100;

/// The state of one scope of a series in this process, from
/// [`SeriesGenerator::status`](super::SeriesGenerator::status).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SeriesStatus {
    /// The period that it counts in. `None` before its first number, while it rests, and for a
    /// gapless series, whose numbers are counted in the store.
    pub period: Option<Period>,
    /// The numbers of that period in this process.
    pub numbers: Option<SegmentStatus>,
    /// Why takes fail. `None` while numbers are given or on their way. Where the next take has to
    /// open the period, this is why the last one could not.
    pub obstacle: Option<SeriesError>,
    /// How many scopes of the series this process has.
    pub scopes: usize,
    /// How many periods of scopes of the series have given all numbers that fit the pattern, as far
    /// as this process knows. Those that are over or closed do not count.
    pub full: usize,
    /// How many have given 80 % of them, and not all.
    pub nearly_full: usize,
    /// The fullest of both, a hundred at most.
    pub tight: Vec<TightCounter>,
}

/// A scope whose numbers are in memory, from
/// [`SeriesGenerator::each_scope`](super::SeriesGenerator::each_scope).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ScopeStatus {
    /// The scope; empty if none was named.
    pub scope: String,
    /// The period that it counts in.
    pub period: Period,
    /// The numbers of that period in this process.
    pub numbers: SegmentStatus,
    /// The largest number that fits the pattern.
    pub largest: u64,
}

impl ScopeStatus {
    /// Whether the period has given all its numbers.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.numbers.in_memory == 0 && self.numbers.last_number >= Some(self.largest)
    }

    /// Whether this process has loaded 80 % of all numbers of the period, or more.
    #[must_use]
    pub fn is_nearly_full(&self) -> bool {
        self.numbers.last_number.is_some_and(|last| is_tight(last, self.largest))
    }
}

impl SeriesGenerator {
    /// The state of this scope in this process.
    #[must_use]
    pub fn status(&self) -> SeriesStatus {
        let Handle { shared, scopes, scope } = &self.handle;
        let has_ended = shared.segments.has_ended();
        // What was given up while it rested says nothing of the next take.
        let open = scope.find_counting(shared.clock.now());
        let open = open.filter(|open| has_ended || !open.numbers.is_retired());
        // As for `scope`.
        let is_forked = shared.segments.is_forked();
        let mut tight = if is_forked {
            Vec::new()
        } else {
            shared.cache.nearly_full_counters(&scopes.cached.load(), shared.now_ms())
        };
        let full = tight.iter().filter(|counter| counter.is_full()).count();
        let nearly_full = tight.len() - full;
        tight.truncate(MOST_IN_STATUS);
        SeriesStatus {
            obstacle: scope.obstacle(shared, open.as_ref()),
            period: open.as_ref().map(|open| open.period()),
            numbers: open.map(|open| open.numbers.status()),
            scopes: if is_forked { 0 } else { scopes.len() },
            full,
            nearly_full,
            tight,
        }
    }

    /// Calls `look` with the state of each scope of the series whose numbers of the present period
    /// this process has loaded, in no particular order. It does not ask the store.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::series::{Series, SeriesDefinition};
    /// # let folder = tempfile::tempdir()?;
    /// # let store = uidring::Store::open(folder.path().join("uidring.db"))?;
    /// # let series = Series::builder().store(&store).build()?;
    /// let parcels = series.create("parcels", SeriesDefinition::new("{scope}-{n:1}")?)?;
    /// parcels.scope("lima").take_n(9).for_each(drop);
    /// let mut full = Vec::new();
    /// parcels.each_scope(|status| {
    ///     if status.is_full() {
    ///         full.push(status.scope);
    ///     }
    /// });
    /// assert_eq!(full, ["lima"]);
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn each_scope(&self, mut look: impl FnMut(ScopeStatus)) {
        let Handle { shared, scopes, .. } = &self.handle;
        // In a forked process another thread may have held the lock of the scopes.
        if shared.segments.is_forked() {
            return;
        }
        let now = shared.clock.now();
        for scope in scopes.all() {
            if let Some(open) = scope.find_counting(now).filter(|open| !open.numbers.is_retired()) {
                look(ScopeStatus {
                    scope: scope.name.to_string(),
                    period: open.period(),
                    numbers: open.numbers.status(),
                    largest: open.largest(),
                });
            }
        }
    }
}

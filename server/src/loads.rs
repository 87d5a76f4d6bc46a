//! What became of each call for numbers to the database.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use uidring::segment::{Segment, SegmentError, SegmentSource, Tag, TagRecord};

use crate::db::with_causes;

/// The upper ends of the histogram's buckets, in milliseconds.
const BOUNDS_MS: [u64; 12] = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000];

/// A call that fails is tried again within this time, if anybody needs its numbers.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// For whom numbers are loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// The service hands them out one by one.
    Here,
    /// A client hands them out.
    Client,
}

/// The calls of this process.
#[derive(Debug, Default)]
pub(crate) struct Loads {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Only tags of which numbers were loaded: what clients invent does not fill the memory.
    tags: BTreeMap<Box<str>, TagLoads>,
    totals: LoadTotals,
    /// When a call failed last.
    failed_at: Option<Instant>,
}

/// The calls for all tags.
#[derive(Clone, Debug, Default)]
pub(crate) struct LoadTotals {
    pub(crate) loads: u64,
    /// Calls to which the database had no answer.
    pub(crate) failures: u64,
    /// Whether the last call was one of those, and the database has not answered another for long.
    pub(crate) is_failing: bool,
    pub(crate) seconds: f64,
    /// Each counts its own calls alone.
    buckets: [u64; BOUNDS_MS.len() + 1],
}

/// The calls for one tag.
#[derive(Clone, Debug, Default)]
pub(crate) struct TagLoads {
    pub(crate) loads: u64,
    pub(crate) failures: u64,
    /// When numbers came, how many, and how long that took.
    pub(crate) last: Option<Last>,
    /// Why the last call failed, unless one has succeeded since.
    pub(crate) problem: Option<String>,
    /// Numbers in segments that went to clients.
    pub(crate) to_clients: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Last {
    pub(crate) at: SystemTime,
    pub(crate) took: Duration,
    pub(crate) count: u64,
}

impl LoadTotals {
    /// The bound in seconds, and how many calls took no longer.
    pub(crate) fn buckets(&self) -> Vec<(f64, u64)> {
        let mut sum = 0;
        let bounds = BOUNDS_MS.iter().map(|&ms| Duration::from_millis(ms).as_secs_f64());
        let bounds = bounds.chain([f64::INFINITY]).zip(self.buckets);
        let buckets = bounds.map(|(bound, count)| {
            sum += count;
            (bound, sum)
        });
        buckets.collect()
    }

    fn add(&mut self, took: Duration) {
        self.seconds += took.as_secs_f64();
        let bucket = BOUNDS_MS.partition_point(|&ms| Duration::from_millis(ms) < took);
        self.buckets[bucket] += 1;
    }
}

impl Loads {
    pub(crate) fn totals(&self) -> LoadTotals {
        self.lock().totals.clone()
    }

    /// Those of each tag, in the order of tags.
    pub(crate) fn tags(&self) -> BTreeMap<Box<str>, TagLoads> {
        self.lock().tags.clone()
    }

    /// How many numbers of each tag went to clients in segments.
    pub(crate) fn to_clients(&self) -> Vec<(Box<str>, u64)> {
        let tags = &self.lock().tags;
        tags.iter().map(|(tag, loads)| (tag.clone(), loads.to_clients)).collect()
    }

    /// The database has answered, if not to a call for numbers.
    pub(crate) fn database_answered(&self) {
        let State { totals, failed_at, .. } = &mut *self.lock();
        if failed_at.is_some_and(|failed_at| failed_at.elapsed() > LONGEST_PAUSE) {
            totals.is_failing = false;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it is locked.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what the call changes for the tag, if that is worth an event.
    fn note(
        &self,
        tag: &str,
        of: Use,
        took: Duration,
        result: &Result<Segment, SegmentError>,
    ) -> Option<Change> {
        let State { tags, totals, failed_at } = &mut *self.lock();
        totals.add(took);
        match result {
            Ok(segment) => {
                totals.loads += 1;
                totals.is_failing = false;
                if !tags.contains_key(tag) {
                    tags.insert(tag.into(), TagLoads::default());
                }
                let loads = tags.get_mut(tag)?;
                loads.loads += 1;
                loads.last = Some(Last { at: SystemTime::now(), took, count: segment.count });
                if of == Use::Client {
                    loads.to_clients += segment.count;
                }
                loads.problem.take().map(|_| Change::Succeeds)
            }
            Err(error) => {
                let is_away = error.is_transient();
                totals.is_failing = is_away;
                totals.failures += u64::from(is_away);
                *failed_at = Some(Instant::now());
                let loads = tags.get_mut(tag)?;
                loads.failures += 1;
                let problem = with_causes(error);
                let before = loads.problem.replace(problem.clone());
                before.is_none().then_some(Change::Fails(problem))
            }
        }
    }
}

/// What a call changes for a tag.
#[derive(Debug, PartialEq, Eq)]
enum Change {
    Fails(String),
    Succeeds,
}

/// A source whose calls are noted.
pub(crate) struct Noted {
    pub(crate) source: Arc<dyn SegmentSource>,
    pub(crate) loads: &'static Loads,
    pub(crate) of: Use,
}

impl SegmentSource for Noted {
    fn name(&self) -> String {
        self.source.name()
    }

    fn load(&self, tag: &str, count: Option<u64>) -> Result<Segment, SegmentError> {
        let start = Instant::now();
        let result = self.source.load(tag, count);
        match self.loads.note(tag, self.of, start.elapsed(), &result) {
            Some(Change::Fails(problem)) => {
                tracing::warn!(tag, problem, "numbers cannot be loaded");
            }
            Some(Change::Succeeds) => tracing::info!(tag, "numbers are loaded again"),
            None => {}
        }
        result
    }

    fn give_back(&self, tag: &str, unused: &Segment) -> Result<bool, SegmentError> {
        self.source.give_back(tag, unused)
    }

    fn tags(&self) -> Result<Vec<TagRecord>, SegmentError> {
        self.source.tags()
    }

    fn create(&self, tag: &str, new: &Tag) -> Result<TagRecord, SegmentError> {
        self.source.create(tag, new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_that_does_not_exist_leaves_no_trace() {
        let loads = Loads::default();
        let failed = |error| {
            assert_eq!(loads.note("a", Use::Here, Duration::from_millis(1), &Err(error)), None);
        };
        let (place, tag) = ("here".to_owned(), "a".to_owned());
        failed(SegmentError::NoSuchTag { place, tag, alike: Vec::new() });
        failed(SegmentError::other("the row is at its end"));
        assert_eq!((loads.tags().len(), loads.totals().failures), (0, 0));
        assert!(!loads.totals().is_failing);
        failed(SegmentError::unreachable("away"));
        assert_eq!((loads.tags().len(), loads.totals().failures), (0, 1));
        assert!(loads.totals().is_failing);
        loads.database_answered();
        assert!(loads.totals().is_failing, "loads alone may fail");
        loads.lock().failed_at = Instant::now().checked_sub(LONGEST_PAUSE * 2);
        loads.database_answered();
        assert!(!loads.totals().is_failing);
    }

    #[test]
    fn a_load_that_succeeds_ends_the_trouble() {
        let loads = Loads::default();
        let took = Duration::from_millis(3);
        let loaded = Ok(Segment::new(1, 1000, 1, 1001));
        let away = Err(SegmentError::unreachable("away"));
        assert_eq!(loads.note("a", Use::Client, took, &loaded), None);
        assert!(matches!(loads.note("a", Use::Here, took, &away), Some(Change::Fails(_))));
        assert_eq!(loads.note("a", Use::Here, took, &away), None);
        assert!(loads.tags()["a"].problem.as_ref().is_some_and(|text| text.contains("away")));
        assert_eq!(loads.note("a", Use::Here, took, &loaded), Some(Change::Succeeds));
        let TagLoads { loads: count, failures, last, problem, to_clients } =
            loads.tags()["a"].clone();
        assert_eq!((count, failures, to_clients, problem), (2, 2, 1000, None));
        assert_eq!(last.map(|last| (last.took, last.count)), Some((took, 1000)));
        let totals = loads.totals();
        assert_eq!((totals.loads, totals.failures, totals.is_failing), (2, 2, false));
        let buckets: Vec<u64> = totals.buckets().iter().map(|&(_, count)| count).collect();
        assert_eq!((buckets[1], buckets[2], buckets.last()), (0, 4, Some(&4)));
    }
}

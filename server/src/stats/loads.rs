//! The outcome of each load of numbers from the database, and the detection of rows that went back.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use uidring::segment::{Segment, SegmentError, SegmentSource, Tag, TagRecord};

use crate::stats::trouble::{Cause, Trouble};

/// The upper ends of the histogram's buckets, in milliseconds.
const BOUNDS_MS: [u64; 12] = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000];

/// The longest time until a failed load is retried, if its numbers are needed.
pub(crate) const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// The largest integer that JavaScript and Lua hold exactly, because their numbers are doubles.
pub(crate) const MAX_EXACT: u64 = (1 << 53) - 1;

/// Who hands out the loaded numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// The service, one by one.
    Here,
    /// A client, from a segment.
    Client,
}

/// The loads of this process.
#[derive(Debug, Default)]
pub(crate) struct Loads {
    state: Mutex<State>,
    /// Whether a load has brought a number above [`MAX_EXACT`].
    has_inexact: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    /// Only tags whose loads have succeeded, so that made-up names do not use up the memory.
    tags: BTreeMap<Box<str>, TagLoads>,
    totals: LoadTotals,
    /// Why the last load failed, unless the cause lies in one row.
    trouble: Option<Trouble>,
    /// When a load last succeeded.
    succeeded_at: Option<Instant>,
    /// How many calls that give numbers back have begun, and how many are running.
    given_back: (u64, u64),
}

/// The totals over all tags.
#[derive(Clone, Debug, Default)]
pub(crate) struct LoadTotals {
    pub(crate) loads: u64,
    /// Loads that failed because of the database, not because of one row.
    pub(crate) failures: u64,
    /// Whether the last load failed because of the database, and the database has not answered a
    /// probe since the longest pause.
    pub(crate) is_failing: bool,
    pub(crate) seconds: f64,
    /// Buckets are not cumulative.
    buckets: [u64; BOUNDS_MS.len() + 1],
}

/// The loads of one tag.
#[derive(Clone, Debug, Default)]
pub(crate) struct TagLoads {
    pub(crate) loads: u64,
    pub(crate) failures: u64,
    /// The last successful load.
    pub(crate) last: Option<LastLoad>,
    /// Why the last load failed, if it did.
    pub(crate) trouble: Option<Trouble>,
    /// Numbers in segments that were handed to clients.
    pub(crate) to_clients: u64,
    /// When a client last asked for a segment.
    pub(crate) asked: Option<Instant>,
    /// The highest number loaded by this process.
    last_number: u64,
    /// The first number of a segment that was not above `last_number`, if there was one.
    went_back: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct LastLoad {
    pub(crate) at: SystemTime,
    pub(crate) took: Duration,
    pub(crate) count: u64,
}

impl LoadTotals {
    /// Cumulative buckets: each bound in seconds, and how many loads took at most this long.
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

    /// The loads of all tags, sorted by tag.
    pub(crate) fn tags(&self) -> BTreeMap<Box<str>, TagLoads> {
        let state = self.lock();
        state.tags.iter().map(|(tag, loads)| (tag.clone(), state.visible(loads))).collect()
    }

    /// The loads of one tag.
    pub(crate) fn tag(&self, tag: &str) -> Option<TagLoads> {
        let state = self.lock();
        state.tags.get(tag).map(|loads| state.visible(loads))
    }

    /// Why loads fail for all tags, if they do.
    pub(crate) fn trouble(&self) -> Option<Trouble> {
        self.lock().trouble.clone()
    }

    /// Whether a load has succeeded since `since`.
    pub(crate) fn has_succeeded_since(&self, since: Instant) -> bool {
        self.lock().succeeded_at.is_some_and(|at| at >= since)
    }

    /// One entry for each tag whose segments clients have asked for since `since`: why loads fail,
    /// or `None` if they succeed.
    pub(crate) fn asked_since(&self, since: Instant) -> Vec<Option<Cause>> {
        let state = self.lock();
        let asked = |loads: &&TagLoads| loads.asked.is_some_and(|asked| asked >= since);
        let cause = |loads| state.visible(loads).trouble.map(|trouble: Trouble| trouble.cause);
        state.tags.values().filter(asked).map(cause).collect()
    }

    /// How many numbers of each tag went to clients in segments.
    pub(crate) fn to_clients(&self) -> Vec<(Box<str>, u64)> {
        let tags = &self.lock().tags;
        tags.iter().map(|(tag, loads)| (tag.clone(), loads.to_clients)).collect()
    }

    /// Whether any tag has come to numbers above [`MAX_EXACT`].
    pub(crate) fn has_inexact(&self) -> bool {
        // ORDERING: a command that reads an old value finds the number out when it has taken it.
        self.has_inexact.load(Ordering::Relaxed)
    }

    /// Records that the database has answered a probe. This ends a failure if no load has been
    /// tried since.
    pub(crate) fn database_answered(&self) {
        let State { trouble, totals, .. } = &mut *self.lock();
        if trouble.as_ref().is_some_and(|trouble| trouble.at.elapsed() > LONGEST_PAUSE) {
            *trouble = None;
            totals.is_failing = false;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code panics while it holds the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state of the tag before a load. Returns an error if its row went back: each further load
    /// would advance the row, up to numbers that look new but that others already have.
    fn begin(&self, tag: &str, of: Use, store: &str) -> Result<StateBefore, SegmentError> {
        let State { tags, given_back, .. } = &mut *self.lock();
        let (begun, running) = *given_back;
        let Some(loads) = tags.get_mut(tag) else {
            return Ok(StateBefore { last_number: 0, given_back: begun, gives_back: running > 0 });
        };
        if of == Use::Client {
            loads.asked = Some(Instant::now());
        }
        let last = loads.last_number;
        if let Some(first) = loads.went_back {
            let (store, tag) = (store.to_owned(), tag.to_owned());
            return Err(SegmentError::WentBack { store, tag, first, last });
        }
        Ok(StateBefore { last_number: last, given_back: begun, gives_back: running > 0 })
    }

    /// Returns an error if the segment does not begin above all numbers loaded before the call. All
    /// numbers of a row ascend, unless some were given back meanwhile.
    fn check(
        &self,
        tag: &str,
        store: &str,
        before: &StateBefore,
        segment: &Segment,
    ) -> Result<(), SegmentError> {
        let State { tags, given_back, .. } = &mut *self.lock();
        let is_sure = !before.gives_back && given_back.0 == before.given_back;
        let Some(loads) = tags.get_mut(tag) else { return Ok(()) };
        if is_sure && segment.first <= before.last_number {
            loads.went_back = Some(segment.first);
            let (store, tag) = (store.to_owned(), tag.to_owned());
            let (first, last) = (segment.first, before.last_number);
            return Err(SegmentError::WentBack { store, tag, first, last });
        }
        Ok(())
    }

    /// Records the outcome of a load. Returns the change of the tag's state, if it is worth an
    /// event.
    fn record(
        &self,
        tag: &str,
        of: Use,
        took: Duration,
        result: &Result<Segment, SegmentError>,
    ) -> Option<Change> {
        let State { tags, totals, trouble, succeeded_at, .. } = &mut *self.lock();
        totals.add(took);
        match result {
            Ok(segment) => {
                totals.loads += 1;
                totals.is_failing = false;
                *trouble = None;
                *succeeded_at = Some(Instant::now());
                if !tags.contains_key(tag) {
                    tags.insert(tag.into(), TagLoads::default());
                }
                let loads = tags.get_mut(tag)?;
                loads.loads += 1;
                loads.last = Some(LastLoad { at: SystemTime::now(), took, count: segment.count });
                let numbers = (segment.count - 1).saturating_mul(segment.delta);
                let last = segment.first.saturating_add(numbers);
                loads.last_number = loads.last_number.max(last);
                if last > MAX_EXACT {
                    // ORDERING: see `has_inexact`.
                    self.has_inexact.store(true, Ordering::Relaxed);
                }
                if of == Use::Client {
                    loads.to_clients += segment.count;
                    loads.asked = Some(Instant::now());
                }
                loads.trouble.take().map(|_| Change::Succeeds)
            }
            Err(error) => {
                let found = Trouble::of(error);
                let is_of_source = !found.cause.is_of_row();
                // An error of a row does not show that the database works, so the flag is never
                // cleared here.
                totals.is_failing |= is_of_source;
                totals.failures += u64::from(is_of_source);
                if is_of_source {
                    *trouble = Some(found.clone());
                }
                let loads = tags.get_mut(tag)?;
                loads.failures += 1;
                let problem = found.text.clone();
                let before = loads.trouble.replace(found);
                before.is_none().then_some(Change::Fails(problem))
            }
        }
    }

    /// Returns whether the row may take numbers back. One that went back may not: others may have
    /// taken it to where it ended for this process.
    fn begin_to_give_back(&self, tag: &str) -> bool {
        let State { tags, given_back: (begun, running), .. } = &mut *self.lock();
        if tags.get(tag).is_some_and(|loads| loads.went_back.is_some()) {
            return false;
        }
        *begun += 1;
        *running += 1;
        true
    }

    /// Records that a call to give numbers back has ended. If the row accepted them, it will give
    /// the numbers from `first` on again.
    fn end_give_back(&self, tag: &str, first: Option<u64>) {
        let State { tags, given_back, .. } = &mut *self.lock();
        given_back.1 -= 1;
        if let (Some(first), Some(loads)) = (first, tags.get_mut(tag)) {
            loads.last_number = loads.last_number.min(first.saturating_sub(1));
        }
    }
}

impl State {
    /// A failure of the database is over for all tags once any tag has got numbers.
    fn visible(&self, loads: &TagLoads) -> TagLoads {
        let mut loads = loads.clone();
        loads.trouble = loads.trouble.filter(|trouble| {
            trouble.cause.is_of_row() || self.succeeded_at.is_none_or(|at| at <= trouble.at)
        });
        loads
    }
}

/// The state of a tag before a load.
#[derive(Debug)]
struct StateBefore {
    last_number: u64,
    given_back: u64,
    gives_back: bool,
}

/// A change of a tag's state.
#[derive(Debug, PartialEq, Eq)]
enum Change {
    Fails(String),
    Succeeds,
}

/// A source that records the outcome of each call.
pub(crate) struct RecordedSource {
    pub(crate) source: Arc<dyn SegmentSource>,
    pub(crate) loads: &'static Loads,
    pub(crate) of: Use,
}

impl SegmentSource for RecordedSource {
    fn name(&self) -> String {
        self.source.name()
    }

    fn load(&self, tag: &str, count: Option<u64>) -> Result<Segment, SegmentError> {
        let (start, store) = (Instant::now(), self.source.name());
        let result = self.loads.begin(tag, self.of, &store).and_then(|before| {
            let segment = self.source.load(tag, count)?;
            self.loads.check(tag, &store, &before, &segment).map(|()| segment)
        });
        // The library itself logs the loads of numbers that the service hands out.
        match self.loads.record(tag, self.of, start.elapsed(), &result) {
            Some(Change::Fails(problem)) if self.of == Use::Client => {
                tracing::warn!(tag, problem, "a client's segment cannot be loaded");
            }
            Some(Change::Succeeds) if self.of == Use::Client => {
                tracing::info!(tag, "clients' segments are loaded again");
            }
            _ => {}
        }
        result
    }

    fn give_back(&self, tag: &str, unused: &Segment) -> Result<bool, SegmentError> {
        if !self.loads.begin_to_give_back(tag) {
            return Ok(false);
        }
        let result = self.source.give_back(tag, unused);
        let has_taken = result.as_ref().is_ok_and(|taken| *taken);
        self.loads.end_give_back(tag, has_taken.then_some(unused.first));
        result
    }

    fn tags(&self) -> Result<Vec<TagRecord>, SegmentError> {
        self.source.tags()
    }

    fn newest_tags(&self, most: usize) -> Result<(Vec<TagRecord>, u64), SegmentError> {
        self.source.newest_tags(most)
    }

    fn create(&self, tag: &str, new: &Tag) -> Result<TagRecord, SegmentError> {
        self.source.create(tag, new)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test that cannot go on has failed
mod tests {
    use super::*;

    #[test]
    fn a_tag_that_does_not_exist_leaves_no_trace() {
        let loads = Loads::default();
        let failed = |error| {
            assert_eq!(loads.record("a", Use::Here, Duration::from_millis(1), &Err(error)), None);
        };
        let (store, tag) = ("here".to_owned(), "a".to_owned());
        failed(SegmentError::NoSuchTag { store, tag, alike: Vec::new() });
        let (store, tag) = ("here".to_owned(), "a".to_owned());
        failed(SegmentError::RanOut { store, tag, last: 9 });
        assert_eq!((loads.tags().len(), loads.totals().failures), (0, 0));
        assert!(!loads.totals().is_failing);
        failed(SegmentError::unreachable("away"));
        assert_eq!((loads.tags().len(), loads.totals().failures), (0, 1));
        assert!(loads.totals().is_failing);
        loads.database_answered();
        assert!(loads.totals().is_failing, "loads alone may fail");
        let long_ago = Instant::now().checked_sub(LONGEST_PAUSE * 2);
        loads.lock().trouble.as_mut().unwrap().at = long_ago.unwrap();
        loads.database_answered();
        assert!(!loads.totals().is_failing);
    }

    #[test]
    fn a_load_that_succeeds_ends_the_trouble() {
        let loads = Loads::default();
        let took = Duration::from_millis(3);
        let loaded = Ok(Segment::new(1, 1000, 1, 1001));
        let away = Err(SegmentError::unreachable("away"));
        assert_eq!(loads.record("a", Use::Client, took, &loaded), None);
        assert!(matches!(loads.record("a", Use::Here, took, &away), Some(Change::Fails(_))));
        assert_eq!(loads.record("a", Use::Here, took, &away), None);
        let trouble = loads.tags()["a"].trouble.clone();
        assert!(trouble.is_some_and(|trouble| trouble.text.contains("away")));
        assert_eq!(loads.record("b", Use::Client, took, &loaded), None);
        assert!(loads.tags()["a"].trouble.is_none(), "the database gives numbers again");
        assert_eq!(loads.record("a", Use::Here, took, &loaded), Some(Change::Succeeds));
        let TagLoads { loads: count, failures, last, trouble, to_clients, .. } =
            loads.tags()["a"].clone();
        assert_eq!((count, failures, to_clients, trouble.is_some()), (2, 2, 1000, false));
        assert_eq!(last.map(|last| (last.took, last.count)), Some((took, 1000)));
        let totals = loads.totals();
        assert_eq!((totals.loads, totals.failures, totals.is_failing), (3, 2, false));
        let buckets: Vec<u64> = totals.buckets().iter().map(|&(_, count)| count).collect();
        assert_eq!((buckets[1], buckets[2], buckets.last()), (0, 5, Some(&5)));
    }

    /// A source with one row, whose counter a test can set back.
    #[derive(Default)]
    struct Row(Mutex<u64>);

    impl SegmentSource for Row {
        fn name(&self) -> String {
            "here".to_owned()
        }

        fn load(&self, _: &str, count: Option<u64>) -> Result<Segment, SegmentError> {
            let mut last = self.0.lock().unwrap();
            let (first, count) = (*last + 1, count.unwrap_or(10));
            *last += count;
            Ok(Segment::new(first, count, 1, *last + 1))
        }

        fn give_back(&self, _: &str, unused: &Segment) -> Result<bool, SegmentError> {
            *self.0.lock().unwrap() = unused.first - 1;
            Ok(true)
        }

        fn tags(&self) -> Result<Vec<TagRecord>, SegmentError> {
            Ok(Vec::new())
        }

        fn create(&self, _: &str, _: &Tag) -> Result<TagRecord, SegmentError> {
            Ok(TagRecord::new("a", 1, 10, 1))
        }
    }

    /// Once a row went back, it gives no further numbers, neither to the service nor to clients,
    /// whoever noticed it.
    #[test]
    fn a_row_that_went_back_gives_no_more() {
        for first in [Use::Here, Use::Client] {
            let (row, loads) = (Arc::new(Row::default()), Box::leak(Box::default()));
            let recorded = |of| RecordedSource {
                source: Arc::clone(&row) as Arc<dyn SegmentSource>,
                loads,
                of,
            };
            let loads: &Loads = loads;
            let (here, client) = (recorded(Use::Here), recorded(Use::Client));
            assert_eq!(here.load("a", None).unwrap().first, 1);
            let unused = client.load("a", Some(20)).unwrap();
            assert_eq!(unused.first, 11);
            // The row gives numbers again that were given back to it.
            assert_eq!(client.give_back("a", &unused).ok(), Some(true));
            assert_eq!(client.load("a", Some(20)).unwrap().first, 11);
            *row.0.lock().unwrap() = 15;
            let error = recorded(first).load("a", None).unwrap_err();
            assert!(matches!(error, SegmentError::WentBack { first: 16, last: 30, .. }), "{error}");
            // The failed call has advanced the row. No other call may, even if its numbers looked
            // new.
            *row.0.lock().unwrap() = 1000;
            for source in [&here, &client] {
                assert!(matches!(source.load("a", None), Err(SegmentError::WentBack { .. })));
            }
            assert_eq!(client.give_back("a", &unused).ok(), Some(false));
            assert_eq!(*row.0.lock().unwrap(), 1000);
            let trouble = loads.tag("a").and_then(|loads| loads.trouble);
            assert!(trouble.is_some_and(|trouble| trouble.cause == Cause::WentBack));
            assert!(!loads.totals().is_failing, "other tags go on");
        }
    }
}

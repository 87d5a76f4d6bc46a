//! What became of each call for numbers to the database, and whether a row went back.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use uidring::segment::{Segment, SegmentError, SegmentSource, Tag, TagRecord};

use crate::stats::trouble::{Cause, Trouble};

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
    /// Why the last call failed, where that is no fault of a row.
    trouble: Option<Trouble>,
    /// When a call succeeded last.
    succeeded_at: Option<Instant>,
    /// How often numbers began to be given back to a row, and how many such calls run.
    given_back: (u64, u64),
}

/// The calls for all tags.
#[derive(Clone, Debug, Default)]
pub(crate) struct LoadTotals {
    pub(crate) loads: u64,
    /// Calls in which the database failed, or had no answer.
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
    pub(crate) trouble: Option<Trouble>,
    /// Numbers in segments that went to clients.
    pub(crate) to_clients: u64,
    /// When a client asked for such a segment last.
    pub(crate) asked: Option<Instant>,
    /// The last number of all that were loaded, by whomever in this process.
    last_number: u64,
    /// The first number that came after the last one, though it is not above it.
    went_back: Option<u64>,
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

    /// Totals per tag, sorted by tag.
    pub(crate) fn tags(&self) -> BTreeMap<Box<str>, TagLoads> {
        let state = self.lock();
        state.tags.iter().map(|(tag, loads)| (tag.clone(), state.shown(loads))).collect()
    }

    /// Those of one tag.
    pub(crate) fn tag(&self, tag: &str) -> Option<TagLoads> {
        let state = self.lock();
        state.tags.get(tag).map(|loads| state.shown(loads))
    }

    /// Why no numbers come from the database, whatever the tag.
    pub(crate) fn trouble(&self) -> Option<Trouble> {
        self.lock().trouble.clone()
    }

    /// For each tag of which clients asked for segments since `since`, why they get none, if so.
    pub(crate) fn asked_since(&self, since: Instant) -> Vec<Option<Cause>> {
        let state = self.lock();
        let asked = |loads: &&TagLoads| loads.asked.is_some_and(|asked| asked >= since);
        let cause = |loads| state.shown(loads).trouble.map(|trouble: Trouble| trouble.cause);
        state.tags.values().filter(asked).map(cause).collect()
    }

    /// How many numbers of each tag went to clients in segments.
    pub(crate) fn to_clients(&self) -> Vec<(Box<str>, u64)> {
        let tags = &self.lock().tags;
        tags.iter().map(|(tag, loads)| (tag.clone(), loads.to_clients)).collect()
    }

    /// The database has answered, if not to a call for numbers.
    pub(crate) fn database_answered(&self) {
        let State { trouble, totals, .. } = &mut *self.lock();
        if trouble.as_ref().is_some_and(|trouble| trouble.at.elapsed() > LONGEST_PAUSE) {
            *trouble = None;
            totals.is_failing = false;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it is locked.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known of the tag before a call, unless its row went back: each further call would
    /// take the row on, up to numbers that look new and that others have.
    fn begin(&self, tag: &str, of: Use, place: &str) -> Result<Before, SegmentError> {
        let State { tags, given_back, .. } = &mut *self.lock();
        let (begun, running) = *given_back;
        let Some(loads) = tags.get_mut(tag) else {
            return Ok(Before { last_number: 0, given_back: begun, gives_back: running > 0 });
        };
        if of == Use::Client {
            loads.asked = Some(Instant::now());
        }
        let last = loads.last_number;
        if let Some(first) = loads.went_back {
            let (place, tag) = (place.to_owned(), tag.to_owned());
            return Err(SegmentError::WentBack { place, tag, first, last });
        }
        Ok(Before { last_number: last, given_back: begun, gives_back: running > 0 })
    }

    /// Whether the segment begins at or below what had been loaded before the call. All numbers of
    /// a row ascend, unless some were given back meanwhile.
    fn check(
        &self,
        tag: &str,
        place: &str,
        before: &Before,
        segment: &Segment,
    ) -> Result<(), SegmentError> {
        let State { tags, given_back, .. } = &mut *self.lock();
        let is_sure = !before.gives_back && given_back.0 == before.given_back;
        let Some(loads) = tags.get_mut(tag) else { return Ok(()) };
        if is_sure && segment.first <= before.last_number {
            loads.went_back = Some(segment.first);
            let (place, tag) = (place.to_owned(), tag.to_owned());
            let (first, last) = (segment.first, before.last_number);
            return Err(SegmentError::WentBack { place, tag, first, last });
        }
        Ok(())
    }

    /// Returns what the call changes for the tag, if that is worth an event.
    fn note(
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
                loads.last = Some(Last { at: SystemTime::now(), took, count: segment.count });
                let numbers = (segment.count - 1).saturating_mul(segment.delta);
                loads.last_number = loads.last_number.max(segment.first.saturating_add(numbers));
                if of == Use::Client {
                    loads.to_clients += segment.count;
                    loads.asked = Some(Instant::now());
                }
                loads.trouble.take().map(|_| Change::Succeeds)
            }
            Err(error) => {
                let found = Trouble::of(error);
                let is_of_source = !found.cause.is_of_row();
                // A row says nothing of the database, which may still be unusable.
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

    fn begin_to_give_back(&self) {
        let (begun, running) = &mut self.lock().given_back;
        *begun += 1;
        *running += 1;
    }

    /// The row gives the numbers from `first` on again, if it took them back.
    fn gave_back(&self, tag: &str, first: Option<u64>) {
        let State { tags, given_back, .. } = &mut *self.lock();
        given_back.1 -= 1;
        if let (Some(first), Some(loads)) = (first, tags.get_mut(tag)) {
            loads.last_number = loads.last_number.min(first.saturating_sub(1));
        }
    }
}

impl State {
    /// A trouble of the database is over for all tags when it has given numbers of one.
    fn shown(&self, loads: &TagLoads) -> TagLoads {
        let mut loads = loads.clone();
        loads.trouble = loads.trouble.filter(|trouble| {
            trouble.cause.is_of_row() || self.succeeded_at.is_none_or(|at| at <= trouble.at)
        });
        loads
    }
}

/// What was so before a call.
#[derive(Debug)]
struct Before {
    last_number: u64,
    given_back: u64,
    gives_back: bool,
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
        let (start, place) = (Instant::now(), self.source.name());
        let result = self.loads.begin(tag, self.of, &place).and_then(|before| {
            let segment = self.source.load(tag, count)?;
            self.loads.check(tag, &place, &before, &segment).map(|()| segment)
        });
        // The library tells of those that the service hands out.
        match self.loads.note(tag, self.of, start.elapsed(), &result) {
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
        self.loads.begin_to_give_back();
        let result = self.source.give_back(tag, unused);
        let has_taken = result.as_ref().is_ok_and(|taken| *taken);
        self.loads.gave_back(tag, has_taken.then_some(unused.first));
        result
    }

    fn tags(&self) -> Result<Vec<TagRecord>, SegmentError> {
        self.source.tags()
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
            assert_eq!(loads.note("a", Use::Here, Duration::from_millis(1), &Err(error)), None);
        };
        let (place, tag) = ("here".to_owned(), "a".to_owned());
        failed(SegmentError::NoSuchTag { place, tag, alike: Vec::new() });
        let (place, tag) = ("here".to_owned(), "a".to_owned());
        failed(SegmentError::RanOut { place, tag, last: 9 });
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
        assert_eq!(loads.note("a", Use::Client, took, &loaded), None);
        assert!(matches!(loads.note("a", Use::Here, took, &away), Some(Change::Fails(_))));
        assert_eq!(loads.note("a", Use::Here, took, &away), None);
        let trouble = loads.tags()["a"].trouble.clone();
        assert!(trouble.is_some_and(|trouble| trouble.text.contains("away")));
        assert_eq!(loads.note("b", Use::Client, took, &loaded), None);
        assert!(loads.tags()["a"].trouble.is_none(), "the database gives numbers again");
        assert_eq!(loads.note("a", Use::Here, took, &loaded), Some(Change::Succeeds));
        let TagLoads { loads: count, failures, last, trouble, to_clients, .. } =
            loads.tags()["a"].clone();
        assert_eq!((count, failures, to_clients, trouble.is_some()), (2, 2, 1000, false));
        assert_eq!(last.map(|last| (last.took, last.count)), Some((took, 1000)));
        let totals = loads.totals();
        assert_eq!((totals.loads, totals.failures, totals.is_failing), (3, 2, false));
        let buckets: Vec<u64> = totals.buckets().iter().map(|&(_, count)| count).collect();
        assert_eq!((buckets[1], buckets[2], buckets.last()), (0, 5, Some(&5)));
    }

    /// A source that counts one row up, which can be set back.
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

    /// Whoever loads first after a row went back, no further numbers of it come, neither for the
    /// service nor for clients.
    #[test]
    fn a_row_that_went_back_gives_no_more() {
        for first in [Use::Here, Use::Client] {
            let (row, loads) = (Arc::new(Row::default()), Box::leak(Box::default()));
            let noted =
                |of| Noted { source: Arc::clone(&row) as Arc<dyn SegmentSource>, loads, of };
            let loads: &Loads = loads;
            let (here, client) = (noted(Use::Here), noted(Use::Client));
            assert_eq!(here.load("a", None).unwrap().first, 1);
            let unused = client.load("a", Some(20)).unwrap();
            assert_eq!(unused.first, 11);
            // What a row takes back, it gives again.
            assert_eq!(client.give_back("a", &unused).ok(), Some(true));
            assert_eq!(client.load("a", Some(20)).unwrap().first, 11);
            *row.0.lock().unwrap() = 15;
            let error = noted(first).load("a", None).unwrap_err();
            assert!(matches!(error, SegmentError::WentBack { first: 16, last: 30, .. }), "{error}");
            // That call has taken the row on. None follows, also where its numbers would look new.
            *row.0.lock().unwrap() = 1000;
            for source in [&here, &client] {
                assert!(matches!(source.load("a", None), Err(SegmentError::WentBack { .. })));
            }
            assert_eq!(*row.0.lock().unwrap(), 1000);
            let trouble = loads.tag("a").and_then(|loads| loads.trouble);
            assert!(trouble.is_some_and(|trouble| trouble.cause == Cause::WentBack));
            assert!(!loads.totals().is_failing, "other tags go on");
        }
    }
}

//! Recent demand: what clients asked for lately, and whether they got it.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use uidring::segment::SegmentGenerator;
use uidring::{TakeError, UidGenerator};

/// Demand older than this does not count.
const WINDOW: Duration = Duration::from_secs(60);

/// What clients asked for lately.
#[derive(Debug, Default)]
pub(crate) struct Demand(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    tags: HashMap<Box<str>, Use>,
    generators: HashMap<&'static str, Use>,
    /// When a request for a tag without any loaded numbers last failed.
    first_use: Option<Instant>,
    /// When any client last asked for anything.
    last: Option<Instant>,
}

#[derive(Debug, Default)]
struct Use {
    /// The counter of takes at the last comparison.
    taken: u64,
    asked: Option<Instant>,
    /// Whether a take has failed since the last success.
    has_failed: bool,
    /// Why, for a generator.
    error: Option<TakeError>,
}

impl Use {
    fn failed(taken: u64, now: Instant) -> Use {
        Use { taken, asked: Some(now), has_failed: true, error: None }
    }

    fn update(&mut self, taken: u64, now: Instant) -> bool {
        let is_asked = taken != self.taken;
        self.taken = taken;
        if is_asked {
            self.asked = Some(now);
            (self.has_failed, self.error) = (false, None);
        }
        is_asked
    }
}

/// The demand that counts for readiness.
#[derive(Debug)]
pub(crate) struct RecentDemand {
    pub(crate) since: Instant,
    pub(crate) tags: Vec<Box<str>>,
    pub(crate) generators: Vec<&'static str>,
    pub(crate) has_first_uses: bool,
}

impl Demand {
    fn lock(&self) -> MutexGuard<'_, State> {
        // No code panics while it holds the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a failed take of a loaded tag. `taken` is the tag's counter of takes.
    pub(crate) fn tag_failed(&self, tag: &str, taken: u64) {
        let (now, state) = (Instant::now(), &mut *self.lock());
        state.last = Some(now);
        *state.tags.entry(tag.into()).or_default() = Use::failed(taken, now);
    }

    /// Records a failed request for a tag without any loaded numbers. Its name is not stored, so
    /// made-up names do not use up the memory.
    pub(crate) fn first_use_failed(&self) {
        let (now, state) = (Instant::now(), &mut *self.lock());
        (state.last, state.first_use) = (Some(now), Some(now));
    }

    /// The tags whose takes have failed since their last success.
    pub(crate) fn failed_tags(&self) -> HashSet<Box<str>> {
        let state = self.lock();
        let failed = state.tags.iter().filter(|(_, entry)| entry.has_failed);
        failed.map(|(tag, _)| tag.clone()).collect()
    }

    /// Whether takes of this tag have failed since its last success.
    pub(crate) fn has_tag_failed(&self, tag: &str) -> bool {
        self.lock().tags.get(tag).is_some_and(|entry| entry.has_failed)
    }

    /// Records a failed take of a generator. `taken` is the generator's counter of takes.
    pub(crate) fn generator_failed(&self, kind: &'static str, taken: u64, error: TakeError) {
        let (now, state) = (Instant::now(), &mut *self.lock());
        state.last = Some(now);
        let failed = Use { error: Some(error), ..Use::failed(taken, now) };
        state.generators.insert(kind, failed);
    }

    /// Why takes of this kind of generator have failed since its last success.
    pub(crate) fn failure(&self, kind: &str) -> Option<TakeError> {
        self.lock().generators.get(kind)?.error
    }

    /// Records that a client asked for a segment, or for numbers of a series.
    pub(crate) fn client_asked(&self) {
        self.lock().last = Some(Instant::now());
    }

    /// Compares all counters with those of the previous call, and records what was taken meanwhile.
    pub(crate) fn recent<'a>(
        &self,
        tags: &[SegmentGenerator],
        generators: impl Iterator<Item = (&'static str, &'a UidGenerator)>,
    ) {
        let now = Instant::now();
        let state = &mut *self.lock();
        let mut is_asked = false;
        for tag in tags {
            let taken = tag.status().taken;
            if !state.tags.contains_key(tag.tag()) {
                state.tags.insert(tag.tag().into(), Use::default());
            }
            if let Some(entry) = state.tags.get_mut(tag.tag()) {
                is_asked |= entry.update(taken, now);
            }
        }
        for (kind, uids) in generators {
            is_asked |= state.generators.entry(kind).or_default().update(uids.status().taken, now);
        }
        if is_asked {
            state.last = Some(now);
        }
    }

    /// The demand of the last minute. If the database `is_away`, the minute ends with the last
    /// request instead. `None` if there was none.
    pub(crate) fn window(&self, is_away: bool) -> Option<RecentDemand> {
        let state = self.lock();
        let end = if is_away { state.last? } else { Instant::now() };
        let since = end.checked_sub(WINDOW).unwrap_or(end);
        state.last.filter(|last| *last >= since)?;
        let counts = |entry: &Use| entry.asked.is_some_and(|asked| asked >= since);
        let tags = state.tags.iter().filter(|(_, entry)| counts(entry));
        let generators = state.generators.iter().filter(|(_, entry)| counts(entry));
        Some(RecentDemand {
            since,
            tags: tags.map(|(tag, _)| tag.clone()).collect(),
            generators: generators.map(|(kind, _)| *kind).collect(),
            has_first_uses: state.first_use.is_some_and(|asked| asked >= since),
        })
    }
}

//! What clients asked for lately, and whether they got it.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use uidring::UidGenerator;
use uidring::segment::SegmentGenerator;

/// What was asked for in this time counts.
const WINDOW: Duration = Duration::from_secs(60);

/// What clients asked for lately.
#[derive(Debug, Default)]
pub(crate) struct Asked(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    tags: HashMap<Box<str>, Use>,
    generators: HashMap<&'static str, Use>,
    /// When somebody wanted a tag that this process has no numbers of, and got none.
    first_use: Option<Instant>,
    /// When anything was asked for.
    last: Option<Instant>,
}

#[derive(Debug, Default)]
struct Use {
    /// What had been taken when it was looked at last.
    taken: u64,
    asked: Option<Instant>,
    /// Whether a take has failed since one succeeded.
    has_failed: bool,
}

impl Use {
    fn failed(taken: u64, now: Instant) -> Use {
        Use { taken, asked: Some(now), has_failed: true }
    }

    fn look(&mut self, taken: u64, now: Instant) -> bool {
        let is_asked = taken != self.taken;
        self.taken = taken;
        if is_asked {
            self.asked = Some(now);
            self.has_failed = false;
        }
        is_asked
    }
}

/// What counts.
#[derive(Debug)]
pub(crate) struct Window {
    pub(crate) since: Instant,
    pub(crate) tags: Vec<Box<str>>,
    pub(crate) generators: Vec<&'static str>,
    pub(crate) has_first_uses: bool,
}

impl Asked {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it is locked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A take from a tag failed that has been loaded before, and of which so much is `taken`.
    pub(crate) fn tag_failed(&self, tag: &str, taken: u64) {
        let (now, state) = (Instant::now(), &mut *self.lock());
        state.last = Some(now);
        *state.tags.entry(tag.into()).or_default() = Use::failed(taken, now);
    }

    /// Somebody wanted a tag that this process has no numbers of, and got none. What clients invent
    /// does not fill the memory.
    pub(crate) fn first_use_failed(&self) {
        let (now, state) = (Instant::now(), &mut *self.lock());
        (state.last, state.first_use) = (Some(now), Some(now));
    }

    /// The tags from which takes have failed since one succeeded.
    pub(crate) fn failed_tags(&self) -> HashSet<Box<str>> {
        let state = self.lock();
        let failed = state.tags.iter().filter(|(_, entry)| entry.has_failed);
        failed.map(|(tag, _)| tag.clone()).collect()
    }

    /// Whether takes from this tag have failed since one succeeded.
    pub(crate) fn has_tag_failed(&self, tag: &str) -> bool {
        self.lock().tags.get(tag).is_some_and(|entry| entry.has_failed)
    }

    /// A take from a generator failed, of which so much is `taken`.
    pub(crate) fn generator_failed(&self, kind: &'static str, taken: u64) {
        let (now, state) = (Instant::now(), &mut *self.lock());
        state.last = Some(now);
        state.generators.insert(kind, Use::failed(taken, now));
    }

    /// Whether takes from this kind of generator have failed since one succeeded.
    pub(crate) fn has_failed(&self, kind: &str) -> bool {
        self.lock().generators.get(kind).is_some_and(|entry| entry.has_failed)
    }

    /// A client asked for a segment.
    pub(crate) fn segment(&self) {
        self.lock().last = Some(Instant::now());
    }

    /// Notes what has been taken since this was called last.
    pub(crate) fn look<'a>(
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
                is_asked |= entry.look(taken, now);
            }
        }
        for (kind, uids) in generators {
            is_asked |= state.generators.entry(kind).or_default().look(uids.status().taken, now);
        }
        if is_asked {
            state.last = Some(now);
        }
    }

    /// What was asked for in the last minute; if the database `is_away`, in the last minute in
    /// which anything was asked for. `None` where there is nothing.
    pub(crate) fn window(&self, is_away: bool) -> Option<Window> {
        let state = self.lock();
        let end = if is_away { state.last? } else { Instant::now() };
        let since = end.checked_sub(WINDOW).unwrap_or(end);
        state.last.filter(|last| *last >= since)?;
        let counts = |entry: &Use| entry.asked.is_some_and(|asked| asked >= since);
        let tags = state.tags.iter().filter(|(_, entry)| counts(entry));
        let generators = state.generators.iter().filter(|(_, entry)| counts(entry));
        Some(Window {
            since,
            tags: tags.map(|(tag, _)| tag.clone()).collect(),
            generators: generators.map(|(kind, _)| *kind).collect(),
            has_first_uses: state.first_use.is_some_and(|asked| asked >= since),
        })
    }
}

//! [`RequestList`]: how takers tell the loader which tags need maintenance. It is lock-free and
//! allocates nothing: each tag is in the list at most once, so the tags themselves form the list.

use crate::clock::Stopwatch;
use crate::engine::filler_signal::Signal;
use crate::sync::{AtomicBool, AtomicU64, Ordering, Parker};

/// The tags that need maintenance, and the loader's wake-up signal. A tag is known by its index in
/// the loader's list of all tags.
#[derive(Debug)]
pub struct RequestList {
    /// One more than the index of the tag that was added last; 0 if the list is empty.
    last: AtomicU64,
    pub signal: Signal,
    /// Runs since the loader began.
    pub(crate) clock: Stopwatch,
}

/// A tag's part of the list.
#[derive(Debug, Default)]
pub struct Entry {
    /// The index of the tag. Written by the loader, before the tag has takers.
    index: AtomicU64,
    /// Whether the tag is in the list.
    is_listed: AtomicBool,
    /// The value of [`RequestList::last`] before this tag was added.
    before: AtomicU64,
}

impl RequestList {
    pub(crate) fn new() -> (RequestList, Parker) {
        let (signal, parker) = crate::engine::filler_signal::signal();
        let clock = Stopwatch::start();
        (RequestList { last: AtomicU64::new(0), signal, clock }, parker)
    }

    /// Puts the tag in the list unless it is there, and wakes the loader.
    pub fn add(&self, entry: &Entry) {
        // ORDERING: the loader clears the flag before it maintains the tag. A swap that finds the
        // flag set comes before that clearing, so the loader sees what this taker has done.
        if entry.is_listed.swap(true, Ordering::AcqRel) {
            return;
        }
        // ORDERING: written before the tag has takers.
        let index = entry.index.load(Ordering::Relaxed);
        // ORDERING: the swap below checks it.
        let mut last = self.last.load(Ordering::Relaxed);
        loop {
            // ORDERING: the swap below releases it.
            entry.before.store(last, Ordering::Relaxed);
            // ORDERING: Release, pairs with `first`. A tag that follows continues the release.
            match self.last.compare_exchange_weak(
                last,
                index + 1,
                Ordering::Release,
                Ordering::Relaxed,
            ) {
                Ok(_) => break,
                Err(now) => last = now,
            }
        }
        self.signal.wake_filler();
    }

    /// Empties the list, and returns the index of its first tag. Called by the loader.
    pub fn first(&self) -> Option<usize> {
        // ORDERING: Acquire, pairs with `add`.
        index_in(self.last.swap(0, Ordering::Acquire))
    }
}

impl Entry {
    /// Called by the loader, before the tag has takers.
    pub fn set_index(&self, index: u64) {
        // ORDERING: takers get the tag through the loader's lock, which makes this visible.
        self.index.store(index, Ordering::Relaxed);
    }

    /// The index of the tag. Called by the loader.
    pub fn index(&self) -> Option<usize> {
        // ORDERING: the loader has written it.
        usize::try_from(self.index.load(Ordering::Relaxed)).ok()
    }

    /// Whether the tag is in the list. Called by the loader.
    pub fn is_listed(&self) -> bool {
        // ORDERING: the loader asks for a tag that nobody else has, whose last holder has released
        // what it did with it.
        self.is_listed.load(Ordering::Relaxed)
    }

    /// Removes the tag from the list that [`RequestList::first`] has emptied, and returns the index
    /// of the next one. Called by the loader, before it maintains the tag.
    pub fn next(&self) -> Option<usize> {
        // ORDERING: `first` has acquired it. Nobody writes it while the tag is listed.
        let before = self.before.load(Ordering::Relaxed);
        // ORDERING: see `add`.
        self.is_listed.swap(false, Ordering::AcqRel);
        index_in(before)
    }
}

fn index_in(word: u64) -> Option<usize> {
    usize::try_from(word).ok()?.checked_sub(1)
}

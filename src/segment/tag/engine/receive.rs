//! What the loader does with a tag: it receives numbers, publishes them, and ends the tag.

use super::TagEngine;
use crate::engine::SegmentFailure;
use crate::sync::{Ordering, lock};

/// The supply of a tag at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Level {
    /// Loaded numbers that are not claimed.
    pub left: u64,
    /// Loaded numbers that are claimed.
    pub claimed: u64,
    /// The first ticket past all loaded numbers.
    pub end: u64,
    /// How many numbers the waiting threads want.
    pub wanted: u64,
    /// How many of them threads want that want many.
    pub wanted_at_once: u64,
    /// Whether a taker has found no number and woken the loader.
    pub is_requested: bool,
}

impl TagEngine {
    /// Records how the last load ended. Called by the loader.
    pub fn set_failure(&self, failure: Option<SegmentFailure>) {
        // ORDERING: see `failure`.
        self.failure.store(failure.map_or(0, |failure| failure as u8), Ordering::Relaxed);
    }

    /// Calls as many waiting tasks as there are numbers, and those whose time is over. Called by
    /// the loader.
    #[cfg(feature = "async")]
    pub fn call_tasks(&self) {
        self.tasks.call_anew(self.left());
        self.tasks.call_due(self.max_wait());
    }

    /// Sets the distance from one number to the next. Called by the loader, before the tag receives
    /// its first numbers.
    pub fn set_delta(&self, delta: u64) {
        self.chain.set_delta(delta);
    }

    /// Puts `count` loaded numbers into the supply. Takers get them from
    /// [`publish`](TagEngine::publish). Called by the loader.
    pub fn receive(&self, first: u64, count: u64) {
        let mut supply = lock(&self.supply);
        supply.add(first, count, self.delta());
        self.loaded.add(count);
    }

    /// Gives received numbers to the waiting threads, and publishes as much of the rest as there is
    /// room for. Returns whether some of it has to wait for takers that have claimed tickets and
    /// not looked them up. If not `is_patient`, it does not wait, and these tickets may be lost.
    /// Called by the loader.
    pub fn publish(&self, is_patient: bool) -> bool {
        let mut supply = lock(&self.supply);
        if !is_patient && supply.is_held_up(&self.chain) {
            supply.append_without_patience(&self.chain);
        }
        supply.open(&self.chain);
        supply.is_held_up(&self.chain)
    }

    /// The supply of the tag, on which the loader's decisions are based.
    pub fn level(&self) -> Level {
        let supply = lock(&self.supply);
        let left = supply.left(&self.chain);
        Level {
            left,
            claimed: self.loaded.get() - left,
            end: self.chain.end() + supply.in_backlog(),
            wanted: supply.wanted(),
            wanted_at_once: supply.wanted_at_once(),
            is_requested: supply.is_requested,
        }
    }

    /// Sets the longest ready range, and a ticket at which a range ends in any case. Called by the
    /// loader.
    pub fn set_range(&self, longest: u64, mark: u64) {
        self.chain.set_range(longest, mark);
    }

    /// Makes the next taker that finds no number wake the loader again. Called by the loader.
    pub fn clear_request(&self) {
        lock(&self.supply).is_requested = false;
    }

    /// How many loaded numbers are claimed, and how many are not.
    pub fn claimed_and_left(&self) -> (u64, u64) {
        // In a forked process, the lock's holder may not exist.
        let is_forked = self.is_forked();
        let supply = if is_forked { self.supply.try_lock().ok() } else { Some(lock(&self.supply)) };
        let loaded = self.loaded.get();
        let left = supply.map_or(0, |supply| supply.left(&self.chain));
        (loaded - left, left)
    }

    /// Wakes all waiting threads, and calls all tasks.
    ///
    /// # Panics
    ///
    /// If a waker panics, after all others have been woken.
    pub fn wake_all(&self) {
        lock(&self.supply).wake_all();
        #[cfg(feature = "async")]
        self.tasks.call_all();
    }

    /// Ends the tag: takes fail from now on.
    pub fn shut_down(&self) {
        lock(&self.supply).end(&self.chain);
        self.expire_claims();
        // Last, because a task's waker may panic.
        self.wake_all();
    }

    /// Abandons the tag in a child process that `fork` has just created.
    #[cfg(all(unix, not(any(uidring_loom, uidring_shuttle))))]
    pub fn abandon(&self) {
        self.chain.cursor.abandon();
        self.expire_claims();
    }
}

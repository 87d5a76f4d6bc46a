//! [`History`]: what the threads of a scenario have taken.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Which ids were taken, by whom.
///
/// The lock is from std. Shuttle does not see it, so it neither adds schedules nor orders anything
/// that the library leaves unordered.
#[derive(Default)]
pub struct History(Mutex<BTreeMap<u64, &'static str>>);

impl History {
    fn takes(&self) -> MutexGuard<'_, BTreeMap<u64, &'static str>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `who` has taken `id`.
    ///
    /// # Panics
    ///
    /// If it was taken before.
    pub fn add(&self, who: &'static str, id: impl Into<u64>) {
        let id = id.into();
        if let Some(other) = self.takes().insert(id, who) {
            panic!("{who} gets {id}, which {other} has");
        }
    }

    /// All ids, in ascending order.
    pub fn ids(&self) -> Vec<u64> {
        self.takes().keys().copied().collect()
    }

    /// How many ids were taken.
    pub fn count(&self) -> u64 {
        self.takes().len() as u64
    }
}

/// The ids of one thread, which ascend as long as they have the same worker id.
pub struct Ascending<'a, T> {
    history: &'a History,
    who: &'static str,
    last: BTreeMap<u64, T>,
}

impl History {
    /// The ids that the thread `who` takes one after the other.
    pub fn of<T>(&self, who: &'static str) -> Ascending<'_, T> {
        Ascending { history: self, who, last: BTreeMap::new() }
    }
}

impl<T: Copy + Debug + PartialOrd + Into<u64>> Ascending<'_, T> {
    /// The thread takes `id`, which has this worker id.
    ///
    /// # Panics
    ///
    /// If it was taken before, or is not larger than the one of this worker id that the thread took
    /// before.
    pub fn add(&mut self, worker: u64, id: T) {
        let last = self.last.insert(worker, id);
        assert!(last < Some(id), "{} gets {id:?} after {last:?}", self.who);
        self.history.add(self.who, id);
    }
}

//! [`Line`]: the tasks that wait, first come, first served.
//!
//! ```text
//!    called, not come yet      waiting, by place
//!          3   5               8   9   12   13   20 ◀── a newcomer goes behind them
//!          └───┤               │
//!   one UID for each ◀─ call ──┘
//! ```
//!
//! As many tasks are called as there are UIDs at hand, so that a task that is woken finds one. A
//! called task that finds none, as a thread was faster, goes back to its place. A task that leaves
//! has the next one called if there are UIDs left.

use std::collections::BTreeMap;
use std::panic::{catch_unwind, resume_unwind};
use std::task::Waker;

use crate::sync::{AtomicU64, Mutex, Ordering, lock};

#[derive(Debug, Default)]
pub struct Line {
    tasks: Mutex<Tasks>,
    /// How many tasks wait. Written under the lock.
    length: AtomicU64,
}

#[derive(Debug, Default)]
struct Tasks {
    /// By place.
    waiting: BTreeMap<u64, Waker>,
    /// The last place that was given.
    last: u64,
    /// How many have been called and have not come yet. Those that the filler does not wait for any
    /// more are not among them.
    called: u64,
}

impl Line {
    /// Whether nobody waits.
    pub fn is_empty(&self) -> bool {
        // ORDERING: a newcomer that misses the first in line is served before it.
        self.length.load(Ordering::Relaxed) == 0
    }

    /// Whether a task may try to take a UID: one that has been called, or a newcomer to an empty
    /// line.
    pub fn admits(&self, place: Option<u64>) -> bool {
        let Some(place) = place else { return self.is_empty() };
        let mut tasks = lock(&self.tasks);
        let is_called = !tasks.waiting.contains_key(&place);
        if is_called {
            tasks.called = tasks.called.saturating_sub(1);
        }
        is_called
    }

    /// Puts a task in its place, a newcomer behind all others. Returns whether it is the first.
    pub fn join(&self, place: &mut Option<u64>, waker: Waker) -> bool {
        let mut tasks = lock(&self.tasks);
        let place = *place.get_or_insert_with(|| {
            tasks.last += 1;
            tasks.last
        });
        let before = tasks.waiting.insert(place, waker);
        let is_first = tasks.waiting.first_key_value().is_some_and(|(first, _)| *first == place);
        self.note_length(&tasks);
        drop(tasks);
        // A waker is the program's own code, and runs without the lock.
        drop(before);
        is_first
    }

    /// Takes a task out of the line. Returns whether it was waiting there: else it has been called.
    pub fn leave(&self, place: u64) -> bool {
        let mut tasks = lock(&self.tasks);
        let waker = tasks.waiting.remove(&place);
        self.note_length(&tasks);
        drop(tasks);
        waker.is_some()
    }

    /// Calls so many tasks that each of `uids` has one, with those on their way.
    ///
    /// # Panics
    ///
    /// As a task's waker did, when all others have been woken.
    pub fn call(&self, uids: u64) {
        self.call_some(|tasks| uids.saturating_sub(tasks.called));
    }

    /// As [`call`](Line::call), without a regard for those on their way: one may be kept from
    /// coming. For the filler.
    pub fn call_anew(&self, uids: u64) {
        if !self.is_empty() {
            self.call_some(|tasks| {
                tasks.called = 0;
                uids
            });
        }
    }

    /// Calls the next task, whatever there is at hand.
    pub fn call_next(&self) {
        self.call_some(|_| 1);
    }

    /// Calls all tasks.
    pub fn call_all(&self) {
        self.call_some(|_| u64::MAX);
    }

    fn call_some(&self, count: impl FnOnce(&mut Tasks) -> u64) {
        let mut tasks = lock(&self.tasks);
        let count = count(&mut tasks);
        let first = |tasks: &mut Tasks| tasks.waiting.pop_first().map(|(_, waker)| waker);
        let called: Vec<Waker> = (0..count).map_while(|_| first(&mut tasks)).collect();
        tasks.called += called.len() as u64;
        self.note_length(&tasks);
        drop(tasks);
        let wake = |waker: Waker| catch_unwind(|| waker.wake()).err();
        let mut panics: Vec<_> = called.into_iter().filter_map(wake).collect();
        if let Some(panic) = panics.pop() {
            resume_unwind(panic);
        }
    }

    fn note_length(&self, tasks: &Tasks) {
        // ORDERING: see `is_empty`.
        self.length.store(tasks.waiting.len() as u64, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::task::Wake;

    use super::*;
    use crate::sync::Arc;

    /// Notes that it is woken, and panics if its number is 1.
    struct Task {
        number: u32,
        woken: Arc<Mutex<Vec<u32>>>,
    }

    impl Wake for Task {
        fn wake(self: Arc<Self>) {
            lock(&self.woken).push(self.number);
            assert_ne!(self.number, 1, "a waker that panics");
        }
    }

    /// A line of three tasks, their places, and who is woken.
    fn three() -> (Line, Vec<u64>, Arc<Mutex<Vec<u32>>>) {
        let (line, woken) = (Line::default(), Arc::default());
        let join = |number| {
            let mut place = None;
            line.join(
                &mut place,
                Waker::from(Arc::new(Task { number, woken: Arc::clone(&woken) })),
            );
            place.unwrap_or_default()
        };
        let places = (0..3).map(join).collect();
        (line, places, woken)
    }

    #[test]
    fn a_waker_that_panics_keeps_nobody_asleep() {
        let (line, _, woken) = three();
        assert!(catch_unwind(|| line.call_all()).is_err());
        assert_eq!(*lock(&woken), [0, 1, 2]);
    }

    #[test]
    fn no_more_are_called_than_there_are_uids() {
        let (line, places, woken) = three();
        line.call(1);
        line.call(1);
        assert_eq!(*lock(&woken), [0], "one is on its way");
        assert!(line.admits(Some(places[0])) && !line.admits(Some(places[1])));
        line.call(0);
        assert_eq!(*lock(&woken), [0]);
        let _ = catch_unwind(|| line.call(1));
        assert_eq!(*lock(&woken), [0, 1]);
        // The second never comes.
        line.call_anew(1);
        assert_eq!(*lock(&woken), [0, 1, 2]);
        assert!(line.is_empty());
    }

    #[test]
    fn who_found_nothing_goes_back_to_its_place() {
        let (line, places, woken) = three();
        line.call(1);
        assert!(line.admits(Some(places[0])));
        let waker = Waker::from(Arc::new(Task { number: 7, woken: Arc::clone(&woken) }));
        assert!(line.join(&mut Some(places[0]), waker), "it is the first again");
        line.call(1);
        assert_eq!(*lock(&woken), [0, 7]);
        assert!(!line.leave(places[0]) && line.leave(places[2]));
    }
}

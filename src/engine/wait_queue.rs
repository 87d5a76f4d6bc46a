//! [`WaitQueue`]: the waiting tasks, served in order.
//!
//! ```text
//!    called, not polled yet    waiting, by place
//!          3   5               8   9   12   13   20 ◀── a new task joins at the end
//!          └───┤               │
//!   one UID for each ◀─ call ──┘
//! ```
//!
//! At most as many tasks are called as there are UIDs in the ring, so that each woken task finds
//! one. If a thread was faster and a called task finds none, the task returns to its place. A task
//! that leaves the line calls the next one if there are UIDs left.

use std::collections::BTreeMap;
use std::panic::{catch_unwind, resume_unwind};
use std::task::Waker;
use std::time::Duration;

use crate::clock::Stopwatch;
use crate::sync::{AtomicU64, Mutex, Ordering, lock};

/// How long a filler waits for a called task to be polled. A busy executor takes a while, and
/// others that are called in place of its tasks are woken for nothing.
pub const CALL_PATIENCE: Duration = Duration::from_millis(20);

/// The line of waiting tasks.
#[derive(Debug, Default)]
pub struct WaitQueue {
    tasks: Mutex<Tasks>,
    /// How many tasks wait. Written under the lock.
    length: AtomicU64,
}

#[derive(Debug, Default)]
struct Tasks {
    /// The waiting tasks by their places, and since when each takes, if its time is limited.
    waiting: BTreeMap<u64, (Waker, Option<Stopwatch>)>,
    /// The last place that was given.
    last: u64,
    /// How many tasks have been called and not polled since, without those that the filler has
    /// given up on.
    called: u64,
    /// Since when the filler waits for one of the called tasks to be polled.
    unanswered: Option<Stopwatch>,
}

impl Tasks {
    /// A called task has been polled, or is gone.
    fn note_answer(&mut self) {
        self.called = self.called.saturating_sub(1);
        self.unanswered = None;
    }
}

impl WaitQueue {
    /// Whether no task waits.
    pub fn is_empty(&self) -> bool {
        // ORDERING: a new task that reads an old length may be served before the first in line.
        self.length.load(Ordering::Relaxed) == 0
    }

    /// Whether a task may try to take a UID: a task that has been called, or a new task if the line
    /// is empty.
    pub fn admits(&self, place: Option<u64>) -> bool {
        let Some(place) = place else { return self.is_empty() };
        let mut tasks = lock(&self.tasks);
        let is_called = !tasks.waiting.contains_key(&place);
        if is_called {
            tasks.note_answer();
        }
        is_called
    }

    /// Puts a task in its place, a new task at the end. Returns whether it is the first in line.
    pub fn join(&self, place: &mut Option<u64>, waker: Waker, since: Option<Stopwatch>) -> bool {
        let mut tasks = lock(&self.tasks);
        let place = *place.get_or_insert_with(|| {
            tasks.last += 1;
            tasks.last
        });
        let before = tasks.waiting.insert(place, (waker, since));
        let is_first = tasks.waiting.first_key_value().is_some_and(|(first, _)| *first == place);
        self.note_length(&tasks);
        drop(tasks);
        // Wakers are foreign code, so they are dropped and called without the lock.
        drop(before);
        is_first
    }

    /// Removes a task from the line. Returns whether it had been called, and not been polled since.
    pub fn leave(&self, place: u64) -> bool {
        let mut tasks = lock(&self.tasks);
        let waiting = tasks.waiting.remove(&place);
        let is_called = waiting.is_none();
        if is_called {
            tasks.note_answer();
        }
        self.note_length(&tasks);
        drop(tasks);
        drop(waiting);
        is_called
    }

    /// Removes a task whose future is dropped. If it has been called, the next task is called for
    /// its UID.
    pub fn give_up(&self, place: u64) {
        if self.leave(place) {
            self.call_next();
        }
    }

    /// Calls tasks until as many have been called as there are `uids`. Tasks that were called
    /// before and not polled since count.
    ///
    /// # Panics
    ///
    /// If a waker panics, after all others have been woken.
    pub fn call(&self, uids: u64) {
        self.call_some(|tasks| uids.saturating_sub(tasks.called));
    }

    /// Like [`call`](WaitQueue::call), but gives up on the tasks that were called before if none of
    /// them has been polled for [`CALL_PATIENCE`]: they may never be. Called by the filler.
    pub fn call_anew(&self, uids: u64) {
        if !self.is_empty() {
            self.call_some(|tasks| {
                let since = tasks.unanswered.get_or_insert_with(Stopwatch::start);
                if tasks.called == 0 || since.elapsed() >= CALL_PATIENCE {
                    tasks.called = 0;
                    *since = Stopwatch::start();
                }
                uids.saturating_sub(tasks.called)
            });
        }
    }

    /// Calls the next task, whether or not there is a UID for it.
    pub fn call_next(&self) {
        self.call_some(|_| 1);
    }

    /// Calls all tasks.
    pub fn call_all(&self) {
        self.call_some(|_| u64::MAX);
    }

    /// Calls the tasks whose time of `max_wait` is over.
    ///
    /// # Panics
    ///
    /// If a waker panics, after all others have been woken.
    pub fn call_due(&self, max_wait: Duration) {
        self.call_those(|tasks| {
            let is_due = |since: &Stopwatch| since.elapsed() >= max_wait;
            let due =
                tasks.waiting.iter().filter(|(_, (_, since))| since.as_ref().is_some_and(is_due));
            let due: Vec<u64> = due.map(|(place, _)| *place).collect();
            let due = due.iter().filter_map(|place| tasks.waiting.remove(place));
            due.map(|(waker, _)| waker).collect()
        });
    }

    /// When the time of the next task is over whose time is not over yet, from now on.
    pub fn next_due(&self, max_wait: Duration) -> Option<Duration> {
        let tasks = lock(&self.tasks);
        let since = tasks.waiting.values().filter_map(|(_, since)| since.as_ref());
        let left = since.map(|since| max_wait.saturating_sub(since.elapsed()));
        left.filter(|left| !left.is_zero()).min()
    }

    fn call_some(&self, count: impl FnOnce(&mut Tasks) -> u64) {
        self.call_those(|tasks| {
            let count = count(tasks);
            let first = |tasks: &mut Tasks| tasks.waiting.pop_first().map(|(_, (waker, _))| waker);
            (0..count).map_while(|_| first(tasks)).collect()
        });
    }

    fn call_those(&self, those: impl FnOnce(&mut Tasks) -> Vec<Waker>) {
        let mut tasks = lock(&self.tasks);
        let called = those(&mut tasks);
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

    /// Records that it is woken, and panics if its number is 1.
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

    /// A line of three tasks, their places, and the numbers of those that were woken.
    fn three() -> (WaitQueue, Vec<u64>, Arc<Mutex<Vec<u32>>>) {
        let (line, woken) = (WaitQueue::default(), Arc::default());
        let join = |number| {
            let mut place = None;
            let task = Task { number, woken: Arc::clone(&woken) };
            line.join(&mut place, Waker::from(Arc::new(task)), None);
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
        // The second one is never polled.
        line.call_anew(1);
        assert_eq!(*lock(&woken), [0, 1]);
        crate::sync::sleep(CALL_PATIENCE);
        line.call_anew(1);
        assert_eq!(*lock(&woken), [0, 1, 2]);
        assert!(line.is_empty());
    }

    #[test]
    fn a_called_task_that_is_dropped_is_no_longer_counted() {
        let (line, places, woken) = three();
        line.call(1);
        let _ = catch_unwind(|| line.give_up(places[0]));
        line.give_up(places[1]);
        assert_eq!(*lock(&woken), [0, 1, 2]);
        assert_eq!(lock(&line.tasks).called, 1, "only the third is on its way");
    }

    /// One that was polled for another reason, and found a UID by itself.
    #[test]
    fn a_called_task_that_leaves_is_no_longer_counted() {
        let (line, places, woken) = three();
        line.call(1);
        assert!(line.leave(places[0]));
        assert!(!line.leave(places[1]), "it was not called");
        line.call(1);
        assert_eq!(*lock(&woken), [0, 2], "there is one for the third");
    }

    #[test]
    fn a_task_that_finds_no_uid_returns_to_its_place() {
        let (line, places, woken) = three();
        line.call(1);
        assert!(line.admits(Some(places[0])));
        let waker = Waker::from(Arc::new(Task { number: 7, woken: Arc::clone(&woken) }));
        assert!(line.join(&mut Some(places[0]), waker, None), "it is the first again");
        line.call(1);
        assert_eq!(*lock(&woken), [0, 7]);
        assert!(line.admits(Some(places[0])) && !line.admits(Some(places[2])));
    }
}

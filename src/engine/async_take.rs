//! [`AsyncTake`]: one asynchronous take.

use std::task::{Context, Poll};

use crate::clock::Stopwatch;
use crate::engine::Engine;
use crate::engine::TakeError;
use crate::engine::by_kind;
use crate::engine::timing::Timing as _;
use crate::engine::wait_queue::WaitQueue;
use crate::support::callbacks::catch_panic;
use crate::uid::Uid;

/// A source of ids for tasks: a generator or a tag.
pub trait TakeSource {
    /// A UID, or a dense number.
    type Id;

    /// Takes one, or fails at once.
    fn try_take(&self) -> Result<Self::Id, TakeError>;

    /// Whether a task waits instead of failing with `error`.
    fn is_worth_waiting(&self, error: TakeError) -> bool;

    /// When the task began to take, if its waiting time is limited.
    fn since(&self) -> Option<Stopwatch> {
        None
    }

    /// Whether the next task in line must be woken because of `error`, with which this one fails.
    fn wakes_next(&self, _: TakeError) -> bool {
        true
    }

    /// The tasks that wait.
    fn wait_queue(&self) -> &WaitQueue;

    /// How many numbers there are now.
    fn at_hand(&self) -> u64;

    /// Wakes the thread that provides numbers. It calls the waiting tasks when there are some.
    fn wake_filler(&self);

    /// Counts a task that begins to wait.
    fn count_wait(&self) {}

    /// Called when the first task in line waits.
    fn first_waits(&self) {}

    /// Whether this is a copy in a forked process.
    fn is_forked(&self) -> bool;
}

impl TakeSource for Engine {
    type Id = Uid;

    fn try_take(&self) -> Result<Uid, TakeError> {
        self.try_take()
    }

    fn is_worth_waiting(&self, error: TakeError) -> bool {
        self.is_worth_waiting(error)
    }

    fn wait_queue(&self) -> &WaitQueue {
        &self.waiters.wait_queue
    }

    fn at_hand(&self) -> u64 {
        self.at_hand()
    }

    fn wake_filler(&self) {
        self.signal.wake_filler();
    }

    fn count_wait(&self) {
        self.counters.waits.add(1);
    }

    fn first_waits(&self) {
        by_kind!(self, first_task_waits);
    }

    fn is_forked(&self) -> bool {
        self.is_forked()
    }
}

/// The state of a take's future. Once the task has had to wait, it has a place in the line.
pub struct AsyncTake<'a, T: TakeSource> {
    engine: &'a T,
    place: Option<u64>,
}

impl<'a, T: TakeSource> AsyncTake<'a, T> {
    pub fn new(engine: &'a T) -> AsyncTake<'a, T> {
        AsyncTake { engine, place: None }
    }

    /// Takes a UID, or has the task woken when its turn comes.
    pub fn poll(&mut self, context: &Context<'_>) -> Poll<Result<T::Id, TakeError>> {
        if self.engine.is_forked() {
            return Poll::Ready(Err(TakeError::Forked));
        }
        let line = self.engine.wait_queue();
        if line.admits(self.place)
            && let Poll::Ready(result) = self.try_take(false)
        {
            return Poll::Ready(result);
        }
        // The first in line tries again, since no call came for what changed before it joined. The
        // others are called after it.
        if self.place.is_none() {
            self.engine.count_wait();
        }
        let is_first = line.join(&mut self.place, context.waker().clone(), self.engine.since());
        if !is_first {
            return Poll::Pending;
        }
        let polled = self.try_take(true);
        if polled.is_pending() {
            self.engine.first_waits();
        }
        polled
    }

    /// Takes a UID and leaves the line if it `has_joined`, unless it is worth waiting for one. A
    /// task that was called is in the line no longer.
    fn try_take(&mut self, has_joined: bool) -> Poll<Result<T::Id, TakeError>> {
        let engine = self.engine;
        let result = engine.try_take();
        if result.as_ref().is_err_and(|&error| engine.is_worth_waiting(error)) {
            return Poll::Pending;
        }
        let line = engine.wait_queue();
        if let Some(place) = self.place.take()
            && has_joined
        {
            line.leave(place);
        }
        if !line.is_empty() {
            // A panic of another task's waker must not lose this one its UID.
            catch_panic(|| match result {
                Err(error) if engine.wakes_next(error) => line.call_next(),
                Err(_) => {}
                Ok(_) => match engine.at_hand() {
                    // The filler calls the waiting tasks with the next tick.
                    0 => engine.wake_filler(),
                    uids => line.call(uids),
                },
            });
        }
        Poll::Ready(result)
    }
}

impl<T: TakeSource> Drop for AsyncTake<'_, T> {
    fn drop(&mut self) {
        // In a forked process no task waits, and the lock may be held by a thread that does not
        // exist.
        if let Some(place) = self.place
            && !self.engine.is_forked()
        {
            // This may be dropped by a panic, where another one would end the process.
            catch_panic(|| self.engine.wait_queue().give_up(place));
        }
    }
}

//! [`Turn`]: one asynchronous take.

use std::task::{Context, Poll};

use crate::engine::Engine;
use crate::engine::TakeError;
use crate::uid::Uid;

/// The state of a take's future. Once the task has had to wait, it has a place in the line.
pub struct Turn<'a> {
    engine: &'a Engine,
    place: Option<u64>,
}

impl<'a> Turn<'a> {
    pub fn new(engine: &'a Engine) -> Turn<'a> {
        Turn { engine, place: None }
    }

    /// Takes a UID, or has the task woken when its turn comes.
    pub fn poll(&mut self, context: &Context<'_>) -> Poll<Result<Uid, TakeError>> {
        if self.engine.is_forked() {
            return Poll::Ready(Err(TakeError::Forked));
        }
        let line = &self.engine.waiters.line;
        if line.admits(self.place)
            && let Poll::Ready(result) = self.try_take()
        {
            return Poll::Ready(result);
        }
        // The first in line tries again, since no call came for what changed before it joined. The
        // others are called after it.
        let is_first = line.join(&mut self.place, context.waker().clone());
        if is_first { self.try_take() } else { Poll::Pending }
    }

    /// Takes a UID and leaves the line, unless it is worth waiting for one.
    fn try_take(&mut self) -> Poll<Result<Uid, TakeError>> {
        let engine = self.engine;
        let result = engine.try_take();
        if result.is_err_and(|error| engine.is_worth_waiting(error)) {
            return Poll::Pending;
        }
        let line = &engine.waiters.line;
        if let Some(place) = self.place.take() {
            line.leave(place);
        }
        if !line.is_empty() {
            match engine.at_hand() {
                _ if result.is_err() => line.call_next(),
                // The filler calls the waiting tasks with the next tick.
                0 => engine.signal.wake_filler(),
                uids => line.call(uids),
            }
        }
        Poll::Ready(result)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        // In a forked process no task waits, and the lock may be held by a thread that does not
        // exist.
        if let Some(place) = self.place
            && !self.engine.is_forked()
        {
            self.engine.waiters.line.give_up(place);
        }
    }
}

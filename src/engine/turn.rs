//! [`Turn`]: a task's way to its UID.

use std::task::{Context, Poll};

use crate::engine::Engine;
use crate::engine::TakeError;
use crate::uid::Uid;

/// What the future of a take holds: its place in the line of tasks, once it has had to wait.
pub struct Turn<'a> {
    engine: &'a Engine,
    place: Option<u64>,
}

impl<'a> Turn<'a> {
    pub fn new(engine: &'a Engine) -> Turn<'a> {
        Turn { engine, place: None }
    }

    /// Takes a UID, or has the task woken when it is its turn.
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
        // Once more for the first in line: what has changed before it was there has called nobody.
        // The others are called after it.
        let is_first = line.join(&mut self.place, context.waker().clone());
        if is_first { self.try_take() } else { Poll::Pending }
    }

    /// Takes a UID, and leaves the line, unless it is worth waiting for one.
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
                // For those that wait, with the next tick.
                0 => engine.signal.ask(),
                uids => line.call(uids),
            }
        }
        Poll::Ready(result)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        // In a forked process nobody waits, and a thread that is not there may hold the lock.
        if let Some(place) = self.place
            && !self.engine.is_forked()
            && !self.engine.waiters.line.leave(place)
        {
            // It was called, and does not come.
            self.engine.waiters.line.call_next();
        }
    }
}

//! [`Turn`]: a task's way to its UID.

use std::task::{Context, Poll};

use crate::error::TakeError;
use crate::shared::Shared;
use crate::uid::Uid;

/// What the future of a take holds: its place in the line of tasks, once it has had to wait.
pub struct Turn<'a> {
    shared: &'a Shared,
    place: Option<u64>,
}

impl<'a> Turn<'a> {
    pub fn new(shared: &'a Shared) -> Turn<'a> {
        Turn { shared, place: None }
    }

    /// Takes a UID, or has the task woken when it is its turn.
    pub fn poll(&mut self, context: &Context<'_>) -> Poll<Result<Uid, TakeError>> {
        if self.shared.is_forked() {
            return Poll::Ready(Err(TakeError::Forked));
        }
        let line = &self.shared.waiters.line;
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
        let shared = self.shared;
        let result = shared.try_take();
        if result.is_err_and(|error| shared.is_worth_waiting(error)) {
            return Poll::Pending;
        }
        let line = &shared.waiters.line;
        if let Some(place) = self.place.take() {
            line.leave(place);
        }
        if !line.is_empty() {
            match shared.at_hand() {
                _ if result.is_err() => line.call_next(),
                // For those that wait, with the next tick.
                0 => shared.signal.ask(),
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
            && !self.shared.is_forked()
            && !self.shared.waiters.line.leave(place)
        {
            // It was called, and does not come.
            self.shared.waiters.line.call_next();
        }
    }
}

//! What was taken of a series here, and whether its numbers can be taken now.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::stats::loads::LONGEST_PAUSE;
use crate::stats::trouble::{Cause, Trouble};

/// The takes of one series in this process.
#[derive(Debug, Default)]
pub(crate) struct SeriesUse(Mutex<SeriesTakes>);

#[derive(Clone, Debug, Default)]
pub(crate) struct SeriesTakes {
    /// Numbers that were taken.
    pub(crate) taken: u64,
    /// Requests that failed because of the database. What a client did wrong does not count, nor
    /// does a period that is closed or has given all its numbers.
    pub(crate) failures: u64,
    /// When a client last asked for numbers.
    pub(crate) asked: Option<Instant>,
    /// Why the last request failed, if it failed because of the database. A counter that went back
    /// is told until the end: others may give its numbers again, whatever other scopes have.
    pub(crate) trouble: Option<Trouble>,
}

impl SeriesUse {
    pub(crate) fn read(&self) -> SeriesTakes {
        self.lock().clone()
    }

    /// Records a request that took `count` numbers, or failed because of the database.
    pub(crate) fn record(&self, count: u64, trouble: Option<Trouble>) {
        let takes = &mut *self.lock();
        takes.taken = takes.taken.wrapping_add(count);
        takes.failures += u64::from(trouble.is_some());
        takes.asked = Some(Instant::now());
        if !takes.trouble.as_ref().is_some_and(|trouble| trouble.cause == Cause::WentBack) {
            takes.trouble = trouble;
        }
    }

    /// Records that the database has answered a probe. This ends a failure that passes by itself
    /// if nobody has asked since.
    pub(crate) fn database_answered(&self) {
        let takes = &mut *self.lock();
        let is_over =
            |trouble: &Trouble| trouble.may_be_over() && trouble.at.elapsed() > LONGEST_PAUSE;
        if takes.trouble.as_ref().is_some_and(is_over) {
            takes.trouble = None;
        }
    }

    fn lock(&self) -> MutexGuard<'_, SeriesTakes> {
        // No code panics while it holds the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

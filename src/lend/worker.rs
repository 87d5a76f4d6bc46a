//! [`LentWorker`]: a worker id, for as long as this lives.

use std::fmt;
use std::time::Duration;

use super::error::LendError;
use super::options::LendOptions;
use super::pool::WorkerPool;
use super::renewal::{Renewal, Shared};
use super::status::LentStatus;
use crate::clock::{Clock, SleepStopwatch, SystemClock};
use crate::support::callbacks::event;
use crate::sync::Arc;

/// A worker id that is lent to this process. A thread of its own renews the loan at each third of
/// the lease; dropping this returns the id.
///
/// The thread wakes once a second, so that it notices soon when the machine has slept. When
/// renewals fail, it tells so by [`on_loss`](LendOptions::on_loss), ahead of the end.
///
/// # Forks
///
/// A forked child has no loan: [`is_held`](LentWorker::is_held) is false there, and dropping it
/// does nothing. The parent goes on.
#[must_use = "dropping it returns the worker id"]
pub struct LentWorker {
    renewal: Renewal,
}

impl WorkerPool {
    /// Lends an id for as long as the [`LentWorker`] lives: a thread of its own renews it at each
    /// third of the lease. [The module](super) has an example.
    ///
    /// # Errors
    ///
    /// [`LendError::Full`] and [`LendError::ClockBehind`] when no id may be lent now;
    /// [`LendError::OtherBits`] when the pool was first used with another width;
    /// [`LendError::Lease`] and [`LendError::Rest`] when the options make no sense;
    /// [`LendError::Storage`] when the store cannot be used; [`LendError::Spawn`] when no thread
    /// can be started.
    pub fn lend(&self, options: LendOptions) -> Result<LentWorker, LendError> {
        LentWorker::lend(self.clone(), options)
    }

    /// As [`lend`](WorkerPool::lend), without blocking the thread. It needs no particular runtime.
    /// If the future is dropped, the id is returned.
    ///
    /// # Errors
    ///
    /// As [`lend`](WorkerPool::lend).
    #[cfg(feature = "async")]
    pub async fn lend_async(&self, options: LendOptions) -> Result<LentWorker, LendError> {
        let pool = self.clone();
        let lent = crate::generator::blocking::run("uidring-lend", move || pool.lend(options));
        lent.await.map_err(LendError::Spawn)?
    }
}

impl LentWorker {
    fn lend(pool: WorkerPool, mut options: LendOptions) -> Result<LentWorker, LendError> {
        // Before the request is sent: what the store counts begins later.
        let since = SleepStopwatch::start();
        // The options may have been made long ago.
        options.request.clock = SystemClock.now();
        let grant = pool.grant(&options.request)?;
        event!(
            info,
            "worker_lent",
            worker = grant.id,
            pool = pool.name(),
            store = pool.store_name(),
            "a worker id was lent"
        );
        let shared = Arc::new(Shared::new(pool, grant, since, options.request.clock));
        Ok(LentWorker { renewal: Renewal::start(shared, options.on_loss)? })
    }

    /// The id: 1 to 2<sup>bits</sup> - 1.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.renewal.shared.id()
    }

    /// Whether ids may be made with it now. This reads a clock and asks nobody, so a generator may
    /// ask before each id.
    #[must_use]
    pub fn is_held(&self) -> bool {
        !self.time_left().is_zero()
    }

    /// How long ids may be made with it if it is not renewed any more; zero if it is lost.
    #[must_use]
    pub fn time_left(&self) -> Duration {
        self.renewal.shared.time_left()
    }

    /// What it is doing, for operators.
    #[must_use]
    pub fn status(&self) -> LentStatus {
        self.renewal.shared.status()
    }

    /// Returns the id. Make no more ids with it before you call this. It rests all the same before
    /// it is lent again.
    ///
    /// # Errors
    ///
    /// [`LendError::Lost`] when it was lost before; [`LendError::Storage`] when the store cannot be
    /// used: then the id is held until its lease ends.
    pub fn close(mut self) -> Result<(), LendError> {
        self.renewal.end()
    }

    /// As [`close`](LentWorker::close), without blocking the thread. It needs no particular
    /// runtime.
    ///
    /// # Errors
    ///
    /// As [`close`](LentWorker::close).
    #[cfg(feature = "async")]
    pub async fn close_async(self) -> Result<(), LendError> {
        let closed = crate::generator::blocking::run("uidring-lend", move || self.close());
        closed.await.map_err(LendError::Spawn)?
    }
}

impl Drop for LentWorker {
    fn drop(&mut self) {
        // What fails is told by an event, and mends itself when the lease ends.
        let _ = self.renewal.end();
    }
}

impl fmt::Debug for LentWorker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LentWorker").field(&self.status()).finish()
    }
}

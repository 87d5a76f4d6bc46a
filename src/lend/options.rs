//! How a [`LentWorker`](super::LentWorker) borrows, and what it tells when it loses its id.

use std::fmt;
use std::time::Duration;

use super::request::LoanRequest;
use crate::clock::human;
use crate::sync::Arc;

type OnLoss = Arc<dyn Fn(&Loss) + Send + Sync>;

/// How a worker id is lent: with a lease and a rest of ten minutes, unless set otherwise.
///
/// ```
/// use std::time::Duration;
///
/// use uidring::lend::LendOptions;
///
/// let options = LendOptions::new()
///     .lease(Duration::from_secs(60))
///     .rest(Duration::from_secs(600))
///     .host("orders-3")
///     .on_loss(|loss| eprintln!("{loss}"));
/// ```
#[derive(Clone)]
pub struct LendOptions {
    pub(super) request: LoanRequest,
    pub(super) on_loss: Option<OnLoss>,
}

impl LendOptions {
    /// Ten minutes of lease and of rest, by this machine's name.
    #[must_use]
    pub fn new() -> LendOptions {
        LendOptions { request: LoanRequest::new(), on_loss: None }
    }

    /// How long the loan lasts from each renewal on: 1 s to 30 days. The store may be away for most
    /// of it, and a holder that was killed keeps the id for so long.
    #[must_use]
    pub fn lease(mut self, lease: Duration) -> LendOptions {
        self.request.lease = lease;
        self
    }

    /// How long nobody gets the id after that: 1 s to 30 days. It is the largest difference between
    /// any two clocks that is believed, and the largest step of the store's.
    #[must_use]
    pub fn rest(mut self, rest: Duration) -> LendOptions {
        self.request.rest = rest;
        self
    }

    /// What the list of loans shows in place of this machine's name.
    #[must_use]
    pub fn host(mut self, host: &str) -> LendOptions {
        host.clone_into(&mut self.request.host);
        self
    }

    /// Calls `tell` once, on a thread of the library, when the id is about to be lost: because it
    /// cannot be renewed, at two thirds of the time that is left then; or at once, because the
    /// store has refused it. By the end of [`time_left`](Loss::time_left) the generator must have
    /// made its last id. It is not renewed after that.
    #[must_use]
    pub fn on_loss(mut self, tell: impl Fn(&Loss) + Send + Sync + 'static) -> LendOptions {
        self.on_loss = Some(Arc::new(tell));
        self
    }
}

impl Default for LendOptions {
    fn default() -> LendOptions {
        LendOptions::new()
    }
}

impl fmt::Debug for LendOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LendOptions")
            .field("request", &self.request)
            .field("on_loss", &self.on_loss.is_some())
            .finish()
    }
}

/// A worker id that is about to be lost.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loss {
    /// The id.
    pub id: u64,
    /// How long it may still be used; zero if not any more.
    pub time_left: Duration,
    /// Why it is not renewed.
    pub reason: String,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Loss { id, time_left, reason } = self;
        if time_left.is_zero() {
            write!(f, "worker id {id} must not be used any more: {reason}")
        } else {
            let left = human(*time_left);
            write!(f, "worker id {id} must not be used any more in {left}: {reason}")
        }
    }
}

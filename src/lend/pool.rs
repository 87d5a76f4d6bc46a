//! [`WorkerPool`]: worker ids that are lent.

use std::fmt;
use std::time::SystemTime;

use super::error::LendError;
use super::metrics::{self, Labels};
use super::request::{Grant, LoanRequest, hash_of};
use super::rules::{LoanRow, MOST_BITS, ms_of};
use super::store::{Loan, LoanStore, PoolCounts, PoolKey};
use crate::sync::Arc;

/// A pool of worker ids in a store, of any kind. Clones are cheap, and hold no connection.
///
/// Each call blocks, at most for the store's [time limit](crate::Store::with_timeout), and is one
/// durable transaction. [The page of the module](super) says what is promised.
#[derive(Clone)]
pub struct WorkerPool {
    store: Arc<dyn LoanStore>,
    key: PoolKey,
}

impl WorkerPool {
    /// The pool of this name in `store`, if there can be one.
    pub(crate) fn on(
        store: Arc<dyn LoanStore>,
        name: &str,
        bits: u32,
    ) -> Result<WorkerPool, LendError> {
        check_name(name)?;
        if !(1..=MOST_BITS).contains(&bits) {
            return Err(LendError::Bits { bits });
        }
        Ok(WorkerPool { store, key: PoolKey { name: name.to_owned(), bits } })
    }

    /// The pool of this name in `store`, if it is there.
    pub(crate) fn find(
        store: Arc<dyn LoanStore>,
        name: &str,
    ) -> Result<Option<WorkerPool>, LendError> {
        check_name(name)?;
        let width = store.width(name)?;
        width.map(|bits| WorkerPool::on(store, name, bits)).transpose()
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.key.name
    }

    /// The width of its ids in bits.
    #[must_use]
    pub fn bits(&self) -> u32 {
        self.key.bits
    }

    /// What its metrics are labelled with.
    pub(super) fn labels(&self) -> Labels {
        [("pool", self.key.name.clone()), ("store", self.store.name())]
    }

    /// The path of its store, or the address without the password.
    #[must_use]
    pub fn store_name(&self) -> String {
        self.store.name()
    }

    /// Lends an id to a holder that renews and returns it by calls of its own: for a service that
    /// lends to others. In a Rust program, [`lend`](WorkerPool::lend) does all that.
    ///
    /// The holder counts its lease from before it asked for it, and makes no id after it.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// use std::time::SystemTime;
    ///
    /// use uidring::Store;
    /// use uidring::lend::LoanRequest;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let pool = Store::open(folder.path().join("uidring.db"))?.worker_pool("shop", 10)?;
    /// let grant = pool.grant(&LoanRequest::new())?;
    /// pool.renew(grant.id, &grant.secret, SystemTime::now())?;
    /// pool.give_back(grant.id, &grant.secret, SystemTime::now())?;
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`lend`](WorkerPool::lend), and [`LendError::Secret`].
    pub fn grant(&self, request: &LoanRequest) -> Result<Grant, LendError> {
        let (ask, secret) = request.ask()?;
        let id = self.store.grant(&self.key, &ask)?;
        Ok(Grant { id, secret, lease: request.lease })
    }

    /// Renews the loan of `id` by the holder's `secret`, whose clock shows `clock`: it lasts for
    /// another lease from now on.
    ///
    /// # Errors
    ///
    /// [`LendError::Lost`] when the lease has ended, the id was returned, or another has it;
    /// [`LendError::Storage`] when the store cannot be used.
    pub fn renew(&self, id: u64, secret: &str, clock: SystemTime) -> Result<(), LendError> {
        let (holder, clock) = (hash_of(secret), ms_of(clock));
        let renewed = |loan: &LoanRow, now| loan.renewed(&holder, clock, now);
        self.store.change("renew a loan in", &self.key, id, &renewed)
    }

    /// Returns the `id` by the holder's `secret`, whose clock shows `clock`. It rests all the same
    /// before it is lent again. The same return again does nothing.
    ///
    /// # Errors
    ///
    /// [`LendError::Lost`] when another has the id; [`LendError::Storage`] when the store cannot be
    /// used.
    pub fn give_back(&self, id: u64, secret: &str, clock: SystemTime) -> Result<(), LendError> {
        let (holder, clock) = (hash_of(secret), ms_of(clock));
        let returned = |loan: &LoanRow, now| loan.returned(&holder, clock, now);
        self.store.change("return a worker id to", &self.key, id, &returned)
    }

    /// The last loan of each id that was ever lent, sorted by the id.
    ///
    /// # Errors
    ///
    /// [`LendError::OtherBits`], and [`LendError::Storage`] when the store cannot be used.
    pub fn loans(&self) -> Result<Vec<Loan>, LendError> {
        let (rows, now) = self.store.loans(&self.key)?;
        Ok(rows.into_iter().map(|row| Loan::of(row, now)).collect())
    }

    /// How many ids are held, rest, and may be lent. With the feature `metrics`, these are shown as
    /// gauges, too.
    ///
    /// # Errors
    ///
    /// As [`loans`](WorkerPool::loans).
    pub fn counts(&self) -> Result<PoolCounts, LendError> {
        let (held, resting) = self.store.counts(&self.key)?;
        let counts = PoolCounts::of(self.key.bits, held, resting);
        metrics::show_counts(&self.labels(), counts);
        Ok(counts)
    }
}

fn check_name(name: &str) -> Result<(), LendError> {
    let is_name_char = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if (1..=64).contains(&name.len()) && name.chars().all(is_name_char) {
        return Ok(());
    }
    Err(LendError::Name { name: name.to_owned() })
}

impl fmt::Debug for WorkerPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkerPool")
            .field("name", &self.key.name)
            .field("bits", &self.key.bits)
            .field("store", &self.store.name())
            .finish()
    }
}

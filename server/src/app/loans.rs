//! The pools of worker ids that are lent to clients.

use std::sync::{Mutex, OnceLock};

use uidring::lend::{LendError, PoolRecord, WorkerPool};
use uidring_args::Db;

use crate::app::{NotReady, lock};
use crate::config::db::{self, StoreFailure};
use crate::stats::trouble::Cause;

/// The most bits that the ids of a pool have. A loan is renewed and returned whatever it has.
const MOST_BITS: u32 = 22;

/// Where the pools are.
#[derive(Default)]
pub(crate) struct AppLoans {
    /// The database, once it has answered.
    db: OnceLock<Db>,
    /// How the ids of all pools were used when that was last looked for. `None` as long as no
    /// client has lent an id, so that a service which lends none asks for nothing.
    seen: Mutex<Option<Vec<PoolRecord>>>,
}

/// Why there is no pool, or why it does not do what is asked.
#[derive(Debug)]
pub(crate) enum LoanFailure {
    /// The database has not answered yet.
    NotReady(NotReady),
    /// There is no pool of this name.
    NoSuchPool(String),
    Error(LendError),
}

impl From<LendError> for LoanFailure {
    fn from(error: LendError) -> LoanFailure {
        LoanFailure::Error(error)
    }
}

impl AppLoans {
    /// Sets the database, which has answered.
    pub(crate) fn set_db(&self, db: Db) {
        let _ = self.db.set(db);
    }

    fn store(&self) -> Result<uidring::Store, LoanFailure> {
        let not_ready = |cause| LoanFailure::NotReady(NotReady(cause));
        let db = self.db.get().ok_or(not_ready(Cause::NotAsked))?;
        // A lost file is not replaced by an empty one.
        db::existing(db).map_err(|error| not_ready(StoreFailure::from(error).cause))
    }

    /// The pool, which may be new, with ids of so many bits.
    pub(crate) fn pool(&self, name: &str, bits: u32) -> Result<WorkerPool, LoanFailure> {
        Ok(self.store()?.worker_pool(name, bits)?)
    }

    /// The pool of a loan, whose holder need not know its bits.
    pub(crate) fn pool_of_loan(&self, name: &str) -> Result<WorkerPool, LoanFailure> {
        self.pool(name, MOST_BITS)
    }

    /// Records that a client has lent an id.
    pub(crate) fn note_use(&self) {
        lock(&self.seen).get_or_insert_default();
    }

    /// Counts how the ids of the pools are used, for metrics and the page. Blocks on the database.
    pub(crate) fn look(&self) {
        if lock(&self.seen).is_none() {
            return;
        }
        // What fails here is seen by the probe of the database.
        if let Ok(pools) = self.pools() {
            *lock(&self.seen) = Some(pools);
        }
    }

    /// How the ids of the pools were used when that was last looked for.
    pub(crate) fn seen(&self) -> Vec<PoolRecord> {
        lock(&self.seen).clone().unwrap_or_default()
    }

    /// All pools. Blocks on the database.
    pub(crate) fn pools(&self) -> Result<Vec<PoolRecord>, LoanFailure> {
        Ok(self.store()?.worker_pools()?)
    }

    /// The pool, which is there. Blocks on the database.
    pub(crate) fn find(&self, name: &str) -> Result<WorkerPool, LoanFailure> {
        let found = self.store()?.find_worker_pool(name)?;
        found.ok_or_else(|| LoanFailure::NoSuchPool(name.to_owned()))
    }
}

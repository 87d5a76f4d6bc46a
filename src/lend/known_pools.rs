//! [`KnownPools`], by which a process recognises its store: in another one, or an old copy, pools
//! are younger, or fewer of their ids were lent.

use std::collections::HashMap;

use super::store::PoolKey;
use crate::backend::error::Error;
use crate::sync::{Arc, Mutex, lock};

/// A pool, as the store has it.
#[derive(Clone, Copy, Debug)]
pub struct Pool {
    pub bits: u32,
    /// The largest id that was ever lent.
    pub last_id: u64,
    /// When it was made.
    pub created: i64,
}

/// The pools that this process has used, as it last saw them.
#[derive(Clone, Debug, Default)]
pub struct KnownPools(Arc<Mutex<HashMap<String, Pool>>>);

impl KnownPools {
    /// The pool, if it is known. A transaction is given what was known before it reads anything:
    /// what others of this process lend later, it need not see.
    pub fn get(&self, pool: &PoolKey) -> Option<Pool> {
        lock(&self.0).get(&pool.name).copied()
    }

    /// The store has `found` the pool so.
    pub fn note(&self, pool: &PoolKey, found: Pool) {
        let mut pools = lock(&self.0);
        let known = pools.entry(pool.name.clone()).or_insert(found);
        known.last_id = known.last_id.max(found.last_id);
    }
}

/// Fails if the store has not `found` all that was `known` of the pool. Its `records` are "tables"
/// or "keys".
pub fn check_identity(
    records: &str,
    pool: &PoolKey,
    known: Option<Pool>,
    found: Option<Pool>,
) -> Result<(), Error> {
    let Some(known) = known else { return Ok(()) };
    let is_same = |found: Pool| found.created == known.created && found.last_id >= known.last_id;
    if found.is_some_and(is_same) {
        return Ok(());
    }
    Err(Error::problem(format!(
        "its {records} do not know all loans of the pool {} that this process has seen: they are \
         others, or an old copy, which could lend an id twice; put back what was there, and this \
         process goes on",
        pool.name
    )))
}

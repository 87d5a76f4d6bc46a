//! [`LoanStore`], where pools are kept, and what it tells of them.

use std::fmt::Debug;
use std::time::{Duration, SystemTime};

use super::error::LendError;
use super::rules::{Ask, LoanRow, last_id, time_of};

/// A name and a width.
#[derive(Clone, Debug)]
pub struct PoolKey {
    pub name: String,
    pub bits: u32,
}

impl PoolKey {
    /// Fails if the store's pool has ids of other than these bits.
    pub fn check_width(&self, stored: u32) -> Result<(), LendError> {
        let (pool, asked) = (self.name.clone(), self.bits);
        if stored == asked { Ok(()) } else { Err(LendError::OtherBits { pool, stored, asked }) }
    }
}

/// What becomes of a loan at the store's time.
pub type Change<'a> = dyn Fn(&LoanRow, i64) -> Option<LoanRow> + Sync + 'a;

/// A store that has pools. Calls block, each at most for the store's time limit, and each is one
/// durable transaction.
pub trait LoanStore: Debug + Send + Sync {
    /// The path, or the address without the password.
    fn name(&self) -> String;

    /// Lends an id, or renews the loan of the same holder if there is one.
    fn grant(&self, pool: &PoolKey, ask: &Ask) -> Result<u64, LendError>;

    /// Changes the loan of `id` as `change` says, from the loan as it is and the store's time. If
    /// that says `None`, it is lost. `doing` is what cannot be done if it fails, up to the name of
    /// the store: "renew a loan in".
    fn change(
        &self,
        doing: &str,
        pool: &PoolKey,
        id: u64,
        change: &Change<'_>,
    ) -> Result<(), LendError>;

    /// The last loan of each id that was lent, sorted by the id, and the store's time.
    fn loans(&self, pool: &PoolKey) -> Result<(Vec<LoanRow>, i64), LendError>;

    /// How many ids have a holder, and how many rest.
    fn counts(&self, pool: &PoolKey) -> Result<(u64, u64), LendError>;

    /// The width of the pool of this name, if it is there. It reads nothing of other pools.
    fn width(&self, name: &str) -> Result<Option<u32>, LendError>;

    /// All pools, sorted by their names.
    fn pools(&self) -> Result<Vec<PoolRecord>, LendError>;
}

/// The last loan of an id of a pool.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loan {
    /// The id.
    pub id: u64,
    /// Where the holder runs, as it said.
    pub host: String,
    /// Since when it has the id, by the store's clock, like the times below.
    pub since: SystemTime,
    /// When the lease ends, unless it is renewed; or when it ended.
    pub until: SystemTime,
    /// From when on the id may be lent again, unless the lease is renewed.
    pub rests_until: SystemTime,
    /// The length of the lease, from each renewal on.
    pub lease: Duration,
    /// What the holder's own clock may show until the end of the lease, or has shown until the
    /// return. The clock of the next holder has to show more, by a second.
    pub clock_until: SystemTime,
    /// What became of the id.
    pub state: LoanState,
}

/// What became of an id that was lent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoanState {
    /// Its holder has it.
    Held,
    /// It has no holder, and may not be lent yet.
    Resting,
    /// It may be lent.
    Free,
}

impl LoanState {
    /// The state in one lower-case word: "held", "resting" or "free".
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            LoanState::Held => "held",
            LoanState::Resting => "resting",
            LoanState::Free => "free",
        }
    }
}

impl Loan {
    pub(super) fn of(row: LoanRow, now: i64) -> Loan {
        let state = if row.is_held(now) {
            LoanState::Held
        } else if row.has_rested(now) {
            LoanState::Free
        } else {
            LoanState::Resting
        };
        Loan {
            id: row.id,
            since: time_of(row.since),
            until: time_of(row.lease_until),
            rests_until: time_of(row.rests_until),
            lease: Duration::from_millis(row.lease_ms.unsigned_abs()),
            clock_until: time_of(row.clock_until),
            state,
            host: row.host,
        }
    }
}

/// How the ids of a pool are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolCounts {
    /// Ids that have a holder.
    pub held: u64,
    /// Ids that have none, and may not be lent yet.
    pub resting: u64,
    /// Ids that may be lent.
    pub free: u64,
}

impl PoolCounts {
    pub(super) fn of(bits: u32, held: u64, resting: u64) -> PoolCounts {
        let free = last_id(bits).saturating_sub(held).saturating_sub(resting);
        PoolCounts { held, resting, free }
    }
}

/// A pool that is in a store.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolRecord {
    /// Its name.
    pub name: String,
    /// The width of its ids in bits.
    pub bits: u32,
    /// How its ids are used.
    pub counts: PoolCounts,
}

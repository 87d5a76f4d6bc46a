//! Why no worker id is lent, or not any longer.

use std::error::Error;
use std::fmt;
use std::io;
use std::time::{Duration, SystemTime};

use crate::backend::StorageError;
use crate::clock::{human, utc};

/// An error of a pool of worker ids.
///
/// An error says what is wrong and what to do. What the database, the driver or the file system
/// said is its [`source`](Error::source).
#[derive(Debug)]
#[non_exhaustive]
pub enum LendError {
    /// The store cannot be used, or not now.
    Storage(StorageError),
    /// No pool can have this name.
    Name {
        /// The name.
        name: String,
    },
    /// No pool has so many bits.
    Bits {
        /// The width asked for.
        bits: u32,
    },
    /// The pool has another width.
    OtherBits {
        /// The name of the pool.
        pool: String,
        /// The width that the pool was first used with.
        stored: u32,
        /// The width asked for.
        asked: u32,
    },
    /// No id of the pool may be lent now.
    Full {
        /// The name of the pool.
        pool: String,
        /// How many ids have a holder.
        held: u64,
        /// How many ids rest.
        resting: u64,
        /// When the first of them may be lent, by the store's clock, unless its holder renews it.
        first_free: SystemTime,
    },
    /// The borrower's clock does not show more than the last holder's clock may have shown, for any
    /// id that has rested: ids of both could have the same time.
    ClockBehind {
        /// How far it has to go on.
        by: Duration,
    },
    /// The loan is over: its lease has ended, or it was returned, or it never was.
    Lost {
        /// The id.
        id: u64,
    },
    /// No lease is so long.
    Lease {
        /// The length asked for.
        lease: Duration,
    },
    /// No rest is so long.
    Rest {
        /// The length asked for.
        rest: Duration,
    },
    /// No loan can have this secret, which is not shown.
    Secret,
    /// The thread that renews the loan could not be started. The id has been returned.
    Spawn(io::Error),
}

impl LendError {
    /// Whether the same call may succeed in a moment: the store is locked, down, or does not
    /// answer.
    ///
    /// ```
    /// # use uidring::lend::LendError;
    /// assert!(!LendError::Lost { id: 7 }.is_transient());
    /// ```
    #[must_use]
    pub fn is_transient(&self) -> bool {
        matches!(self, LendError::Storage(error) if error.is_transient())
    }
}

impl From<StorageError> for LendError {
    fn from(error: StorageError) -> LendError {
        LendError::Storage(error)
    }
}

impl fmt::Display for LendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LendError::Storage(error) => write!(f, "{error}"),
            LendError::Name { name } => write!(
                f,
                "no pool is called {name:?}: a name is 1 to 64 characters: letters and digits of \
                 ASCII, '-', '_' and '.'"
            ),
            LendError::Bits { bits } => {
                write!(f, "no pool has ids of {bits} bits: 1 to 22 are possible")
            }
            LendError::OtherBits { pool, stored, asked } => write!(
                f,
                "the pool {pool} was first used with ids of {stored} bits, and ids of {asked} bits \
                 are asked for; ask for {stored}, or use another pool"
            ),
            LendError::Full { pool, held, resting, first_free } => write!(
                f,
                "no id of the pool {pool} may be lent now: {held} are held, and {resting} rest; \
                 the first may be lent at {}, unless its holder renews it: try again then, or use \
                 a pool with more bits",
                utc(*first_free)
            ),
            LendError::ClockBehind { by } => write!(
                f,
                "the clock of this machine is {} behind what the last holder's clock may have \
                 shown, so that ids could be equal: set the clock, or try again after that time",
                human(*by)
            ),
            LendError::Lost { id } => write!(
                f,
                "worker id {id} is not lent to this holder any more: the lease has ended, or the \
                 id was returned; make no more ids with it, and lend another"
            ),
            LendError::Lease { lease } => {
                write!(f, "a lease cannot be {}: it is 1 s to 30 days", human(*lease))
            }
            LendError::Rest { rest } => {
                write!(f, "a rest cannot be {}: it is 1 s to 30 days", human(*rest))
            }
            LendError::Secret => f.write_str(
                "the secret of a loan is 16 to 128 visible characters of ASCII; make it of random \
                 numbers",
            ),
            LendError::Spawn(_) => f.write_str(
                "no thread could be started that renews the loan, so the worker id was returned; \
                 raise the limit of threads",
            ),
        }
    }
}

impl Error for LendError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            // Its text is that of this error.
            LendError::Storage(error) => error.source(),
            LendError::Spawn(error) => Some(error),
            _ => None,
        }
    }
}

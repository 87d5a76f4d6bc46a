//! Worker ids for the generators that people already have: lent for a time, and lent again only
//! when the last holder cannot use them any more.
//!
//! Most programs with a Snowflake have no safe worker id: it comes from an address, a random draw
//! or a hand. A [`WorkerPool`] in any [`Store`](crate::Store) lends one to each process:
//!
//! ```
//! # #[cfg(feature = "sqlite")] {
//! use uidring::Store;
//! use uidring::lend::LendOptions;
//!
//! # let folder = tempfile::tempdir()?;
//! # let file = folder.path().join("uidring.db");
//! let store = Store::open(file)?; // or "postgres://ids@db.example.com/ids"
//! let pool = store.worker_pool("shop", 10)?;
//! let options = LendOptions::new().on_loss(|loss| eprintln!("{loss}")); // and end the process
//! let worker = pool.lend(options)?;
//! assert_eq!(worker.id(), 1); // to the generator, as its worker, machine or node
//! # assert!(worker.is_held());
//! worker.close()?;
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A pool has a name and a width: its ids are 1 to 2<sup>bits</sup> - 1. The id 0 is never lent,
//! because a generator that was not told its id usually takes 0. The ids of a pool are apart from
//! those of other pools, and from uidring's own, which a [`UidGenerator`](crate::UidGenerator) gets
//! from [`registry`](crate::registry): that is the better choice where the generator may be
//! changed.
//!
//! # What is promised
//!
//! No id of a pool has two holders at once, as long as each holder that is told to end ends before
//! its lease does. Two holders one after the other are apart by the rest, and by what their clocks
//! have shown. It cannot hold where a generator stands still for longer than lease and rest, and
//! then goes on with its old id.
//!
//! It rests on these rules:
//!
//! 1. An id has one holder: it is lent in one conditional transaction.
//! 2. It is lent again only when the store's clock has passed the lease's end and the rest, which
//!    is the largest difference between clocks that is believed.
//! 3. It is lent again only to a borrower whose own clock shows a second more than the last
//!    holder's clock may have shown, as the holder tells its time at each renewal.
//! 4. A renewal and a return are the holder's alone, by a secret. A renewal after the lease's end
//!    is refused, even where nobody else has the id.
//! 5. The holder counts its lease from before it asked, by a clock that goes on while the machine
//!    sleeps.
//! 6. Ids that were never lent come first, and then the one that has rested the longest.
//!
//! On Linux, the clock of rule 5 is `CLOCK_BOOTTIME`, and on macOS its like. Elsewhere it is the
//! one of [`Instant`](std::time::Instant), which counts sleep on Windows. A virtual machine that is
//! stopped or copied as a whole has no clock that shows it.

mod error;
#[cfg(any(feature = "etcd", feature = "redis", feature = "zookeeper"))]
mod keys;
mod known_pools;
mod metrics;
mod options;
mod pool;
mod renewal;
mod request;
mod rules;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
mod sql;
mod status;
mod store;
mod worker;

pub use error::LendError;
#[cfg(any(feature = "etcd", feature = "redis", feature = "zookeeper"))]
pub(crate) use keys::KeyLoans;
pub use options::{LendOptions, Loss};
pub use pool::WorkerPool;
pub use request::{Grant, LoanRequest};
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
pub(crate) use sql::SqlLoans;
pub use status::LentStatus;
pub(crate) use store::LoanStore;
pub use store::{Loan, LoanState, PoolCounts, PoolRecord};
pub use worker::LentWorker;

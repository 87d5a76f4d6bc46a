//! Why a registry gives no worker id.

use std::error::Error;
use std::fmt;
use std::time::{Duration, SystemTime};

use crate::backend::StorageError;
use crate::clock::{human, utc};
use crate::layout::Layout;
use crate::support::audience::{MAX_LEAD, PerAudience, UID_GENERATOR};

/// An error returned by a registry of worker ids.
///
/// An error says what is wrong and what to do. What the database, the driver or the file system
/// said is its [`source`](Error::source).
///
/// A registry of one's own says [`LeaseLost`](RegistryError::LeaseLost) and
/// [`Exhausted`](RegistryError::Exhausted) where they are so, and for all else
/// [`unreachable`](RegistryError::unreachable) or [`other`](RegistryError::other).
#[derive(Debug)]
#[non_exhaustive]
pub enum RegistryError {
    /// The database or the file of the registry cannot be used, or not now.
    Storage(StorageError),
    /// The registry gives ids for another layout.
    OtherLayout {
        /// The one it was first used with.
        remembered: Layout,
        /// The one asked for.
        asked: Layout,
    },
    /// Every worker id that fits the layout has been given.
    Exhausted {
        /// How many have been given.
        used: u64,
        /// How many there are.
        capacity: u64,
        /// When the first lease ends, unless its holder goes on; `None` where none is known.
        next: Option<SystemTime>,
    },
    /// A [`FixedWorker`](crate::registry::FixedWorker) has given its number already.
    FixedInUse {
        /// The number.
        worker: u64,
    },
    /// There is no worker id where one was looked for.
    NoNumber {
        /// Where, as "the environment variable WORKER".
        place: String,
        /// What is there instead.
        problem: String,
    },
    /// The worker id has been used so far ahead of the clock that a generator could hardly borrow
    /// beyond.
    UsedAhead {
        /// The id.
        worker: u64,
        /// The last tick used, or reserved.
        used: SystemTime,
        /// The tick of the clock.
        now: SystemTime,
        /// How long until a generator can begin, if the clock goes on as it does.
        wait: Duration,
    },
    /// The worker id is no longer this generator's: the lease expired and another generator has
    /// taken the id over, or the state file of a [`FixedWorker`](crate::registry::FixedWorker) was
    /// removed or changed.
    LeaseLost {
        /// The id.
        worker: u64,
    },
    /// The id does not fit the layout.
    WorkerRange {
        /// The id.
        worker: u64,
        /// The largest that fits.
        max: u64,
    },
    /// The lease of the id has ticks that no generator of the layout can use.
    LeaseRange {
        /// The id.
        worker: u64,
        /// The first tick of the lease.
        first: u64,
        /// The last one.
        last: u64,
        /// The layout's last one.
        max: u64,
    },
    /// The registry has given no lease of the id.
    NotLeased {
        /// The id.
        worker: u64,
    },
    /// There is no such part of the worker field.
    Partition {
        /// The number of the part, from 0.
        index: u64,
        /// How many parts there are.
        of: u64,
    },
    /// There are no such worker ids.
    WorkerIds {
        /// The first id asked for.
        first: u64,
        /// The last id asked for.
        last: u64,
    },
    /// A registry that has not been used yet would begin beside the table `WORKER_NODE` of Baidu's
    /// `UidGenerator`, in the same database, and nobody has said which worker ids are whose.
    BesideUidGenerator {
        /// The first id that the registry would give.
        first: u64,
        /// The largest id that the table has given; 0 if none.
        last: u64,
    },
    /// A registry of another crate failed, as [`unreachable`](RegistryError::unreachable) and
    /// [`other`](RegistryError::other) say it.
    Other {
        /// Whether the same call may succeed in a moment.
        is_transient: bool,
        /// What happened.
        source: Box<dyn Error + Send + Sync>,
    },
}

impl RegistryError {
    /// The error of a registry of one's own that cannot be reached for now. The same call is tried
    /// again: until [`start_deadline`](crate::Builder::start_deadline) when a generator is built,
    /// and with growing pauses while it runs.
    ///
    /// ```
    /// use std::error::Error;
    /// use uidring::RegistryError;
    ///
    /// let error = RegistryError::unreachable("the connection was refused");
    /// assert!(error.is_transient());
    /// assert_eq!(error.to_string(), "the registry cannot be reached for now");
    /// assert_eq!(error.source().unwrap().to_string(), "the connection was refused");
    /// ```
    #[must_use]
    pub fn unreachable(cause: impl Into<Box<dyn Error + Send + Sync>>) -> RegistryError {
        RegistryError::Other { is_transient: true, source: cause.into() }
    }

    /// The error of a registry of one's own that failed in a way that another try will not mend.
    /// Building a generator fails at once.
    ///
    /// ```
    /// use uidring::RegistryError;
    ///
    /// let cause = std::io::Error::from(std::io::ErrorKind::PermissionDenied);
    /// let error = RegistryError::other(cause);
    /// assert!(!error.is_transient());
    /// assert_eq!(error.to_string(), "the registry failed");
    /// ```
    #[must_use]
    pub fn other(cause: impl Into<Box<dyn Error + Send + Sync>>) -> RegistryError {
        RegistryError::Other { is_transient: false, source: cause.into() }
    }

    /// Whether the same call may succeed in a moment: the registry is locked, down, or does not
    /// answer.
    ///
    /// ```
    /// # use uidring::RegistryError;
    /// assert!(!RegistryError::LeaseLost { worker: 7 }.is_transient());
    /// ```
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            RegistryError::Storage(error) => error.is_transient(),
            RegistryError::Other { is_transient, .. } => *is_transient,
            _ => false,
        }
    }
}

impl From<StorageError> for RegistryError {
    fn from(error: StorageError) -> RegistryError {
        RegistryError::Storage(error)
    }
}

impl fmt::Display for RegistryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RegistryError::Storage(error) => write!(f, "{error}"),
            RegistryError::NotLeased { worker } => write!(
                f,
                "worker id {worker} is not leased: an id that was given once, or never, is \
                 nobody's to give back"
            ),
            RegistryError::Partition { index, of } => {
                write!(
                    f,
                    "there is no partition {index} of {of}: they are numbered from 0, and 2^42 are \
                     the most"
                )
            }
            RegistryError::WorkerIds { first, last } => {
                write!(
                    f,
                    "a registry cannot give the worker ids {first} to {last}: the range needs an \
                     id from 1 on, and 2^42 - 1 is the last of any layout"
                )
            }
            RegistryError::OtherLayout { remembered, asked } => write!(
                f,
                "the registry was first used with the layout {remembered} and cannot serve \
                 {asked}: worker ids of one layout say nothing about another; use that layout, or \
                 a registry of its own for this one"
            ),
            RegistryError::Exhausted { used, capacity, next } => {
                write!(f, "worker ids ran out: {used} of {capacity} used; ")?;
                match next {
                    Some(end) => write!(
                        f,
                        "the first lease ends at {}, unless its holder goes on: try again then, or \
                         free the id of a holder that is gone, which `uidring workers` lists, by \
                         `uidring workers release ID --force`; else ",
                        utc(*end)
                    )?,
                    None => f.write_str("those that are not leased never come back: ")?,
                }
                f.write_str(
                    "start a new registry with other ids, or for a layout with more worker bits \
                     whose UIDs exceed those in use",
                )
            }
            RegistryError::FixedInUse { worker } => write!(
                f,
                "the fixed worker id {worker} is in use by a generator, and there is no other; \
                 take ids from a registry, or give each generator a number of its own"
            ),
            RegistryError::NoNumber { place, problem } => {
                write!(f, "no worker id in {place}: {problem}; a worker id is a whole number")
            }
            RegistryError::UsedAhead { worker, used, now, wait } => write!(
                f,
                "worker id {worker} has been used up to {}, and the clock shows {}: try again in \
                 {}, set the clock, take another number, or make {MAX_LEAD} more than twice the \
                 distance",
                utc(*used),
                utc(*now),
                human(*wait)
            ),
            RegistryError::LeaseLost { worker } => write!(
                f,
                "worker id {worker} is no longer this generator's: its lease expired and another \
                 generator has it, or its state file was removed or changed; the ticks reserved \
                 before stay this one's"
            ),
            RegistryError::WorkerRange { worker, max } => write!(
                f,
                "worker id {worker} does not fit the layout's {} worker bits: the largest is {max}",
                max.count_ones()
            ),
            RegistryError::LeaseRange { worker, first, last, max } => write!(
                f,
                "the registry gave worker id {worker} with the ticks {first} to {last}: a lease \
                 has a tick at least and none after the layout's last, {max}; a permanent one has \
                 all up to that"
            ),
            RegistryError::BesideUidGenerator { first, last } => write!(
                f,
                "UidGenerator's table WORKER_NODE in the same database has given the worker ids up \
                 to {last}, and a registry that begins beside it would give its own from {first} \
                 on, so that UIDs could be equal: take worker ids from that table \
                 ({UID_GENERATOR}); or ask for worker ids above all that it will come to \
                 ({OTHER_IDS}), of the same layout; or, if the UIDs of both never meet, name \
                 another database{OTHER_DB}"
            ),
            RegistryError::Other { is_transient: true, .. } => {
                f.write_str("the registry cannot be reached for now")
            }
            RegistryError::Other { is_transient: false, .. } => f.write_str("the registry failed"),
        }
    }
}

const OTHER_IDS: PerAudience = PerAudience {
    library: "worker_ids, partition",
    tool: "with --worker-ids or --partition",
    service: "with --worker-ids or --partition, and for Leaf's snowflakes with \
              --leaf-worker-ids",
    binding: "worker_ids, partition",
};

const OTHER_DB: PerAudience = PerAudience {
    library: " for the registry",
    tool: " with --db",
    service: " with --db or --leaf-db",
    binding: " in the address",
};

impl Error for RegistryError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            // Its text is that of this error.
            RegistryError::Storage(error) => error.source(),
            RegistryError::Other { source, .. } => Some(&**source),
            _ => None,
        }
    }
}

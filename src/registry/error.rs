//! Why a registry gives no worker id.

use std::error::Error;
use std::fmt;
use std::time::{Duration, SystemTime};

use crate::clock::utc;
use crate::layout::Layout;

/// A registry has no worker id to give.
#[derive(Debug)]
#[non_exhaustive]
pub enum RegistryError {
    /// The registry cannot be used as it is.
    Open {
        /// The file, or the address without the password.
        registry: String,
        /// What is wrong with it and what to do, as a sentence about it.
        problem: String,
        /// What the database said.
        source: Option<Box<dyn Error + Send + Sync>>,
    },
    /// Another process held the registry for longer than this one is ready to wait.
    Locked {
        /// The file, or the address without the password.
        registry: String,
        /// How long it was waited for.
        waited: Duration,
    },
    /// The registry's server is down, does not answer, or does not serve this call for now.
    Unreachable {
        /// The address without the password.
        registry: String,
        /// What happened, as a sentence about the server.
        problem: String,
        /// What the driver said.
        source: Option<Box<dyn Error + Send + Sync>>,
    },
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
        /// The last second used, or reserved.
        used: SystemTime,
        /// The second of the clock.
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
    /// The lease of the id has seconds that no generator of the layout can use.
    LeaseRange {
        /// The id.
        worker: u64,
        /// The first second, as a tick of the layout.
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
    /// The disk of the registry is full.
    Full {
        /// The file, or the address without the password.
        registry: String,
        /// What the database said.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The registry failed.
    Storage {
        /// What could not be done, as "store a worker id in the registry uidring.db".
        doing: String,
        /// What the database said.
        source: Box<dyn Error + Send + Sync>,
    },
}

impl RegistryError {
    /// Whether the same call may succeed in a moment: the registry is locked, down, or does not
    /// answer.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        matches!(self, RegistryError::Locked { .. } | RegistryError::Unreachable { .. })
    }
}

impl fmt::Display for RegistryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RegistryError::Open { registry, problem, .. } => {
                write!(f, "cannot open the registry {registry}: {problem}")
            }
            RegistryError::Locked { registry, waited } => write!(
                f,
                "the registry {registry} was locked by another process for {waited:?}; see who \
                 holds it, or wait longer"
            ),
            RegistryError::Unreachable { registry, problem, .. } => {
                write!(f, "cannot reach the registry {registry}: {problem}")
            }
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
            RegistryError::OtherLayout { remembered, asked } => write!(
                f,
                "the registry was first used with the layout {remembered} and cannot serve \
                 {asked}: worker ids of one layout say nothing about another; use that layout, or \
                 a registry of its own for this one"
            ),
            RegistryError::Exhausted { used, capacity } => write!(
                f,
                "worker ids ran out: {used} of {capacity} used; choose a layout with more worker \
                 bits and start a new registry for it"
            ),
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
                 {wait:?}, set the clock, take another number, or allow a max_lead of more than \
                 twice the distance",
                utc(*used),
                utc(*now)
            ),
            RegistryError::LeaseLost { worker } => write!(
                f,
                "worker id {worker} is no longer this generator's: its lease expired and another \
                 generator has it, or its state file was removed or changed; the seconds reserved \
                 before stay this one's"
            ),
            RegistryError::WorkerRange { worker, max } => write!(
                f,
                "worker id {worker} does not fit the layout's {} worker bits: the largest is {max}",
                max.count_ones()
            ),
            RegistryError::LeaseRange { worker, first, last, max } => write!(
                f,
                "the registry gave worker id {worker} with the seconds {first} to {last}: a lease \
                 has a second at least, none after the layout's last, {max}, and without a \
                 duration all up to that one"
            ),
            RegistryError::Full { registry, .. } => {
                write!(
                    f,
                    "the disk of the registry {registry} is full: make room and start again; \
                     nothing was used up"
                )
            }
            RegistryError::Storage { doing, source } => {
                write!(f, "cannot {doing}: {source}")?;
                // A database's first words can be as few as "disk I/O error".
                source.source().map_or(Ok(()), |cause| write!(f, " ({cause})"))
            }
        }
    }
}

impl Error for RegistryError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            RegistryError::Open { source, .. } | RegistryError::Unreachable { source, .. } => {
                source.as_deref().map(|source| source as _)
            }
            RegistryError::Full { source, .. } | RegistryError::Storage { source, .. } => {
                Some(&**source)
            }
            _ => None,
        }
    }
}

//! Why no UID of a time is given.

use std::error::Error;
use std::fmt;
use std::io;
use std::time::{Duration, SystemTime};

use crate::clock::{human, utc};
use crate::engine::TakeError;
use crate::registry::RegistryError;
use crate::support::audience::PerAudience;
use crate::support::rule::BrokenRule;

/// No UID of a time can be taken.
#[derive(Debug)]
#[non_exhaustive]
pub enum TakeAtError {
    /// The layout begins later.
    BeforeEpoch {
        /// The time asked for.
        time: SystemTime,
        /// When the layout begins.
        epoch: SystemTime,
    },
    /// The time has not come.
    Future {
        /// The time asked for.
        time: SystemTime,
        /// What the clock shows.
        now: SystemTime,
    },
    /// The layout ended before.
    AfterEnd {
        /// The time asked for.
        time: SystemTime,
        /// When the layout's time field ends.
        expires_at: SystemTime,
    },
    /// A further worker id is needed, and as many as
    /// [`max_new_workers`](crate::Builder::max_new_workers) allows in an hour were taken on.
    NoNewWorker {
        /// The time asked for.
        time: SystemTime,
        /// `true`: all UIDs of the tick are taken. `false`: the time is so long before others that
        /// were asked for that it is forgotten which UIDs of it were taken.
        is_full: bool,
        /// How long until another worker id may be taken on; `None` where none may be.
        retry_in: Option<Duration>,
    },
    /// A further worker id is needed, and the registry gives none.
    Registry(RegistryError),
    /// The registry gave a worker id again. The generator has ended for good, so that no id is
    /// given twice.
    BrokenRule(BrokenRule),
    /// The thread of `take_times_async` cannot be started.
    Spawn(io::Error),
    /// This process was forked from the one that built the generator.
    Forked,
}

impl TakeAtError {
    /// Whether the same call may succeed in a moment.
    ///
    /// ```
    /// assert!(!uidring::TakeAtError::Forked.is_transient());
    /// ```
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            TakeAtError::Registry(error) => error.is_transient(),
            TakeAtError::NoNewWorker { retry_in, .. } => retry_in.is_some(),
            TakeAtError::Spawn(_) => true,
            _ => false,
        }
    }
}

impl fmt::Display for TakeAtError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TakeAtError::BeforeEpoch { time, epoch } => write!(
                f,
                "no UID of {}: the layout begins at {}; choose a layout with an earlier epoch, \
                 which `uidring plan --oldest` finds, before the first id is given",
                utc(*time),
                utc(*epoch)
            ),
            TakeAtError::Future { time, now } => write!(
                f,
                "no UID of {}: the clock shows {}, and ids of the past are for times that were",
                utc(*time),
                utc(*now)
            ),
            TakeAtError::AfterEnd { time, expires_at } => write!(
                f,
                "no UID of {}: the layout's time field ended at {}",
                utc(*time),
                utc(*expires_at)
            ),
            TakeAtError::NoNewWorker { time, is_full, retry_in } => {
                write!(f, "no UID of {}: ", utc(*time))?;
                f.write_str(if *is_full {
                    "all of this tick are taken, and another worker id is needed"
                } else {
                    "it is long before other times asked for, and what was taken of it is \
                     forgotten, so that another worker id is needed; ask in the order of the times"
                })?;
                match retry_in {
                    Some(wait) => write!(
                        f,
                        "; as many as {MAX_NEW_WORKERS} allows were taken on, and the next may be \
                         in {}",
                        human(*wait)
                    ),
                    None => write!(f, "; {MAX_NEW_WORKERS} allows none"),
                }
            }
            TakeAtError::Registry(error) => error.fmt(f),
            TakeAtError::BrokenRule(broken) => write!(
                f,
                "the generator has ended, so that no id is given twice: {broken}; if its registry \
                 was restored from an old copy, raise its worker ids above all that were given"
            ),
            TakeAtError::Spawn(_) => f.write_str("the thread that asks cannot be started"),
            TakeAtError::Forked => TakeError::Forked.fmt(f),
        }
    }
}

const MAX_NEW_WORKERS: PerAudience = PerAudience {
    library: "max_new_workers",
    tool: "--max-new-workers",
    service: "--max-new-workers",
    binding: "max_new_workers",
};

impl Error for TakeAtError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            // Its text is that of this error.
            TakeAtError::Registry(error) => error.source(),
            TakeAtError::Spawn(error) => Some(error),
            _ => None,
        }
    }
}

/// No UIDs of many times can be taken.
#[derive(Debug)]
pub struct TakeTimesError {
    /// Which of the times it is about, from 0.
    pub index: usize,
    /// What is the matter with it.
    pub cause: TakeAtError,
}

impl fmt::Display for TakeTimesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "time {}: {}", self.index + 1, self.cause)
    }
}

impl Error for TakeTimesError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.source()
    }
}

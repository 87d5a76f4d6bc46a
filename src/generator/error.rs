//! Why a generator cannot be built, installed or shut down.

use std::error::Error;
use std::fmt;
use std::io;
use std::time::{Duration, SystemTime};

use crate::clock::{human, is_plausible, utc};
use crate::generator::UidGenerator;
use crate::registry::RegistryError;
use crate::ring::{MAX_SLOTS, MIN_SLOTS};
use crate::support::audience::{MAX_LAG, MAX_LEAD, PerAudience};
use crate::sync::Arc;

/// A generator cannot be built.
#[derive(Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// The builder was given no registry. Worker ids are never guessed.
    NoRegistry,
    /// The number of slots is not a power of two from 2 to 65,536.
    Slots {
        /// The number asked for.
        slots: usize,
    },
    /// The refill mark is not a percentage from 1 to 99.
    RefillAt {
        /// The percentage asked for.
        percent: u32,
    },
    /// The registry has no worker id to give.
    Registry(RegistryError),
    /// The registry could not be reached in time.
    StartDeadline {
        /// How long [`start_deadline`](crate::Builder::start_deadline) allows.
        deadline: Duration,
        /// How often it was asked.
        tries: u32,
        /// The error of the last try.
        last: RegistryError,
    },
    /// The limits leave no tick that could be handed out.
    Limits {
        /// The lead asked for.
        max_lead: Duration,
        /// The lag asked for.
        max_lag: Duration,
        /// The length of a tick. The lead or the lag must be at least as long.
        tick: Duration,
    },
    /// The layout's time field has ended.
    TimeExhausted {
        /// When.
        expires_at: SystemTime,
    },
    /// The layout's epoch has not begun.
    BeforeEpoch {
        /// When it begins.
        epoch: SystemTime,
        /// What the clock shows.
        now: SystemTime,
    },
    /// The clock shows a time that is more than 10^15 s (31 million years) before or after 1970.
    FarClock {
        /// What the clock shows.
        now: SystemTime,
    },
    /// With exact time, another worker id is never taken on for a lead that is used up.
    ExactTime,
    /// The clock is further ahead of the registry's last start than the builder allows.
    ForwardJump {
        /// What the clock shows.
        now: SystemTime,
        /// When the registry last assigned a worker id.
        last: SystemTime,
        /// The limit.
        max_forward_jump: Duration,
    },
    /// Ids of the past need a worker id that nobody had before, and that is given once.
    NotForThePast {
        /// The worker id.
        worker: u64,
        /// Whether it is leased. Otherwise it is a number of the caller's own.
        is_leased: bool,
    },
    /// The filler thread, or that of `build_async`, cannot be started.
    Spawn(io::Error),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::NoRegistry => f.write_str(
                "a generator needs a registry for its worker id: give the builder a \
                 SqliteRegistry, or a FixedWorker with a number that is yours alone",
            ),
            BuildError::Slots { slots } => {
                write!(
                    f,
                    "the ring cannot have {slots} slots: the number is a power of two from 2 to \
                     65536"
                )?;
                match nearest_slots(*slots) {
                    (below, above) if below == above => write!(f, "; the nearest is {below}"),
                    (below, above) => write!(f, "; the nearest are {below} and {above}"),
                }
            }
            BuildError::ExactTime => write!(
                f,
                "with exact time, a take at the lead limit waits or fails, and no other worker id \
                 is taken on: {ON_LEAD_LIMIT}, or leave it out"
            ),
            BuildError::RefillAt { percent } => {
                write!(
                    f,
                    "the ring cannot be refilled at {percent} percent: the mark is from 1 to 99"
                )
            }
            BuildError::Registry(error) => error.fmt(f),
            BuildError::StartDeadline { deadline, tries, last } => {
                write!(f, "no worker id within {}, in {tries} tries: {last}", human(*deadline))
            }
            BuildError::Limits { max_lead, max_lag, tick } => write!(
                f,
                "{MAX_LEAD}, {}, and {MAX_LAG}, {}, are both shorter than a tick, {}, so that \
                 there are times without any UID: allow a lag or a lead of a tick",
                human(*max_lead),
                human(*max_lag),
                human(*tick)
            ),
            BuildError::NotForThePast { worker, is_leased } => {
                write!(f, "ids of the past need a worker id that nobody had before, and ")?;
                if *is_leased {
                    write!(f, "{worker} is lent again and again: {WITHOUT_LEASE}")
                } else {
                    write!(
                        f,
                        "{worker} is a number of your own, of which no store knows the ids: take \
                         one from a store"
                    )
                }
            }
            BuildError::TimeExhausted { expires_at } => {
                write!(
                    f,
                    "the layout's time field ended at {}: choose a later epoch or more time bits",
                    utc(*expires_at)
                )
            }
            BuildError::BeforeEpoch { epoch, now } => write!(
                f,
                "the layout begins at {}, and the clock shows {}: {}",
                utc(*epoch),
                utc(*now),
                if is_plausible(*now) {
                    "set the clock, or choose an earlier epoch"
                } else {
                    "the clock is wrong; set it, or start the program when the network has set it"
                }
            ),
            BuildError::FarClock { now } => write!(
                f,
                "the clock shows {}, which is more than 10^15 s (31 million years) before or after \
                 1970: set the clock",
                utc(*now)
            ),
            BuildError::ForwardJump { now, last, max_forward_jump } => write!(
                f,
                "the clock shows {}, more than max_forward_jump, {}, after the last start at {}: \
                 set the clock, or allow a longer jump",
                utc(*now),
                human(*max_forward_jump),
                utc(*last)
            ),
            BuildError::Spawn(_) => f.write_str("cannot start a thread of the generator"),
        }
    }
}

const WITHOUT_LEASE: PerAudience = PerAudience {
    library: "use the registry as it is without leased",
    tool: "leave out --lease",
    service: "start a service of its own without --lease",
    binding: "leave out the option lease",
};

const ON_LEAD_LIMIT: PerAudience = PerAudience {
    library: "set on_lead_limit to Wait or Fail",
    tool: "set --on-lead-limit to wait or fail",
    service: "let it wait or fail",
    binding: "set on_lead_limit to wait or fail",
};

impl Error for BuildError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            // The registry's sentence is in that of this error.
            BuildError::Registry(error) => error.source(),
            BuildError::StartDeadline { last, .. } => last.source(),
            BuildError::Spawn(error) => Some(error),
            _ => None,
        }
    }
}

impl From<RegistryError> for BuildError {
    fn from(error: RegistryError) -> BuildError {
        BuildError::Registry(error)
    }
}

/// The powers of two around `slots` that a ring can have.
fn nearest_slots(slots: usize) -> (usize, usize) {
    let above = slots.clamp(MIN_SLOTS, MAX_SLOTS).next_power_of_two();
    let below = if above > slots { (above / 2).max(MIN_SLOTS) } else { above };
    (below, above)
}

/// A generator was shut down, and its worker id was not given back.
#[derive(Debug)]
#[non_exhaustive]
pub enum ShutdownError {
    /// The registry refused the worker id, or cannot be reached.
    NotReleased {
        /// The worker id.
        worker: u64,
        /// What the registry said.
        source: Arc<RegistryError>,
    },
    /// The registry has not answered yet. The worker id may still be given back.
    Deadline {
        /// The worker id.
        worker: u64,
        /// How long it was waited for. Not at all on a thread of the generator, see
        /// [`shutdown`](crate::UidGenerator::shutdown).
        deadline: Duration,
    },
    /// No thread can be started that waits for the registry. The generator is shut down. If this
    /// was its last handle, the call has waited for the registry on its own thread.
    Spawn(io::Error),
}

impl fmt::Display for ShutdownError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShutdownError::NotReleased { worker, .. } => write!(
                f,
                "worker id {worker} was not given back: it becomes free when its lease has expired"
            ),
            ShutdownError::Deadline { worker, deadline } if deadline.is_zero() => write!(
                f,
                "worker id {worker} was not waited for: it is still being given back; the id \
                 becomes free at the latest when its lease has expired"
            ),
            ShutdownError::Deadline { worker, deadline } => write!(
                f,
                "worker id {worker} was not given back within {}: the registry has not answered; \
                 the id becomes free at the latest when its lease has expired",
                human(*deadline)
            ),
            ShutdownError::Spawn(_) => {
                f.write_str("no thread can be started that waits until the worker id is given back")
            }
        }
    }
}

impl Error for ShutdownError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            ShutdownError::NotReleased { source, .. } => Some(&**source),
            ShutdownError::Deadline { .. } => None,
            ShutdownError::Spawn(error) => Some(error),
        }
    }
}

/// A process-wide generator is installed already.
#[derive(Debug)]
pub struct InstallError {
    pub(crate) generator: UidGenerator,
}

impl InstallError {
    /// The generator that was refused.
    ///
    /// ```
    /// # use uidring::{UidGenerator, registry::FixedWorker};
    /// let uids = |worker| UidGenerator::builder().registry(FixedWorker::new(worker)).build();
    /// uidring::install(uids(1)?)?;
    /// let refused = uidring::install(uids(2)?).unwrap_err();
    /// assert_eq!(refused.into_generator().worker_id(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn into_generator(self) -> UidGenerator {
        self.generator
    }
}

impl fmt::Display for InstallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a process-wide generator is installed already: install once, at the start of the \
             program",
        )
    }
}

impl Error for InstallError {}

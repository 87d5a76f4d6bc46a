//! What can go wrong: one small enum per fallible operation. The sentences speak of the world, with
//! the numbers, and say what to do.

use std::error::Error;
use std::fmt;
use std::io;
use std::time::{Duration, SystemTime};

use crate::layout::Layout;
use crate::uid::Uid;

/// A number outside `1..=2^63-1` is not a [`Uid`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UidRangeError(pub(crate) i128);

impl fmt::Display for UidRangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is not a UID: a UID is in 1..={}", self.0, Uid::MAX)
    }
}

impl Error for UidRangeError {}

/// A text is not a [`Uid`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseUidError {
    /// The text is empty.
    Empty,
    /// A character that is not a digit of this form.
    Character {
        /// The first such character.
        character: char,
        /// How many characters stand before it.
        index: usize,
    },
    /// A base32 text that does not have 13 characters.
    Length {
        /// How many it has.
        found: usize,
    },
    /// The number is 0 or above `2^63-1`.
    Range,
}

impl fmt::Display for ParseUidError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParseUidError::Empty => f.write_str("an empty text is not a UID"),
            ParseUidError::Character { character, index } => {
                write!(f, "character {} of a UID cannot be {character:?}", index + 1)
            }
            ParseUidError::Length { found } => {
                write!(f, "a UID in base32 has 13 characters, not {found}")
            }
            ParseUidError::Range => {
                write!(f, "the number is out of range: a UID is in 1..={}", Uid::MAX)
            }
        }
    }
}

impl Error for ParseUidError {}

/// A [`Layout`] cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LayoutError {
    /// A field is too narrow or too wide.
    Width {
        /// `"time"`, `"worker"` or `"sequence"`.
        field: &'static str,
        /// The width asked for, in bits.
        bits: u32,
        /// The least that this field can have.
        least: u32,
    },
    /// The widths do not fit into 63 bits.
    Sum {
        /// The width asked for the time field.
        time_bits: u32,
        /// The width asked for the worker field.
        worker_bits: u32,
        /// The width asked for the sequence field.
        sequence_bits: u32,
    },
    /// The tick is not a whole number of milliseconds from 1 to 1,000.
    Tick {
        /// The tick asked for.
        tick: Duration,
    },
    /// The epoch is not a whole number of milliseconds, or more than 10^15 s from 1970, or too far
    /// away for this platform's times.
    Epoch {
        /// The epoch asked for.
        epoch: SystemTime,
    },
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            LayoutError::Width { field, bits, least } => {
                write!(
                    f,
                    "the {field} field cannot have {bits} bits: it has at least {least} and at most 63"
                )
            }
            LayoutError::Sum { time_bits, worker_bits, sequence_bits } => write!(
                f,
                "{time_bits} + {worker_bits} + {sequence_bits} bits are {}, more than the 63 of a positive 64-bit \
                 number",
                time_bits + worker_bits + sequence_bits
            ),
            LayoutError::Tick { tick } => {
                write!(
                    f,
                    "a tick cannot be {tick:?}: it is a whole number of milliseconds from 1 to 1000"
                )
            }
            LayoutError::Epoch { epoch } => write!(
                f,
                "the epoch cannot be {}: it is a whole number of milliseconds, at most 10^15 s (31 million years) \
                 before or after 1970, and near enough for the times of the layout to be told on this platform",
                utc(epoch)
            ),
        }
    }
}

impl Error for LayoutError {}

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
                "the registry {registry} was locked by another process for {waited:?}; see who holds it, or wait longer"
            ),
            RegistryError::Unreachable { registry, problem, .. } => {
                write!(f, "cannot reach the registry {registry}: {problem}")
            }
            RegistryError::NotLeased { worker } => write!(
                f,
                "worker id {worker} is not leased: an id that was given once, or never, is nobody's to give back"
            ),
            RegistryError::Partition { index, of } => {
                write!(
                    f,
                    "there is no partition {index} of {of}: they are numbered from 0, and 2^42 are the most"
                )
            }
            RegistryError::OtherLayout { remembered, asked } => write!(
                f,
                "the registry was first used with the layout {remembered} and cannot serve {asked}: worker ids of \
                 one layout say nothing about another; use that layout, or a registry of its own for this one"
            ),
            RegistryError::Exhausted { used, capacity } => write!(
                f,
                "worker ids ran out: {used} of {capacity} used; choose a layout with more worker bits and start a \
                 new registry for it"
            ),
            RegistryError::FixedInUse { worker } => write!(
                f,
                "the fixed worker id {worker} is in use by a generator, and there is no other; take ids from a \
                 registry, or give each generator a number of its own"
            ),
            RegistryError::NoNumber { place, problem } => {
                write!(f, "no worker id in {place}: {problem}; a worker id is a whole number")
            }
            RegistryError::UsedAhead { worker, used, now, wait } => write!(
                f,
                "worker id {worker} has been used up to {}, and the clock shows {}: try again in {wait:?}, set the \
                 clock, take another number, or allow a max_lead of more than twice the distance",
                utc(*used),
                utc(*now)
            ),
            RegistryError::LeaseLost { worker } => write!(
                f,
                "worker id {worker} is no longer this generator's: its lease expired and another generator has it, or \
                 its state file was removed or changed; the seconds reserved before stay this one's"
            ),
            RegistryError::WorkerRange { worker, max } => write!(
                f,
                "worker id {worker} does not fit the layout's {} worker bits: the largest is {max}",
                max.count_ones()
            ),
            RegistryError::LeaseRange { worker, first, last, max } => write!(
                f,
                "the registry gave worker id {worker} with the seconds {first} to {last}: a lease has a second at least, \
                 none after the layout's last, {max}, and without a duration all up to that one"
            ),
            RegistryError::Full { registry, .. } => {
                write!(
                    f,
                    "the disk of the registry {registry} is full: make room and start again; nothing was used up"
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
        /// What the last try came to.
        last: RegistryError,
    },
    /// The limits leave no second that could be handed out.
    Limits {
        /// The lead asked for.
        max_lead: Duration,
        /// The lag asked for.
        max_lag: Duration,
        /// The length of a second, which the two have to span.
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
    /// The clock is further ahead of the registry's last start than the builder allows.
    ForwardJump {
        /// What the clock shows.
        now: SystemTime,
        /// When the registry gave a worker id last.
        last: SystemTime,
        /// The limit.
        max_forward_jump: Duration,
    },
    /// The filler thread cannot be started.
    Spawn(io::Error),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::NoRegistry => f.write_str(
                "a generator needs a registry for its worker id: give the builder a SqliteRegistry, or a FixedWorker \
                 with a number that is yours alone",
            ),
            BuildError::Slots { slots } => {
                write!(f, "the ring cannot have {slots} slots: the number is a power of two from 2 to 65536")?;
                match nearest_slots(*slots) {
                    (below, above) if below == above => write!(f, "; the nearest is {below}"),
                    (below, above) => write!(f, "; the nearest are {below} and {above}"),
                }
            }
            BuildError::RefillAt { percent } => {
                write!(f, "the ring cannot be refilled at {percent} percent: the mark is from 1 to 99")
            }
            BuildError::Registry(error) => error.fmt(f),
            BuildError::StartDeadline { deadline, tries, last } => {
                write!(f, "no worker id within {deadline:?}, in {tries} tries; the last: {last}")
            }
            BuildError::Limits { max_lead, max_lag, tick } => write!(
                f,
                "max_lead {max_lead:?} and max_lag {max_lag:?} are both shorter than a tick of {tick:?}, so that there \
                 are times without any UID: allow a lag or a lead of a tick"
            ),
            BuildError::TimeExhausted { expires_at } => {
                write!(
                    f,
                    "the layout's time field ended at {}: choose a later epoch or more time bits",
                    utc(*expires_at)
                )
            }
            BuildError::BeforeEpoch { epoch, now } => write!(
                f,
                "the layout begins at {}, and the clock shows {}: set the clock, or choose an earlier epoch",
                utc(*epoch),
                utc(*now)
            ),
            BuildError::FarClock { now } => write!(
                f,
                "the clock shows {}, which is more than 10^15 s (31 million years) before or after 1970: set the clock",
                utc(*now)
            ),
            BuildError::ForwardJump { now, last, max_forward_jump } => write!(
                f,
                "the clock shows {}, more than max_forward_jump {max_forward_jump:?} after the last start at {}: set the \
                 clock, or allow a longer jump",
                utc(*now),
                utc(*last)
            ),
            BuildError::Spawn(error) => write!(f, "cannot start the filler thread: {error}"),
        }
    }
}

impl Error for BuildError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            BuildError::Registry(error) | BuildError::StartDeadline { last: error, .. } => {
                error.source()
            }
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
    use crate::ring::{MAX_SLOTS, MIN_SLOTS};
    let above = slots.clamp(MIN_SLOTS, MAX_SLOTS).next_power_of_two();
    let below = if above > slots { (above / 2).max(MIN_SLOTS) } else { above };
    (below, above)
}

/// No UID can be taken.
///
/// Small, so that `Result<Uid, TakeError>` travels in two registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TakeError {
    /// [`uidring::take`](crate::take) was called before [`uidring::install`](crate::install).
    NotInstalled,
    /// The layout's time field is used up.
    TimeExhausted {
        /// When it ends, in milliseconds since 1970.
        expires_at_ms: i64,
    },
    /// UIDs have been borrowed from the seconds to come as far as
    /// [`max_lead`](crate::Builder::max_lead) allows.
    LeadLimit {
        /// When the next second is due, in milliseconds from now.
        retry_in_ms: u64,
    },
    /// The seconds reserved in the registry are used up, and it cannot be reached for more. Takes
    /// go on by themselves when it can.
    LeaseExhausted {
        /// The worker id.
        worker: u64,
    },
    /// This process was forked from the one that built the generator, which goes on handing these
    /// UIDs out: build another generator here, after the fork.
    Forked,
}

impl TakeError {
    /// How long to wait before trying again; `None` where waiting does not help, or nobody knows
    /// for how long: with [`LeaseExhausted`](TakeError::LeaseExhausted), until the registry can be
    /// reached.
    #[must_use]
    pub fn retry_in(&self) -> Option<Duration> {
        match *self {
            TakeError::LeadLimit { retry_in_ms } => Some(Duration::from_millis(retry_in_ms)),
            _ => None,
        }
    }
}

impl fmt::Display for TakeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            TakeError::NotInstalled => {
                f.write_str("no generator is installed: call uidring::install before uidring::take")
            }
            TakeError::TimeExhausted { expires_at_ms } => write!(
                f,
                "the layout's time field is used up: it ends at {}; move to a layout with a later epoch or more time \
                 bits",
                utc_ms(expires_at_ms)
            ),
            TakeError::LeaseExhausted { worker } => write!(
                f,
                "the seconds reserved for worker id {worker} are used up, and the registry gives no more; see that it \
                 can be reached"
            ),
            TakeError::Forked => f.write_str(
                "this process was forked from the one that built the generator: build another generator here, after the \
                 fork",
            ),
            TakeError::LeadLimit { retry_in_ms } => write!(
                f,
                "no UID for now: max_lead is used up, and the next second is due in {:?}; take less than the layout's \
                 sequence gives each second, or widen it; where few were taken, see whether the clock was set back",
                Duration::from_millis(retry_in_ms)
            ),
        }
    }
}

impl Error for TakeError {}

/// A buffer was not filled to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FillError {
    pub(crate) filled: usize,
    pub(crate) cause: TakeError,
}

impl FillError {
    /// How many UIDs, from the start of the buffer, are new and the caller's to use.
    #[must_use]
    pub fn filled(&self) -> usize {
        self.filled
    }

    /// Why there are no more.
    #[must_use]
    pub fn cause(&self) -> TakeError {
        self.cause
    }
}

impl fmt::Display for FillError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the buffer holds {} new UIDs and no more: {}", self.filled, self.cause)
    }
}

impl Error for FillError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.cause)
    }
}

impl From<FillError> for TakeError {
    fn from(error: FillError) -> TakeError {
        error.cause
    }
}

/// A process-wide generator is installed already. Gives the refused one back.
#[derive(Debug)]
pub struct InstallError(pub crate::UidGenerator);

impl fmt::Display for InstallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a process-wide generator is installed already: install once, at the start of the program")
    }
}

impl Error for InstallError {}

/// `time` in UTC as RFC 3339 has it; beyond the years it knows, as seconds since 1970.
pub(crate) fn utc(time: SystemTime) -> impl fmt::Display {
    match (jiff::Timestamp::try_from(time), time.duration_since(SystemTime::UNIX_EPOCH)) {
        (Ok(timestamp), _) => timestamp.to_string(),
        (Err(_), Ok(since)) => format!("Unix time {}", since.as_secs()),
        (Err(_), Err(before)) => format!("Unix time -{}", before.duration().as_secs()),
    }
}

fn utc_ms(ms: i64) -> impl fmt::Display {
    match jiff::Timestamp::from_millisecond(ms) {
        Ok(timestamp) => timestamp.to_string(),
        Err(_) => format!("Unix time {}", ms / 1000),
    }
}

//! Why a take fails.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use crate::clock::{human, utc_ms};
use crate::support::audience::MAX_LEAD;
use crate::support::rule::Rule;

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
    /// UIDs have been borrowed from future ticks as far as
    /// [`max_lead`](crate::Builder::max_lead) allows.
    LeadLimit {
        /// When the next tick is due, in milliseconds from now.
        retry_in_ms: u64,
    },
    /// The ticks reserved in the registry are used up, and the registry has not granted more yet.
    /// Takes succeed again when it does.
    LeaseExhausted {
        /// The worker id.
        worker: u64,
    },
    /// The numbers of a tag that were loaded are used up, and no further ones have come for
    /// `max_wait`. Takes succeed again when they come.
    SegmentExhausted {
        /// Why none have come.
        cause: SegmentFailure,
    },
    /// The generator was shut down by [`shutdown`](crate::UidGenerator::shutdown), or by
    /// `shutdown_async` (feature `async`).
    ShutDown,
    /// A rule did not hold on which it rests that no id is given twice: the generator has ended for
    /// good. [`Status::broken_rule`](crate::Status::broken_rule) and the event `rule_broken` have
    /// the numbers.
    BrokenRule {
        /// The rule.
        rule: Rule,
    },
    /// This process was forked. Its parent built this generator and still hands out its UIDs. Build
    /// another generator here, after the fork.
    Forked,
}

impl TakeError {
    /// How long to wait before trying again. `None` if waiting does not help, or if it is unknown
    /// how long to wait: [`LeaseExhausted`](TakeError::LeaseExhausted) ends when the registry can
    /// be reached again, [`SegmentExhausted`](TakeError::SegmentExhausted) when the source can.
    ///
    /// ```
    /// use std::time::Duration;
    /// use uidring::TakeError;
    ///
    /// let error = TakeError::LeadLimit { retry_in_ms: 250 };
    /// assert_eq!(error.retry_in(), Some(Duration::from_millis(250)));
    /// assert_eq!(TakeError::Forked.retry_in(), None);
    /// ```
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
                "the layout's time field is used up: it ends at {}; move to a layout with a later \
                 epoch or more time bits",
                utc_ms(expires_at_ms)
            ),
            TakeError::LeaseExhausted { worker } => write!(
                f,
                "the ticks reserved for worker id {worker} are used up, and the registry grants no \
                 more; make sure that it can be reached"
            ),
            TakeError::SegmentExhausted { cause } => {
                write!(f, "the numbers of the tag that were loaded are used up, and {cause}")
            }
            TakeError::ShutDown => f.write_str(
                "the generator was closed: stop the threads and tasks that take from it before \
                 that, or open another",
            ),
            TakeError::Forked => f.write_str(
                "this process was forked from the one that opened the generator: open another \
                 here, after the fork",
            ),
            TakeError::BrokenRule { rule } => write!(
                f,
                "the generator has ended, so that no id is given twice: {rule}; if its registry \
                 was restored from an old copy, or gives ids to two programs, raise its worker \
                 ids above all that were given; then restart, and report the event that has the \
                 numbers"
            ),
            TakeError::LeadLimit { retry_in_ms } => write!(
                f,
                "no UID for now: {MAX_LEAD} is used up, and the next tick is due in {}; take fewer \
                 UIDs per tick than the sequence field holds, or widen it; if only few were taken, \
                 check whether the clock was set back",
                human(Duration::from_millis(retry_in_ms))
            ),
        }
    }
}

impl Error for TakeError {}

/// Why the numbers of a tag have not been loaded. The status of its generator has the whole error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SegmentFailure {
    /// They are on their way.
    Loading = 1,
    /// The source cannot be reached, or does not answer.
    Unreachable,
    /// The source no longer has the tag.
    NoSuchTag,
    /// The tag has no numbers left.
    RanOut,
    /// The row of the tag gives numbers again that it has given.
    WentBack,
    /// The row of the tag has values that cannot be used.
    BadRow,
    /// The source failed in another way.
    Failed,
}

impl fmt::Display for SegmentFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SegmentFailure::Loading => "the next ones have not come yet; try again soon",
            SegmentFailure::Unreachable => {
                "the source of numbers cannot be reached; see that it runs"
            }
            SegmentFailure::NoSuchTag => {
                "the source of numbers no longer has the tag; create it again above its last number"
            }
            SegmentFailure::RanOut => "the tag has no numbers left; go on with another tag",
            SegmentFailure::WentBack => {
                "the row of the tag went back; set its next number, and after the restore of an \
                 old copy the worker ids too, above all that were given, and restart"
            }
            SegmentFailure::BadRow => {
                "the row of the tag cannot be used; the status of the generator says why"
            }
            SegmentFailure::Failed => {
                "the source of numbers failed; the status of the generator says why"
            }
        })
    }
}

/// A buffer was not filled to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FillError {
    pub(crate) filled: usize,
    pub(crate) cause: TakeError,
}

impl FillError {
    /// How many UIDs, from the start of the buffer, are new and the caller's to use.
    ///
    /// ```
    /// # use uidring::{FillError, Uid, UidGenerator};
    /// /// As many UIDs as there are now, up to `count`.
    /// fn batch(uids: &UidGenerator, count: usize) -> Vec<Uid> {
    ///     let mut batch = vec![Uid::MIN; count];
    ///     if let Err(error) = uids.fill(&mut batch) {
    ///         batch.truncate(error.filled());
    ///     }
    ///     batch
    /// }
    /// # use uidring::registry::FixedWorker;
    /// # let uids = UidGenerator::builder().registry(FixedWorker::new(1)).build()?;
    /// # assert_eq!(batch(&uids, 9).len(), 9);
    /// # Ok::<(), uidring::BuildError>(())
    /// ```
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
        match self.filled {
            1 => f.write_str("the buffer holds 1 new UID and no more"),
            filled => write!(f, "the buffer holds {filled} new UIDs and no more"),
        }
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

//! Why there are no ids: as a sentence that anybody may read, and in full for administrators,
//! because only they may see the name of the database.

use std::time::Instant;

use uidring::segment::SegmentError;
use uidring::{RegistryError, SegmentFailure, StorageError, TakeError};
use uidring_args::with_causes;

/// A problem and when it began.
#[derive(Clone, Debug)]
pub(crate) struct Trouble {
    pub(crate) cause: Cause,
    /// The full text, with the name of the database.
    pub(crate) text: String,
    pub(crate) at: Instant,
}

impl Trouble {
    /// The problem of a tag that has given numbers here, or of its source.
    pub(crate) fn of(error: &SegmentError) -> Trouble {
        let text = match error {
            // A new tag begins at 1, and would give its numbers twice.
            SegmentError::NoSuchTag { store, tag, .. } => format!(
                "{store} does not have the tag {tag:?} any more; create it again, with a first \
                 number above all that were ever given"
            ),
            _ => with_causes(error),
        };
        Trouble { cause: Cause::of(error), text, at: Instant::now() }
    }

    /// The problem of an error of this cause.
    pub(crate) fn with_cause(cause: Cause, error: &dyn std::error::Error) -> Trouble {
        Trouble { cause, text: with_causes(error), at: Instant::now() }
    }

    /// The problem of a take that failed for want of numbers, if it is one.
    pub(crate) fn of_take(error: TakeError) -> Option<Trouble> {
        let TakeError::SegmentExhausted { cause } = error else {
            let is_end = error == TakeError::ShutDown;
            return (!is_end).then(|| Trouble::with_cause(Cause::Unknown, &error));
        };
        let cause = match cause {
            SegmentFailure::Loading => Cause::Late,
            SegmentFailure::Unreachable => Cause::Away,
            SegmentFailure::RanOut => return None,
            SegmentFailure::WentBack => Cause::WentBack,
            SegmentFailure::BadRow => Cause::BadRow,
            SegmentFailure::NoSuchTag => Cause::NoSuchTag,
            _ => Cause::Unusable,
        };
        Some(Trouble { cause, text: error.to_string(), at: Instant::now() })
    }

    /// A problem of which nothing but the cause is known.
    pub(crate) fn of_cause(cause: Cause) -> Trouble {
        Trouble { cause, text: cause.sentence().to_owned(), at: Instant::now() }
    }

    /// Whether the clock is to be set, and not the database to be seen to.
    pub(crate) fn is_of_clock(&self) -> bool {
        self.cause == Cause::ClockUnset
    }

    /// Whether it passes by itself, so that it may be over although nobody has asked since.
    pub(crate) fn may_be_over(&self) -> bool {
        matches!(self.cause, Cause::NotAsked | Cause::Away | Cause::Locked | Cause::Late)
    }
}

/// Why there are no ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The database has not been asked yet.
    NotAsked,
    /// The database does not answer.
    Away,
    /// Other connections hold a lock, or are always first.
    Locked,
    /// A load is running, and takes have timed out meanwhile.
    Late,
    /// The disk of the database is full.
    Full,
    /// The database answers, but cannot be used as it is.
    Unusable,
    /// The row gave the same numbers again.
    WentBack,
    /// The row has reached its last number.
    RanOut,
    /// The values of the row allow no numbers.
    BadRow,
    /// There is no such row.
    NoSuchTag,
    /// The ticks of a leased worker id are used up.
    NoTicks,
    /// The clock was set back, or more UIDs were taken than the layout has.
    Clock,
    /// The clock shows a time that it cannot be.
    ClockUnset,
    /// The time field of the layout has ended.
    TimeOver,
    /// An id could have been given twice, so that no more are given.
    BrokenRule,
    /// The service is ending.
    Ending,
    /// Takes fail, and the error alone says why.
    Unknown,
}

impl Cause {
    pub(crate) fn of(error: &SegmentError) -> Cause {
        match error {
            SegmentError::WentBack { .. } | SegmentError::DatabasesOverlap { .. } => {
                Cause::WentBack
            }
            SegmentError::RanOut { .. } => Cause::RanOut,
            SegmentError::Series { failure, .. } => match failure {
                Some(SegmentFailure::WentBack) => Cause::WentBack,
                Some(SegmentFailure::NoSuchTag) => Cause::NoSuchTag,
                // The next take asks for more, or goes on with another pattern.
                Some(SegmentFailure::RanOut) | None => Cause::RanOut,
                Some(_) => Cause::Unusable,
            },
            SegmentError::BadRow { .. } => Cause::BadRow,
            SegmentError::NoSuchTag { .. } | SegmentError::BadTag { .. } => Cause::NoSuchTag,
            SegmentError::Storage(StorageError::Locked { .. } | StorageError::Overtaken { .. }) => {
                Cause::Locked
            }
            SegmentError::Storage(StorageError::Full { .. }) => Cause::Full,
            error if error.is_transient() => Cause::Away,
            _ => Cause::Unusable,
        }
    }

    pub(crate) fn of_registry(error: &RegistryError) -> Cause {
        match error {
            RegistryError::Storage(
                StorageError::Locked { .. } | StorageError::Overtaken { .. },
            ) => Cause::Locked,
            RegistryError::Storage(StorageError::Full { .. }) => Cause::Full,
            error if error.is_transient() => Cause::Away,
            _ => Cause::Unusable,
        }
    }

    /// Whether the cause lies in one row and does not affect other tags.
    pub(crate) fn is_of_row(self) -> bool {
        matches!(self, Cause::WentBack | Cause::RanOut | Cause::BadRow | Cause::NoSuchTag)
    }

    /// The cause in words that anybody may read.
    pub(crate) fn sentence(self) -> &'static str {
        match self {
            Cause::NotAsked => "the database has not answered yet",
            Cause::Away => "the database does not answer",
            Cause::Locked => "the database is locked by others",
            Cause::Late => "the next numbers have not come yet",
            Cause::Full => "the disk of the database is full",
            Cause::Unusable => "the database cannot be used as it is",
            Cause::WentBack => "the row of the tag went back",
            Cause::RanOut => "the tag has no numbers left",
            Cause::BadRow => "the row of the tag has values that give no numbers",
            Cause::NoSuchTag => "there is no such tag any more",
            Cause::NoTicks => "the ticks reserved for the worker id are used up",
            Cause::Clock => "the clock was set back, or more UIDs were taken than the layout has",
            Cause::ClockUnset => "the clock has not been set",
            Cause::TimeOver => "the time field of the layout has ended",
            Cause::BrokenRule => "an id could have been given twice, so that no more are given",
            Cause::Ending => "the service is ending",
            Cause::Unknown => "there are none for now",
        }
    }

    /// What to do where a series has the problem.
    pub(crate) fn series_advice(self) -> &'static str {
        match self {
            Cause::WentBack => {
                "Others may give its numbers again, and UIDs too: stop all programs, and raise the \
                 counters and the worker ids before they start."
            }
            Cause::NoSuchTag => {
                "Create the series again, and raise its counters above all that were ever given."
            }
            Cause::RanOut => {
                "Give the pattern a wider number: 'uidring series change NAME PATTERN --from now', \
                 or POST /v1/series/NAME/widen."
            }
            Cause::BadRow => "Put right the row of the counter. The next request goes on.",
            Cause::Late => "See how long the database takes.",
            _ => self.advice(),
        }
    }

    /// What to do.
    pub(crate) fn advice(self) -> &'static str {
        match self {
            Cause::NotAsked | Cause::Away => {
                "See that the database runs and can be reached. The service goes on by itself."
            }
            Cause::Locked => "See who holds the locks. The service goes on by itself.",
            Cause::Late => "See how long the database takes, and how large the step is.",
            Cause::Full => "Make room on the disk of the database. The next request goes on.",
            Cause::Unusable => {
                "Put right what the error says. The next request goes on; after a change of an \
                 address in the file of options, send SIGHUP first."
            }
            Cause::WentBack => {
                "If an old copy was restored, stop all programs and raise the worker ids first. \
                 Then put the tag's next number above all that were ever given, in the row or with \
                 'uidring tags set', and restart each service that gives its numbers."
            }
            Cause::RanOut => "Go on with another tag.",
            Cause::BadRow => "Put right the values of the row. The next request goes on.",
            Cause::NoSuchTag => {
                "Make the tag again, with a first number above all that were ever given."
            }
            Cause::NoTicks => {
                "See that the registry of worker ids can be written. The service goes on by itself."
            }
            Cause::Clock => {
                "See whether the clock was set back. If not, take UIDs from more instances, or \
                 choose a layout with a longer sequence."
            }
            Cause::ClockUnset => "Set the clock. The next request goes on.",
            Cause::TimeOver => {
                "Start with another layout, whose UIDs exceed all that were given: 'uidring plan \
                 --above UID' finds one."
            }
            Cause::BrokenRule => {
                "See whether its registry was restored from an old copy, or gives ids to two \
                 programs: if so, raise its worker ids above all that were given. Then restart \
                 the service, and report what the error and the log say."
            }
            Cause::Ending => "",
            Cause::Unknown => "Put right what the error says. The next request goes on.",
        }
    }
}

//! Why there are no ids for a request.

use uidring::segment::SegmentError;
use uidring::{SegmentFailure, TakeError};

use crate::app::NotReady;

/// What somebody is told who did not have a turn at the database.
pub(crate) const BUSY: &str = "too many others wait for the database";

/// What somebody is told whose answer has no place.
pub(crate) const FULL: &str = "too many large answers wait for clients that do not read them";

/// Why there are no ids.
#[derive(Debug)]
pub(crate) enum NoNumbers {
    NotReady,
    /// The tag cannot be used, or not for now.
    Source(SegmentError),
    Take(TakeError),
    /// So long a batch takes too long. What the client can do about it.
    TooMany(&'static str),
    /// Too many requests ask the database, and it does not answer them.
    Busy,
    /// Too many large answers are being sent.
    Full,
    /// The call was dropped: the service ends.
    Ending,
}

impl From<NotReady> for NoNumbers {
    fn from(_: NotReady) -> NoNumbers {
        NoNumbers::NotReady
    }
}

impl NoNumbers {
    /// Whether the tag is not there.
    pub(crate) fn is_unknown_tag(&self) -> bool {
        matches!(
            self,
            NoNumbers::Source(SegmentError::NoSuchTag { .. } | SegmentError::BadTag { .. })
                | NoNumbers::Take(TakeError::SegmentExhausted { cause: SegmentFailure::NoSuchTag })
        )
    }

    /// Whether the service could not do what it was rightly asked.
    pub(crate) fn is_failure(&self) -> bool {
        !self.is_unknown_tag() && !matches!(self, NoNumbers::TooMany(_))
    }
}

//! Why a request gets no ids.

use uidring::segment::SegmentError;
use uidring::{SegmentFailure, TakeError};

use crate::app::NotReady;

/// The message if too many requests wait for the database.
pub(crate) const BUSY: &str = "too many others wait for the database";

/// The message if the memory for answers is used up.
pub(crate) const FULL: &str = "too many large answers wait for clients that do not read them";

/// Why a request gets no ids.
#[derive(Debug)]
pub(crate) enum TakeFailure {
    NotReady(NotReady),
    /// The source cannot give numbers of the tag, for now or at all.
    Source(SegmentError),
    Take(TakeError),
    /// The batch is too long to be taken in time. The text says what the client can do.
    TooMany(&'static str),
    /// Too many requests wait for a database that does not answer.
    Busy,
    /// The memory for answers is used up.
    Full,
    /// The call was dropped because the service is ending.
    Ending,
}

impl From<NotReady> for TakeFailure {
    fn from(none: NotReady) -> TakeFailure {
        TakeFailure::NotReady(none)
    }
}

impl TakeFailure {
    /// Whether the tag does not exist.
    pub(crate) fn is_unknown_tag(&self) -> bool {
        matches!(
            self,
            TakeFailure::Source(SegmentError::NoSuchTag { .. } | SegmentError::BadTag { .. })
                | TakeFailure::Take(TakeError::SegmentExhausted {
                    cause: SegmentFailure::NoSuchTag
                })
        )
    }

    /// Whether the service, not the client, is at fault.
    pub(crate) fn is_failure(&self) -> bool {
        !self.is_unknown_tag() && !matches!(self, TakeFailure::TooMany(_))
    }
}

//! [`Trouble`]: why a tag gets no numbers.

use std::error::Error;
use std::fmt;

use crate::backend::StorageError;
use crate::engine::SegmentFailure;
use crate::segment::SegmentError;

/// Why a tag gets no numbers. Each kind causes one event, until the tag has recovered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The source is away. The event is about the source, once for all tags.
    Away,
    /// A load takes long, and no numbers are left.
    Slow,
    /// Another transaction holds the row's lock, or others are always first.
    Locked,
    NoSuchTag,
    RanOut,
    WentBack,
    /// The row's delta has changed.
    DeltaChanged,
    BadRow,
    /// The source panicked.
    Panicked,
    /// The source failed in another way.
    Failed,
    /// The numbers go on under another name.
    Superseded,
}

impl Trouble {
    /// The trouble of the loaded tag that `error` shows.
    pub fn of(error: &SegmentError) -> Trouble {
        match error {
            // A lock on one row says nothing about other rows, nor do those who wrote it first.
            SegmentError::Storage(StorageError::Locked { .. } | StorageError::Overtaken { .. }) => {
                Trouble::Locked
            }
            SegmentError::NoSuchTag { .. } => Trouble::NoSuchTag,
            SegmentError::RanOut { .. } => Trouble::RanOut,
            SegmentError::WentBack { .. } | SegmentError::DatabasesOverlap { .. } => {
                Trouble::WentBack
            }
            SegmentError::BadRow { .. } => Trouble::BadRow,
            #[cfg(feature = "series")]
            SegmentError::Series { failure, .. } => match failure {
                None => Trouble::Superseded,
                Some(SegmentFailure::NoSuchTag) => Trouble::NoSuchTag,
                Some(SegmentFailure::RanOut) => Trouble::RanOut,
                Some(SegmentFailure::WentBack) => Trouble::WentBack,
                Some(_) => Trouble::Failed,
            },
            error if error.is_transient() => Trouble::Away,
            error if SourcePanicked::is_cause(error) => Trouble::Panicked,
            _ => Trouble::Failed,
        }
    }
}

/// The cause of an error if a call to the source panicked.
#[derive(Debug)]
pub struct SourcePanicked {
    pub source: String,
}

impl SourcePanicked {
    pub fn is_cause(error: &SegmentError) -> bool {
        error.source().is_some_and(<dyn Error>::is::<SourcePanicked>)
    }
}

impl fmt::Display for SourcePanicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the source {} panicked", self.source)
    }
}

impl Error for SourcePanicked {}

/// The reason that takers get for `error`.
pub fn failure_of(error: &SegmentError) -> SegmentFailure {
    match error {
        SegmentError::NoSuchTag { .. } => SegmentFailure::NoSuchTag,
        SegmentError::RanOut { .. } => SegmentFailure::RanOut,
        SegmentError::WentBack { .. } | SegmentError::DatabasesOverlap { .. } => {
            SegmentFailure::WentBack
        }
        SegmentError::BadRow { .. } => SegmentFailure::BadRow,
        #[cfg(feature = "series")]
        SegmentError::Series { failure, .. } => failure.unwrap_or(SegmentFailure::Failed),
        error if error.is_transient() => SegmentFailure::Unreachable,
        _ => SegmentFailure::Failed,
    }
}

//! [`SeriesStatus`], the state of a scope.

use super::period::Period;
use crate::segment::SegmentStatus;

/// The state of one scope of a series in this process, from
/// [`SeriesGenerator::status`](super::SeriesGenerator::status).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SeriesStatus {
    /// The period that it counts in. `None` before its first number, while it rests, and for a
    /// gapless series, whose numbers are counted in the store.
    pub period: Option<Period>,
    /// The numbers of that period in this process.
    pub numbers: Option<SegmentStatus>,
    /// How many scopes of the series this process has.
    pub scopes: usize,
}

//! [`SeriesStatus`] and [`ScopeStatus`], the state of a scope.

use crate::segment::SegmentStatus;
use crate::series::error::SeriesError;
use crate::series::form::period::Period;
use crate::series::memory::nearly_full::{TightCounter, is_tight};

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
    /// Why takes fail. `None` while numbers are given or on their way. Where the next take has to
    /// open the period, this is why the last one could not.
    pub obstacle: Option<SeriesError>,
    /// How many scopes of the series this process has.
    pub scopes: usize,
    /// How many periods of scopes of the series have given all numbers that fit the pattern, as far
    /// as this process knows. Those that are over or closed do not count.
    pub full: usize,
    /// How many have given 80 % of them, and not all.
    pub nearly_full: usize,
    /// The fullest of both, a hundred at most.
    pub tight: Vec<TightCounter>,
}

/// A scope whose numbers are in memory, from
/// [`SeriesGenerator::each_scope`](super::SeriesGenerator::each_scope).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ScopeStatus {
    /// The scope; empty if none was named.
    pub scope: String,
    /// The period that it counts in.
    pub period: Period,
    /// The numbers of that period in this process.
    pub numbers: SegmentStatus,
    /// The largest number that fits the pattern.
    pub largest: u64,
}

impl ScopeStatus {
    /// Whether the period has given all its numbers.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.numbers.in_memory == 0 && self.numbers.last_number >= Some(self.largest)
    }

    /// Whether this process has loaded 80 % of all numbers of the period, or more.
    #[must_use]
    pub fn is_nearly_full(&self) -> bool {
        self.numbers.last_number.is_some_and(|last| is_tight(last, self.largest))
    }
}

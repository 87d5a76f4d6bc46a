//! [`SegmentTakeN`]: a batch of numbers, one by one.

use std::iter::FusedIterator;

use crate::engine::TakeError;
use crate::number::Number;
use crate::segment::take::local::SegmentTaker;

/// The numbers of [`SegmentGenerator::take_n`](crate::segment::SegmentGenerator::take_n).
#[derive(Debug)]
#[must_use = "iterators are lazy: numbers are taken by `next`"]
pub struct SegmentTakeN {
    taker: SegmentTaker,
    /// How many numbers are still to be taken.
    left: usize,
}

impl SegmentTakeN {
    pub(crate) fn new(taker: SegmentTaker, count: usize) -> SegmentTakeN {
        SegmentTakeN { taker, left: count }
    }
}

impl Iterator for SegmentTakeN {
    type Item = Result<Number, TakeError>;

    #[inline]
    fn next(&mut self) -> Option<Result<Number, TakeError>> {
        if self.left == 0 {
            return None;
        }
        let result = self.taker.take_of(self.left as u64);
        self.left = if result.is_ok() { self.left - 1 } else { 0 };
        Some(result)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left.min(1), Some(self.left))
    }
}

impl FusedIterator for SegmentTakeN {}

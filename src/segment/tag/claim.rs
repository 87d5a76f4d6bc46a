//! Tickets of a tag that were claimed together.

use std::num::NonZeroU64;

use crate::number::Number;
use crate::ring::chain::ReadyRange;

/// Tickets that were claimed together and are not used yet.
#[derive(Debug)]
pub struct Claim {
    pub next: u64,
    pub end: u64,
    /// The range of the next ticket, if known.
    pub range: Option<ReadyRange>,
}

/// The part of a claim that lies in one segment: numbers at equal distances.
#[derive(Clone, Copy, Debug)]
pub struct Numbers {
    pub first: NonZeroU64,
    pub count: u64,
    pub delta: u64,
}

/// Numbers of a tag for a program that hands them out itself: `first`, and `length - 1` more, each
/// `step` above the one before. They are that program's, and nobody else gets them.
///
/// All but the first may be given only while
/// [`SegmentGenerator::claims_end`](crate::segment::SegmentGenerator::claims_end) is what it was
/// before, as with a [`ClaimedSpan`](crate::ClaimedSpan).
#[derive(Debug)]
#[non_exhaustive]
pub struct ClaimedNumbers {
    /// The first number, which may be given whatever happens.
    pub first: Number,
    /// How many there are, at least one.
    pub length: u64,
    /// The distance from one to the next.
    pub step: u64,
    /// What `claims_end` held before the claim.
    pub end: u64,
    /// The ticket of the first.
    pub(crate) ticket: u64,
}

/// The most tickets that are claimed together. Local takers rely on it.
pub const LONGEST: u64 = crate::engine::EXPIRY_STEP;

impl Numbers {
    // The length is at most what the caller asked for, so it fits.
    #[allow(clippy::cast_possible_truncation)]
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Writes the numbers to `buffer`, which has room for them and no more.
    pub fn write(&self, buffer: &mut [Number]) {
        if self.delta == 1 {
            crate::engine::claim::write_consecutive(self.first, buffer);
            return;
        }
        let mut next = self.first;
        for slot in buffer {
            *slot = Number::from_nonzero(next);
            next = next.saturating_add(self.delta);
        }
    }
}

//! Tickets claimed together.

use std::num::NonZeroU64;

use crate::engine::timing::Timing as _;
use crate::engine::{EXPIRY_STEP, Engine, TakeError, by_kind};
use crate::support::integer::{Integer, LARGEST};
use crate::uid::Uid;

/// Tickets that were claimed together and are not used yet.
#[derive(Debug)]
pub struct Claim {
    next: u64,
    end: u64,
    /// The base of the first ticket's block, if the ready range gave it.
    base: Option<NonZeroU64>,
}

/// The part of a claim that lies in one block: consecutive UIDs.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// The base of the block.
    pub base: NonZeroU64,
    /// The offset of the first UID in the block.
    pub from: u64,
    /// The offset past the last one.
    pub to: u64,
}

/// A span of UIDs for a program that hands them out itself.
///
/// `first` and the `length - 1` numbers after it are UIDs of the caller's, which nobody else gets.
/// Those after the first may be given only as long as the word
/// [`claims_end`](crate::UidGenerator::claims_end) holds `end`. It is lowered when they have become
/// too old, or their generator has ended. One comparison tells that as well as the end of the span:
/// count their places so that the last one comes directly before `end`, and give a UID only if its
/// place is less than the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClaimedSpan {
    /// The first UID, which may be given whatever happens.
    pub first: Uid,
    /// How many there are, at least one.
    pub length: u64,
    /// What `claims_end` held before the claim. Each change lowers it by 65,536, and no span is
    /// longer.
    pub end: u64,
}

impl ClaimedSpan {
    /// Claims up to `count` UIDs that are there at once.
    pub(crate) fn try_new(engine: &Engine, count: u64) -> Result<ClaimedSpan, TakeError> {
        // Read before the claim, so that an expiry in between ends the claim as well.
        let end = engine.claims_end();
        if let Some((first, length)) = engine.ring.try_claim_many(count.clamp(1, EXPIRY_STEP)) {
            return Ok(ClaimedSpan { first, length, end });
        }
        engine.try_take().map(|first| ClaimedSpan { first, length: 1, end })
    }
}

const CACHE_LINE: usize = 64;

impl Claim {
    pub const EMPTY: Claim = Claim { next: 0, end: 0, base: None };

    /// Claims up to `count` tickets, but no more than half a block. A block that is claimed
    /// completely before its base is known could be overwritten before it is read.
    #[inline]
    pub fn new(engine: &Engine, count: u64) -> Result<Claim, TakeError> {
        let count = count.clamp(1, 1 << (engine.ring.shift() - 1));
        let (next, base) = engine.claim_many(count)?;
        Ok(Claim { next, end: next + count, base })
    }

    /// A claim whose UIDs are handed out one by one.
    #[inline]
    pub fn held(engine: &Engine, count: u64) -> Result<Claim, TakeError> {
        Claim::new(engine, count.min(by_kind!(engine, longest_held_claim)))
    }

    /// The next span of a claim whose UIDs are handed out one by one.
    #[inline]
    pub fn next_held(&mut self, engine: &Engine) -> Result<Option<Span>, TakeError> {
        self.next_part(engine, by_kind!(engine, longest_held_span))
    }

    /// The next span of the claim, or `None` at its end. Skips tickets whose block was
    /// overwritten. If it fails, the rest of the claim has been given back.
    #[inline]
    pub fn next_span(&mut self, engine: &Engine) -> Result<Option<Span>, TakeError> {
        self.next_part(engine, u64::MAX)
    }

    #[inline]
    fn next_part(&mut self, engine: &Engine, longest: u64) -> Result<Option<Span>, TakeError> {
        while self.next < self.end {
            let ticket = self.next;
            let from = ticket & engine.ring.max_offset();
            let to = (engine.ring.max_offset() + 1).min(from + (self.end - ticket));
            let base = match self.base.take() {
                None => {
                    engine.wait_for_base(ticket..self.end).inspect_err(|_| self.next = self.end)?
                }
                known => known,
            };
            let Some(base) = base else {
                self.next += to - from;
                by_kind!(engine, drop_tickets, to - from);
                continue;
            };
            let to = to.min(from.saturating_add(longest));
            self.next += to - from;
            return Ok(Some(Span { base, from, to }));
        }
        Ok(None)
    }
}

impl Span {
    // The length is at most what the caller asked for, so it fits.
    #[allow(clippy::cast_possible_truncation)]
    pub fn len(&self) -> usize {
        (self.to - self.from) as usize
    }

    /// Writes the UIDs to `buffer`, which has room for them and no more.
    #[inline]
    pub fn write(&self, buffer: &mut [Uid]) {
        write_consecutive(self.base | self.from, buffer);
    }
}

/// Fills `buffer` with consecutive UIDs, or dense numbers, from `next` on.
pub fn write_consecutive<T: Integer>(mut next: NonZeroU64, buffer: &mut [T]) {
    // A vector register holds two UIDs or more, and two vectors are stored at once if they lie in
    // one cache line.
    let unaligned = buffer.as_ptr().addr().wrapping_neg() % CACHE_LINE / size_of::<T>();
    let (head, buffer) = buffer.split_at_mut(unaligned.min(buffer.len()));
    write_groups::<1, T>(&mut next, head);
    let buffer = write_groups::<32, T>(&mut next, buffer);
    let buffer = write_groups::<8, T>(&mut next, buffer);
    write_groups::<1, T>(&mut next, buffer);
}

/// Writes consecutive UIDs, from `next` on, to all whole groups of `N` in `buffer`. Returns the
/// rest of the buffer.
fn write_groups<'a, const N: usize, T: Integer>(
    next: &mut NonZeroU64,
    buffer: &'a mut [T],
) -> &'a mut [T] {
    let (groups, rest) = buffer.as_chunks_mut::<N>();
    for group in groups {
        // The `min` changes nothing, but it shows the compiler that no sum below overflows. Two
        // UIDs then cost one addition and one store.
        let first = (*next).min(LARGEST);
        for (uid, offset) in group.iter_mut().zip(0_u32..) {
            *uid = T::from_nonzero(first.saturating_add(offset.into()));
        }
        *next = first.saturating_add(N as u64);
    }
    rest
}

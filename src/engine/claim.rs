//! Tickets claimed together.

use std::num::NonZeroU64;

use crate::engine::Engine;
use crate::engine::TakeError;
use crate::uid::Uid;

/// Tickets claimed together and not used yet.
#[derive(Debug)]
pub struct Claim {
    next: u64,
    end: u64,
    /// The base of the first ticket's block, if it was known before the claim.
    base: Option<NonZeroU64>,
}

/// Consecutive UIDs: the part of a run that lies in one block.
#[derive(Clone, Copy, Debug)]
pub struct ClaimSegment {
    /// The base of the block.
    pub base: NonZeroU64,
    /// The place of the first in the block, and that behind the last.
    pub from: u64,
    pub to: u64,
}

const CACHE_LINE: usize = 64;

impl Claim {
    pub const EMPTY: Claim = Claim { next: 0, end: 0, base: None };

    /// Claims up to `count` tickets, and no more than half a block: a block that is claimed to its
    /// end before its base is known could be overwritten by then.
    #[inline]
    pub fn new(engine: &Engine, count: u64) -> Result<Claim, TakeError> {
        let count = count.clamp(1, 1 << (engine.ring.shift() - 1));
        let (next, base) = engine.claim_run(count)?;
        Ok(Claim { next, end: next + count, base })
    }

    /// The UIDs of the next block in the run; `None` at its end. Passes over tickets whose block
    /// was overwritten. Where it fails, the rest of the run has been given back.
    #[inline]
    pub fn next_segment(&mut self, engine: &Engine) -> Result<Option<ClaimSegment>, TakeError> {
        while self.next < self.end {
            let ticket = self.next;
            let from = ticket & engine.ring.max_offset();
            let to = (engine.ring.max_offset() + 1).min(from + (self.end - ticket));
            let base = match self.base.take() {
                None => engine.base(ticket..self.end).inspect_err(|_| self.next = self.end)?,
                known => known,
            };
            self.next += to - from;
            match base {
                Some(base) => return Ok(Some(ClaimSegment { base, from, to })),
                None => engine.ring.lose(to - from),
            }
        }
        Ok(None)
    }
}

impl ClaimSegment {
    /// Not more than the caller asked for, so it fits.
    #[allow(clippy::cast_possible_truncation)]
    pub fn len(&self) -> usize {
        (self.to - self.from) as usize
    }

    /// Writes the UIDs to `buffer`, which has room for them and no more.
    pub fn write(&self, buffer: &mut [Uid]) {
        let mut next = self.base | self.from;
        // A vector holds two UIDs or more, and two vectors are stored at once if they are in one
        // cache line.
        let unaligned = buffer.as_ptr().addr().wrapping_neg() % CACHE_LINE / size_of::<Uid>();
        let (head, buffer) = buffer.split_at_mut(unaligned.min(buffer.len()));
        write_groups::<1>(&mut next, head);
        let buffer = write_groups::<32>(&mut next, buffer);
        let buffer = write_groups::<8>(&mut next, buffer);
        write_groups::<1>(&mut next, buffer);
    }
}

/// Writes UIDs from `next` on to as many groups of `N` as there are in `buffer`, and returns what
/// is left of it.
fn write_groups<'a, const N: usize>(next: &mut NonZeroU64, buffer: &'a mut [Uid]) -> &'a mut [Uid] {
    let (groups, rest) = buffer.as_chunks_mut::<N>();
    for group in groups {
        // This changes nothing; but the compiler sees that no sum below overflows, and two UIDs
        // cost it one addition and one store.
        let first = (*next).min(Uid::MAX.into());
        for (uid, place) in group.iter_mut().zip(0_u32..) {
            *uid = Uid::new(first.saturating_add(place.into()));
        }
        *next = first.saturating_add(N as u64);
    }
    rest
}

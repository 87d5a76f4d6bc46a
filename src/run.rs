//! Tickets claimed together.

use std::array;
use std::num::NonZeroU64;

use crate::error::TakeError;
use crate::shared::Shared;
use crate::uid::Uid;

/// Tickets claimed together and not used yet.
#[derive(Debug)]
pub struct Run {
    next: u64,
    end: u64,
    /// The base of the first ticket's block, if it was known before the claim.
    base: Option<NonZeroU64>,
}

/// Consecutive UIDs: the part of a run that lies in one block.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    base: NonZeroU64,
    /// Places in the block: the first, and the one after the last.
    from: u64,
    to: u64,
}

impl Run {
    pub const EMPTY: Run = Run { next: 0, end: 0, base: None };

    /// Claims up to `count` tickets, and no more than half a block: a block that is claimed to its end before its base
    /// is known could be overwritten by then.
    #[inline]
    pub fn claim(shared: &Shared, count: u64) -> Result<Run, TakeError> {
        let count = count.clamp(1, 1 << (shared.ring.shift() - 1));
        let (next, base) = shared.claim_run(count)?;
        Ok(Run { next, end: next + count, base })
    }

    /// The UIDs of the next block in the run; `None` at its end. Passes over tickets whose block was overwritten.
    #[inline]
    pub fn next_piece(&mut self, shared: &Shared) -> Result<Option<Piece>, TakeError> {
        while self.next < self.end {
            let ticket = self.next;
            let from = ticket & shared.ring.max_offset();
            let to = (shared.ring.max_offset() + 1).min(from + (self.end - ticket));
            let base = match self.base.take() {
                None => shared.base(ticket)?,
                known => known,
            };
            self.next += to - from;
            match base {
                Some(base) => return Ok(Some(Piece { base, from, to })),
                None => shared.ring.lose(to - from),
            }
        }
        Ok(None)
    }
}

impl Piece {
    pub const EMPTY: Piece = Piece { base: NonZeroU64::MIN, from: 0, to: 0 };

    /// Not more than the caller asked for, so it fits.
    #[allow(clippy::cast_possible_truncation)]
    pub fn len(&self) -> usize {
        (self.to - self.from) as usize
    }

    /// Writes the UIDs to `buffer`, which has room for them and no more.
    pub fn write(self, buffer: &mut [Uid]) {
        // The places of a group of UIDs stay in vector registers, so that two UIDs cost an addition, an or and a store.
        // This is as fast as stores are.
        const GROUP: usize = 8;
        let mut places: [u64; GROUP] = array::from_fn(|index| self.from + index as u64);
        let (groups, rest) = buffer.as_chunks_mut::<GROUP>();
        let after = self.from + (groups.len() * GROUP) as u64;
        for group in groups {
            for (uid, place) in group.iter_mut().zip(&mut places) {
                *uid = Uid::from_base(self.base, *place);
                *place += GROUP as u64;
            }
        }
        for (uid, place) in rest.iter_mut().zip(after..) {
            *uid = Uid::from_base(self.base, place);
        }
    }

    /// The next UID of the piece, which gets shorter.
    #[inline]
    pub fn pop(&mut self) -> Option<Uid> {
        if self.from < self.to {
            let offset = self.from;
            self.from += 1;
            Some(Uid::from_base(self.base, offset))
        } else {
            None
        }
    }
}

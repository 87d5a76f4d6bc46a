//! [`Front`]: where takers look first.

use crate::ring::BUSY;
use crate::sync::{AtomicU64, Ordering};

/// Where takers look first: a stretch of tickets whose blocks are published, within the window, and
/// of consecutive seconds. Written by takers out of line, and by the filler.
#[derive(Debug, Default)]
pub struct Front {
    /// The first ticket, or that and `BUSY` while the rest is changed. It never goes back. Takers
    /// do not look at it.
    start: AtomicU64,
    /// The first ticket behind it.
    end: AtomicU64,
    /// What the base of block 0 would be, if all before were of consecutive seconds too. It may
    /// wrap.
    origin: AtomicU64,
}

/// What [`Front`] says to takers.
#[derive(Clone, Copy)]
pub struct ReadyRange {
    pub end: u64,
    pub origin: u64,
}

impl ReadyRange {
    /// Whether `ticket`, which was claimed after the look, lies in it. One comparison sees to a
    /// closed ring as well.
    #[inline]
    pub fn holds(self, ticket: u64) -> bool {
        ticket < self.end
    }
}

impl Front {
    /// The stretch, or the end of one and the origin of a later one: see [Take](self#take).
    #[inline]
    pub fn look(&self) -> ReadyRange {
        // ORDERING: the first load keeps the second behind it, and both the claim.
        let end = self.end.load(Ordering::Acquire);
        let origin = self.origin.load(Ordering::Acquire);
        ReadyRange { end, origin }
    }

    /// The start and the stretch, for who is about to replace it; `None` if somebody else is.
    pub fn look_to_replace(&self) -> Option<(u64, ReadyRange)> {
        // ORDERING: keeps the look behind it: what is read there is of stretches that start here,
        // or the start has changed.
        let start = self.start.load(Ordering::Acquire);
        (start & BUSY == 0).then(|| (start, self.look()))
    }

    /// Puts a stretch that starts at `new_start`, which is no earlier, in the place of the one that
    /// started at `start`, unless somebody else has put another there or is about to.
    pub fn replace(&self, start: u64, new_start: u64, range: ReadyRange) -> bool {
        debug_assert!(new_start >= start);
        let busy = new_start | BUSY;
        // ORDERING: Acquire, to come behind what the one before has written.
        if self.start.compare_exchange(start, busy, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            return false;
        }
        // ORDERING: Release: who sees one of these sees the ones before it, and that the mover has
        // its ticket.
        self.origin.store(range.origin, Ordering::Release);
        self.end.store(range.end, Ordering::Release);
        self.start.store(new_start, Ordering::Release);
        true
    }
}

//! [`Front`]: what takers read first.

use crate::ring::BUSY;
use crate::sync::{AtomicU64, Ordering};

/// The ready range: tickets whose blocks are published, lie within the window, and have consecutive
/// ticks. Written by takers on the slow path, and by the filler.
#[derive(Debug, Default)]
pub struct Front {
    /// The first ticket of the range, with `BUSY` while the other fields are being changed. It
    /// never goes back. Takers do not read it.
    start: AtomicU64,
    /// The first ticket past the range.
    end: AtomicU64,
    /// The base that block 0 would have if all blocks up to this range had consecutive ticks. The
    /// subtraction may wrap.
    origin: AtomicU64,
}

/// The part of a [`Front`] that takers read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadyRange {
    pub end: u64,
    pub origin: u64,
}

impl ReadyRange {
    /// Whether `ticket`, which was claimed after this range was read, lies in it. A ticket from a
    /// closed ring never does, so one comparison is enough.
    #[inline]
    pub fn holds(self, ticket: u64) -> bool {
        ticket < self.end
    }
}

impl Front {
    /// The ready range, or the end of one range and the origin of a later one.
    /// docs/design/take.md explains why such a mixture does no harm.
    #[inline]
    pub fn read(&self) -> ReadyRange {
        // ORDERING: the first load keeps the second one after it, and both keep the claim after
        // them.
        let end = self.end.load(Ordering::Acquire);
        let origin = self.origin.load(Ordering::Acquire);
        ReadyRange { end, origin }
    }

    /// The start and the range, for a caller that is about to replace them. `None` while another
    /// thread replaces them.
    pub fn read_with_start(&self) -> Option<(u64, ReadyRange)> {
        // ORDERING: keeps the read of the range after it. What is read belongs to ranges that
        // start here, or the start has changed.
        let start = self.start.load(Ordering::Acquire);
        (start & BUSY == 0).then(|| (start, self.read()))
    }

    /// Replaces the range that starts at `start` with one that starts at `new_start`, which is not
    /// earlier. Does nothing and returns false if another thread has replaced it or is about to.
    pub fn replace(&self, start: u64, new_start: u64, range: ReadyRange) -> bool {
        debug_assert!(new_start >= start);
        let busy = new_start | BUSY;
        // ORDERING: Acquire, so that the stores below come after those of the previous writer.
        if self.start.compare_exchange(start, busy, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            return false;
        }
        // ORDERING: Release: a thread that sees one of these stores sees the ones before it, and
        // the claim by which the thread that advances the front got its ticket.
        self.origin.store(range.origin, Ordering::Release);
        self.end.store(range.end, Ordering::Release);
        self.start.store(new_start, Ordering::Release);
        true
    }
}

//! [`SegmentChain`]: segments of any length, one behind the other. Takers are lock-free; one thread
//! appends.
//!
//! ```text
//!   ticket = cursor.fetch_add(1)                        number = origin + ticket * delta
//!
//!   tickets      0            1,000                     46,000          91,000
//!                ├─ segment 0 ─┼─────── segment 1 ───────┼── segment 2 ──┤ ◀─ appended here
//!   numbers      5,001..6,000  9,001..54,000             54,001..99,000
//!                                 ▲ the cursor
//! ```
//!
//! A ticket has the same number for ever, or none: whatever gaps the numbers have, a segment begins
//! with the ticket at which the one before ends. Only where takers have claimed tickets past the
//! last segment, and closed the chain for that, there is a gap. The tickets in it are void, and the
//! next segment begins behind them. So waiting for numbers and failing use up tickets, of which
//! there are enough, and no numbers.
//!
//! The chain keeps the last three segments, segment `s` in slot `s % 3`. The oldest one is
//! overwritten when all of its tickets have been claimed and the front has gone past it. A taker
//! that is stopped between its claim and its look at the slots may lose its ticket.
//!
//! * **Take.** As with the ring of blocks: a taker reads the [`Front`] and then claims a ticket. A
//!   ticket within the ready range gives its number at once. For any other ticket the taker looks
//!   for its segment, and advances the front there.
//! * **Append.** One thread at a time closes and opens the chain, and appends to it: the one that
//!   holds the lock of the tag's `Supply`.

use std::num::NonZeroU64;
use std::ops::Range;

use crate::number::Number;
use crate::ring::BUSY;
use crate::ring::cursor::{Cursor, is_closed};
use crate::ring::front::Front;
pub use crate::ring::front::ReadyRange;
use crate::sync::{AtomicU64, Ordering};

/// How many segments takers can see. A taker that is stopped in the middle of a take while two
/// whole segments are used up by others loses its ticket, and takes another.
pub const SLOTS: usize = 3;

/// The tickets and numbers of one segment.
#[derive(Debug)]
struct Slot {
    /// The first ticket, with `BUSY` while the other words are written.
    stamp: AtomicU64,
    /// The first ticket past it; 0 if the slot is empty.
    end: AtomicU64,
    /// The number that ticket 0 would have. The subtraction may wrap.
    origin: AtomicU64,
}

/// Where a ticket leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// To a number of this range. Of the range, the ticket and those after it are the caller's to
    /// read.
    Ready(ReadyRange),
    /// To no number: the ticket is void, or its segment was overwritten.
    Gone,
    /// The ticket lies past the last segment.
    Beyond,
}

/// Why a ticket was not claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unclaimed {
    Closed,
    /// The next ticket lies past the last segment.
    Beyond,
}

/// What takers read: every take reads the front and the distance, and what follows is read once per
/// ready range.
#[derive(Debug)]
#[repr(C)]
struct Shared {
    front: Front,
    /// The distance from one number to the next. Written by the loader, before the first segment.
    delta: AtomicU64,
    /// How many segments have been appended. Written under the lock of the supply.
    count: AtomicU64,
    /// The length of a ready range, at most. Written by the loader.
    longest_range: AtomicU64,
    /// A ticket at which a ready range ends. Written by the loader.
    mark: AtomicU64,
    slots: [Slot; SLOTS],
}

/// How far the word that every taker writes is from those that every taker reads, in bytes: two
/// cache lines, because processors fetch them in pairs.
const APART: usize = 128;
/// What lies between them.
const GAP: usize = APART.saturating_sub(size_of::<Cursor>());

/// A lock-free chain of segments.
///
/// There is one for each tag, of which a process may have many. So it is not aligned to cache
/// lines, which would cost 120 bytes each: its words are kept apart instead, wherever they lie.
#[derive(Debug)]
#[repr(C)]
pub struct SegmentChain {
    /// The next ticket, and what closes and opens the chain.
    pub cursor: Cursor,
    _gap: [u8; GAP],
    shared: Shared,
}

impl Default for SegmentChain {
    fn default() -> SegmentChain {
        let word = || AtomicU64::new(0);
        let slot = || Slot { stamp: word(), end: word(), origin: word() };
        SegmentChain {
            cursor: Cursor::new(0),
            _gap: [0; GAP],
            shared: Shared {
                front: Front::default(),
                delta: AtomicU64::new(1),
                count: word(),
                longest_range: AtomicU64::new(u64::MAX),
                mark: word(),
                slots: [slot(), slot(), slot()],
            },
        }
    }
}

impl SegmentChain {
    /// Claims a ticket and returns its number if the ticket lies in the ready range. Otherwise
    /// returns the ticket.
    #[inline]
    pub fn take(&self) -> Result<Number, u64> {
        // Everything is read before the claim, because work done after a claim delays the next
        // one.
        let range = self.shared.front.read();
        let delta = self.delta();
        let ticket = self.cursor.claim(1);
        if !range.holds(ticket) {
            return Err(ticket);
        }
        let number = range.origin.wrapping_add(ticket.wrapping_mul(delta));
        NonZeroU64::new(number).map(Number::from_nonzero).ok_or(ticket)
    }

    /// Claims `count` tickets. Returns the first, with the ready range if that holds it. It works
    /// like [`take`](SegmentChain::take).
    #[inline]
    pub fn claim_many(&self, count: u64) -> (u64, Option<ReadyRange>) {
        let range = self.shared.front.read();
        let ticket = self.cursor.claim(count);
        (ticket, range.holds(ticket).then_some(range))
    }

    /// Claims the next ticket only if it has a number. Returns it with the ready range if that
    /// holds it.
    #[inline]
    pub fn try_claim(&self) -> Result<(u64, Option<ReadyRange>), Unclaimed> {
        loop {
            let range = self.shared.front.read();
            let ticket = self.cursor.next();
            if is_closed(ticket) {
                return Err(Unclaimed::Closed);
            }
            // Checked for this ticket alone, so that a swap that fails begins anew.
            let range = range.holds(ticket).then_some(range);
            if range.is_none() && ticket >= self.end() {
                return Err(Unclaimed::Beyond);
            }
            if self.cursor.claim_exactly(ticket, 1).is_ok() {
                return Ok((ticket, range));
            }
        }
    }

    /// Claims up to `count` tickets of the ready range. `None`, and nothing is claimed, if the next
    /// ticket does not lie in it.
    pub fn try_claim_many(&self, count: u64) -> Option<(Range<u64>, ReadyRange)> {
        let range = self.shared.front.read();
        let mut ticket = self.cursor.next();
        while range.holds(ticket) {
            let end = range.end.min(ticket.saturating_add(count));
            match self.cursor.claim_exactly(ticket, end - ticket) {
                Ok(()) => return Some((ticket..end, range)),
                Err(now) => ticket = now,
            }
        }
        None
    }

    /// The distance from one number to the next.
    #[inline]
    pub fn delta(&self) -> u64 {
        // ORDERING: a thread that has read a ready range, or the count of segments, sees what the
        // loader wrote before the first of them. It never changes after that.
        self.shared.delta.load(Ordering::Relaxed)
    }

    /// The number of `ticket`, which has this origin.
    #[inline]
    pub fn number(&self, ticket: u64, origin: u64) -> u64 {
        origin.wrapping_add(ticket.wrapping_mul(self.delta()))
    }

    /// The origin of `ticket`, which has this number. The subtraction may wrap.
    pub fn origin(&self, ticket: u64, number: u64) -> u64 {
        number.wrapping_sub(ticket.wrapping_mul(self.delta()))
    }

    /// Where `ticket` leads.
    pub fn find(&self, ticket: u64) -> Found {
        if ticket >= self.end() {
            return Found::Beyond;
        }
        let is_of =
            |&(first, ReadyRange { end, .. }): &(u64, ReadyRange)| (first..end).contains(&ticket);
        let found = self.shared.slots.iter().filter_map(Slot::read).find(is_of);
        // A slot that is being written no longer holds a segment that anybody can claim from.
        found.map_or(Found::Gone, |(_, range)| Found::Ready(range))
    }

    /// How many of `tickets` lead to no number, where the first one does not: those up to the next
    /// segment.
    pub fn gone(&self, tickets: &Range<u64>) -> u64 {
        let firsts = self.shared.slots.iter().filter_map(Slot::read).map(|(first, _)| first);
        let next = firsts.filter(|first| *first > tickets.start).min().unwrap_or(u64::MAX);
        next.min(tickets.end) - tickets.start
    }

    /// Where `ticket` leads, which the caller holds. Advances the front there, unless the front is
    /// there already or further on. The flag says whether it did.
    pub fn resolve(&self, ticket: u64) -> (Found, bool) {
        let found = self.find(ticket);
        let Found::Ready(ReadyRange { end, origin }) = found else { return (found, false) };
        let Some((start, range)) = self.shared.front.read_with_start() else {
            return (found, false);
        };
        if ticket < range.end {
            return (found, false);
        }
        // ORDERING: hints, both.
        let longest = self.shared.longest_range.load(Ordering::Relaxed);
        let mark = self.shared.mark.load(Ordering::Relaxed);
        let until_mark = if ticket < mark { mark } else { u64::MAX };
        let end = end.min(ticket.saturating_add(longest)).min(until_mark);
        (found, self.shared.front.replace(start, ticket, ReadyRange { end, origin }))
    }

    /// Says how long a ready range may be, and at which ticket one ends in any case. A taker that
    /// comes to the end of a range wakes the loader.
    pub fn set_range(&self, longest: u64, mark: u64) {
        // ORDERING: hints, both.
        self.shared.longest_range.store(longest.max(1), Ordering::Relaxed);
        self.shared.mark.store(mark, Ordering::Relaxed);
    }

    /// Sets the distance from one number to the next. Called by the loader, before the first
    /// append.
    pub fn set_delta(&self, delta: u64) {
        // ORDERING: see `delta`.
        self.shared.delta.store(delta, Ordering::Relaxed);
    }

    /// The first ticket past the last segment.
    pub fn end(&self) -> u64 {
        loop {
            // ORDERING: pairs with `append`: a thread that sees the count sees the end of the last
            // segment, or of a later one.
            let count = self.shared.count.load(Ordering::Acquire);
            let Some(last) = count.checked_sub(1) else { return 0 };
            // ORDERING: keeps the second read of the count after it. A thread that has read the end
            // of a later segment, which may not be complete, sees that the count has changed.
            let end = self.slot(last).end.load(Ordering::Acquire);
            // ORDERING: none needed, see above.
            if self.shared.count.load(Ordering::Relaxed) == count {
                return end;
            }
        }
    }

    /// Whether a segment can be appended. The oldest one, which it overwrites, must have been
    /// claimed completely, and takers must have gone on to a later one. Called under the lock of
    /// the supply.
    pub fn has_room(&self) -> bool {
        let front = self.shared.front.read_with_start();
        self.is_oldest_before(|| front.map_or(0, |(start, _)| start))
    }

    /// Whether a segment can be appended if the tickets of those may be lost that have claimed
    /// them, and have not looked where they lead. Called under the lock of the supply.
    pub fn has_claimed_room(&self) -> bool {
        self.is_oldest_before(|| self.cursor.position())
    }

    /// Whether the oldest segment, which the next one overwrites, ends at `ticket` or before.
    fn is_oldest_before(&self, ticket: impl FnOnce() -> u64) -> bool {
        // ORDERING: written under the lock, both.
        let count = self.shared.count.load(Ordering::Relaxed);
        count < SLOTS as u64 || self.slot(count).end.load(Ordering::Relaxed) <= ticket()
    }

    /// Appends `tickets` tickets, of which the first has the number `number`. There is room for
    /// them. In a closed chain they begin behind all tickets that have been claimed. Called under
    /// the lock of the supply.
    pub fn append(&self, number: u64, tickets: u64) {
        let end = self.end();
        let first = if self.cursor.is_closed() { self.cursor.position().max(end) } else { end };
        // ORDERING: written under the lock.
        let segment = self.shared.count.load(Ordering::Relaxed);
        self.slot(segment).write(first, first + tickets, self.origin(first, number));
        // ORDERING: Release, for `end`.
        self.shared.count.store(segment + 1, Ordering::Release);
    }

    fn slot(&self, segment: u64) -> &Slot {
        // Truncating the number keeps the bits that matter.
        #[allow(clippy::cast_possible_truncation)]
        &self.shared.slots[segment as usize % SLOTS]
    }
}

impl Slot {
    /// The first ticket and the range, unless they are being written.
    fn read(&self) -> Option<(u64, ReadyRange)> {
        // ORDERING: keeps the loads of the words after it.
        let first = self.stamp.load(Ordering::Acquire);
        // ORDERING: pairs with `write`: a thread that sees a later segment's word sees the busy
        // stamp of that segment below.
        let end = self.end.load(Ordering::Acquire);
        let origin = self.origin.load(Ordering::Acquire);
        // ORDERING: none needed; the acquire loads above keep this load after them.
        let is_steady = first & BUSY == 0 && self.stamp.load(Ordering::Relaxed) == first;
        is_steady.then_some((first, ReadyRange { end, origin }))
    }

    /// Called under the lock of the supply.
    fn write(&self, first: u64, end: u64, origin: u64) {
        // ORDERING: the Release stores below keep this one before them.
        self.stamp.store(first | BUSY, Ordering::Relaxed);
        // ORDERING: Release, for `read`.
        self.end.store(end, Ordering::Release);
        self.origin.store(origin, Ordering::Release);
        // ORDERING: nobody looks for these tickets before `append` has released the count.
        self.stamp.store(first, Ordering::Relaxed);
    }
}

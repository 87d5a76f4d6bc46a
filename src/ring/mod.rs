//! The ring: a few slots, each holding a whole block of consecutive UIDs. Takers and publishers are
//! both lock-free.
//!
//! ```text
//!   ticket = cursor.fetch_add(1)      block = ticket >> sequence bits      UID = base | offset
//!
//!   a ring of 4     slot 0       slot 1       slot 2       slot 3
//!                 ┌────────────┬────────────┬────────────┬────────────┐
//!   stamp         │  block 12  │  block 13  │  block 10  │  block 11  │
//!   word (base)   │  09:00:12  │  09:00:13  │  09:00:10  │  09:00:11  │
//!                 └────────────┴────────────┴─▲──────────┴─▲──────────┘
//!                         the next block, 14, ┘            └ the cursor is in block 11
//! ```
//!
//! The *base* of a block is its first UID; a slot holds nothing else of it. Blocks are numbered
//! from the first on, and block `b` is kept in slot `b % n`, where it overwrites block `b - n`.
//!
//! * **Take.** A taker reads the [`Front`] and then claims a ticket. A ticket within the ready
//!   range gives its UID at once. Any other ticket leads to its slot, by [`Ring::publish_up_to`].
//!   If that block was overwritten, the ticket is dropped: one UID is lost, and none is repeated.
//! * **Publish.** Any thread may publish the block at the tail, and may complete what another
//!   thread has begun, so a stalled thread holds up nobody.
//!
//! docs/design/take.md proves the protocol. docs/design/publishing.md numbers the steps by which a
//! block is published, and comments here use its numbers.

pub mod codec;
pub mod counter;
pub mod cursor;
mod front;
pub mod segments;
pub mod window;

use std::num::NonZeroU64;

use crossbeam_utils::CachePadded;

use crate::ring::codec::TickCodec;
use crate::ring::counter::Counter;
pub use crate::ring::cursor::{Cursor, Ended, is_closed};
use crate::ring::front::{Front, ReadyRange};
use crate::ring::window::{SharedWindow, Window};
use crate::support::rule::{BrokenRule, Rule};
use crate::sync::{AtomicU64, Mutex, Ordering, lock};
use crate::uid::Uid;

pub const MIN_SLOTS: usize = 2;
pub const MAX_SLOTS: usize = 65_536;

/// Set in a stamp, or in the start of the front, while it is being changed. No ticket is this
/// large.
const BUSY: u64 = 1 << 63;
/// Set in a word whose block belongs to an odd lap round the ring.
const LAP: u64 = 1 << 63;

/// One block, on a cache line of its own. The words that takers write have a pair of lines each.
/// For slots that would double the memory and gain little, since they are written in order.
#[derive(Debug)]
#[repr(align(64))]
struct Slot {
    /// The first ticket of the block in this slot. With `BUSY`: of the block that is about to
    /// replace it. Written by publishers.
    stamp: AtomicU64,
    /// The base of the block, with `LAP` on odd laps. The sequence bits, which are 0 in a base,
    /// count the blocks directly before this one that follow one another without a gap; the count
    /// stops at the largest value that fits. Written by publishers.
    word: AtomicU64,
}

impl Slot {
    /// The stamp, the word, and whether they belong together.
    #[inline]
    fn read(&self) -> (u64, u64, bool) {
        // ORDERING: pairs with step 4: a thread that sees the block's stamp sees its word, or a
        // later word.
        let stamp = self.stamp.load(Ordering::Acquire);
        // ORDERING: pairs with step 3: a thread that sees a later block's word sees the busy stamp
        // of that block below.
        let word = self.word.load(Ordering::Acquire);
        // ORDERING: none needed; the acquire load above keeps this load after it.
        (stamp, word, self.stamp.load(Ordering::Relaxed) == stamp)
    }
}

/// The state of a block that a caller asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    /// It is published and has this base.
    Published(NonZeroU64),
    /// It has been overwritten, so its tickets are lost.
    Overwritten,
    /// It lies beyond the window: its tick may not be published yet, or ever.
    Beyond,
}

/// What publishers share.
#[derive(Debug)]
struct PublishState {
    /// The next block to publish. Written by publishers.
    tail: AtomicU64,
    /// What may be published.
    window: SharedWindow,
}

/// A lock-free ring of blocks.
#[derive(Debug)]
pub struct Ring {
    /// The next ticket, and what closes and opens the ring.
    ///
    /// It stays below 2^63, whatever the layout. Takers claim the tickets of published blocks and,
    /// beyond those, one claim for each waiting thread. No two blocks have the same base, and
    /// registries count worker ids from 1 (only a fixed worker can be 0), so there are at most
    /// `(2^worker_bits - 1) * 2^time_bits` blocks. That leaves at least
    /// `2^(time_bits + sequence_bits)` tickets below 2^63. The first lap, which is never published,
    /// needs at most a sixteenth of these, because a ring has at most 2^16 slots and a time field
    /// has at least 20 bits. While the ring is closed, takers undo what claims add.
    pub cursor: CachePadded<Cursor>,
    /// What a take reads first.
    front: CachePadded<Front>,
    /// What takers read once per ready range.
    publish_state: CachePadded<PublishState>,

    /// The rule that did not hold, if one did not.
    broken_rule: Mutex<Option<BrokenRule>>,

    // The following fields are never written after construction. Each take reads them.
    slots: Box<[Slot]>,
    codec: TickCodec,
    /// The largest offset in a block, `2^shift - 1`, stored so that takes need not compute it.
    max_offset: u64,
    /// log2 of the UIDs in a block.
    shift: u32,
    /// log2 of the number of slots.
    slot_bits: u32,
    /// log2 of the stride per UID in a block: how far the block number of a ticket is moved up to
    /// the time field. With the time on top, the width of the worker field; else 0.
    time_offset: u32,
}

impl Ring {
    /// An empty ring of `slots` slots, a power of two, with blocks of `2^sequence_bits` UIDs.
    pub fn new(slots: usize, sequence_bits: u32, codec: TickCodec, window: Window) -> Ring {
        debug_assert!(slots.is_power_of_two() && (MIN_SLOTS..=MAX_SLOTS).contains(&slots));
        // Lap 0 is never published: its blocks stand for "nothing yet". The first block to publish
        // is number `slots`, in lap 1. No UID has base 0, which sorts before every other base.
        let empty = |block: usize| Slot {
            stamp: AtomicU64::new((block as u64) << sequence_bits),
            word: AtomicU64::new(0),
        };
        Ring {
            cursor: CachePadded::new(Cursor::new((slots as u64) << sequence_bits)),
            front: CachePadded::default(),
            publish_state: CachePadded::new(PublishState {
                tail: AtomicU64::new(slots as u64),
                window: SharedWindow::new(window),
            }),
            broken_rule: Mutex::default(),
            slots: (0..slots).map(empty).collect(),
            codec,
            max_offset: (1 << sequence_bits) - 1,
            shift: sequence_bits,
            slot_bits: slots.trailing_zeros(),
            time_offset: codec.stride().trailing_zeros() - sequence_bits,
        }
    }

    /// Has the first ticket be `ticket`. Before any is claimed.
    pub fn begin_at(&mut self, ticket: u64) {
        self.cursor = CachePadded::new(Cursor::new(ticket));
    }

    /// Claims `count` tickets and returns the first, with the base of its block if the ticket lies
    /// in the ready range. It works like [`take`](Ring::take).
    #[inline]
    pub fn claim_many(&self, count: u64) -> (u64, Option<NonZeroU64>) {
        let range = self.front.read();
        let ticket = self.cursor.claim(count);
        (ticket, self.known_base(range, ticket))
    }

    /// Claims a ticket and returns its UID if the ticket lies in the ready range. Otherwise returns
    /// the ticket, for [`publish_up_to`](Ring::publish_up_to).
    #[inline]
    pub fn take(&self) -> Result<Uid, u64> {
        // Everything is read before the claim, because work done after a claim delays the next
        // one.
        let range = self.front.read();
        let Ring { max_offset, time_offset, .. } = *self;
        let ticket = self.cursor.claim(1);
        if !range.holds(ticket) {
            return Err(ticket);
        }
        // The base plus the offset in the block. Adding the offset to the origin first makes the
        // chain of dependent steps shorter. `distance_to` would read the fields again.
        let distance = (ticket & !max_offset) << time_offset;
        let uid = distance.wrapping_add(range.origin.wrapping_add(ticket & max_offset));
        NonZeroU64::new(uid).map(Uid::from_nonzero).ok_or(ticket)
    }

    /// The UID of `ticket`, whose block has the base `base`.
    #[inline]
    pub fn uid(&self, ticket: u64, base: NonZeroU64) -> Uid {
        Uid::from_nonzero(base | ticket & self.max_offset)
    }

    /// The base of the block of `ticket`, if the ticket lies in `range`.
    #[inline]
    fn known_base(&self, range: ReadyRange, ticket: u64) -> Option<NonZeroU64> {
        if range.holds(ticket) {
            NonZeroU64::new(self.base_from_origin(range.origin, ticket))
        } else {
            None
        }
    }

    /// The base of the block of `ticket`, which lies in a ready range with this origin.
    #[inline]
    fn base_from_origin(&self, origin: u64, ticket: u64) -> u64 {
        origin.wrapping_add(self.distance_to(ticket))
    }

    /// The number of the block of `ticket` times the stride. The stride is a power of two.
    #[inline]
    fn distance_to(&self, ticket: u64) -> u64 {
        (ticket & !self.max_offset) << self.time_offset
    }

    /// Claims the next ticket only if it is known to have a UID: if it lies in the ready range, or
    /// in the block `published`, which the caller has seen published. Returns what
    /// [`claim_many`](Ring::claim_many) returns. Otherwise claims nothing and fails with the
    /// ticket's block, for [`publish_up_to`](Ring::publish_up_to), or with `None` if the ring is
    /// closed.
    #[inline]
    pub fn try_claim(
        &self,
        published: Option<u64>,
    ) -> Result<(u64, Option<NonZeroU64>), Option<u64>> {
        let range = self.front.read();
        let mut ticket = self.cursor.next();
        loop {
            if is_closed(ticket) {
                return Err(None);
            }
            let base = self.known_base(range, ticket);
            if base.is_none() && published != Some(ticket >> self.shift) {
                return Err(Some(ticket >> self.shift));
            }
            match self.cursor.claim_exactly(ticket) {
                Ok(()) => return Ok((ticket, base)),
                Err(now) => ticket = now,
            }
        }
    }

    /// Closes the ring for good, because a rule does not hold that uniqueness rests on.
    #[cold]
    #[inline(never)]
    pub fn break_rule(&self, broken: BrokenRule) {
        // Before the ring is closed, so that whoever finds it closed finds the first reason.
        let rule = lock(&self.broken_rule).get_or_insert(broken).rule;
        self.cursor.break_rule(rule);
    }

    /// The rule that did not hold, if one did not. Must not be called in a forked process.
    pub fn broken_rule(&self) -> Option<BrokenRule> {
        *lock(&self.broken_rule)
    }

    /// What may be published.
    pub fn window(&self) -> &SharedWindow {
        &self.publish_state.window
    }

    /// The base of `block`, if the ring holds that block.
    pub fn published_base(&self, block: u64) -> Option<NonZeroU64> {
        let (stamp, word, steady) = self.slot(block).read();
        if stamp == block << self.shift && steady {
            NonZeroU64::new(self.base_in_word(word))
        } else {
            None
        }
    }

    /// The base published last; 0 if there is none.
    pub fn newest(&self) -> u64 {
        loop {
            let tail = self.tail();
            // ORDERING: keeps the second read of the tail after this load.
            let word = self.slot(tail - 1).word.load(Ordering::Acquire);
            if self.tail() == tail {
                return self.base_in_word(word);
            }
        }
    }

    /// Advances the front to `ticket`, whose block has the base `base`, unless the front is there
    /// already or further on. The new ready range covers that block and those of the next ones, up
    /// to `blocks` in all, that follow it without a gap; the caller has seen them published.
    /// Returns whether the front was advanced. If it was, the caller refills the ring if needed.
    pub fn advance(&self, ticket: u64, base: NonZeroU64, blocks: u64) -> bool {
        let Some((start, front)) = self.front.read_with_start() else { return false };
        if ticket < front.end {
            return false;
        }
        let block = ticket >> self.shift;
        let last = self.publish_state.window.last_base();
        let is_gapless = |blocks: &u64| {
            let (stamp, word, steady) = self.slot(block + blocks).read();
            let is_beyond = self.codec.is_beyond(self.base_in_word(word), last);
            stamp == (block + blocks) << self.shift
                && steady
                && word & self.max_offset >= *blocks
                && !is_beyond
        };
        // Usually all of them are, and the word of the last one says so.
        let blocks = 1 + (1..blocks).rev().find(is_gapless).unwrap_or(0);
        let origin = base.get().wrapping_sub(self.distance_to(ticket));
        self.front.replace(
            start,
            ticket,
            ReadyRange { end: (block + blocks) << self.shift, origin },
        )
    }

    /// Shortens the ready range so that it ends with the window, after the clock has gone back.
    /// Called by the filler.
    pub fn draw_back(&self) {
        let Some((start, ReadyRange { end, origin })) = self.front.read_with_start() else {
            return;
        };
        let newest = self.base_from_origin(origin, end.wrapping_sub(1));
        let last = self.publish_state.window.last_base();
        if start < end && self.codec.is_beyond(newest, last) {
            let beyond = (newest - last) / self.codec.stride();
            let end = end.saturating_sub(beyond << self.shift).max(start);
            self.front.replace(start, start, ReadyRange { end, origin });
        }
    }

    /// The state of `block`, in which the caller holds a ticket or is about to claim one. Publishes
    /// it first if needed, together with the blocks before it that are not yet published.
    /// `published` counts the blocks whose base this call has chosen.
    pub fn publish_up_to(&self, block: u64, published: &Counter) -> Block {
        loop {
            let tail = self.tail();
            if block < tail {
                let Some(base) = self.published_base(block) else { return Block::Overwritten };
                // The clock may have gone back since the block was published.
                if self.codec.is_beyond(base.get(), self.publish_state.window.last_base()) {
                    return Block::Beyond;
                }
                return Block::Published(base);
            }
            match self.publish(tail) {
                Some(true) => {
                    published.add(1);
                }
                Some(false) => {}
                None => return Block::Beyond,
            }
        }
    }

    /// Publishes one block if the ring has room for it: if the block that it overwrites lies before
    /// `current` and so has been claimed completely. The caller has seen the cursor in `current`,
    /// or holds a ticket in it. Returns false if the ring is full or the window ends.
    pub fn publish_if_room(&self, current: u64, published: &Counter) -> bool {
        let tail = self.tail();
        if tail >= current + self.slots.len() as u64 {
            return false;
        }
        match self.publish(tail) {
            Some(mine) => {
                published.add(mine.into());
                true
            }
            None => false,
        }
    }

    /// The block of the next ticket.
    pub fn cursor_block(&self) -> u64 {
        self.cursor.position() >> self.shift
    }

    /// How many blocks are published from `block` on.
    pub fn blocks_from(&self, block: u64) -> u64 {
        // ORDERING: an estimate of how full the ring is; no other read relies on it.
        self.publish_state.tail.load(Ordering::Relaxed).saturating_sub(block)
    }

    /// How many published UIDs nobody has claimed.
    pub fn available(&self) -> u64 {
        // ORDERING: a statistic.
        let end = self.publish_state.tail.load(Ordering::Relaxed) << self.shift;
        end.saturating_sub(self.cursor.position())
    }

    /// The next block to publish.
    pub fn tail(&self) -> u64 {
        // ORDERING: pairs with step 5: a thread that sees the tail past a block sees the stamp of
        // that block, or a later stamp.
        self.publish_state.tail.load(Ordering::Acquire)
    }

    /// Whether there is no room for another block.
    pub fn is_full(&self) -> bool {
        self.blocks_from(self.cursor_block()) >= self.slots.len() as u64
    }

    /// log2 of the UIDs in a block.
    #[inline]
    pub fn shift(&self) -> u32 {
        self.shift
    }

    /// The largest offset of a ticket in its block.
    #[inline]
    pub fn max_offset(&self) -> u64 {
        self.max_offset
    }

    #[inline]
    fn slot(&self, block: u64) -> &Slot {
        // The mask lets the compiler see that the index is in bounds. Truncating the block number
        // to `usize` keeps the bits that matter.
        #[allow(clippy::cast_possible_truncation)]
        &self.slots[block as usize & (self.slots.len() - 1)]
    }

    /// The base in a slot's word.
    fn base_in_word(&self, word: u64) -> u64 {
        word & !LAP & !self.max_offset
    }

    /// `LAP` on odd laps.
    fn lap(&self, block: u64) -> u64 {
        block >> self.slot_bits << 63
    }

    /// Publishes `block`, which was at the tail, or completes what another publisher has begun.
    /// Returns `Some(true)` if this call chose the base, and `None` if the block lies beyond the
    /// window.
    fn publish(&self, block: u64) -> Option<bool> {
        let slot = self.slot(block);
        let done = block << self.shift;
        let busy = done | BUSY;
        let free = done - ((self.slots.len() as u64) << self.shift);
        let mut chosen = false;

        // ORDERING: pairs with steps 2 and 4 of another publisher: what it saw before them, this
        // one sees.
        let mut stamp = slot.stamp.load(Ordering::Acquire);
        if stamp == free {
            // Step 1, before step 2 so that the slot stays as it is if the window has ended.
            let Some(_) = self.next_base(block) else { return self.beyond(block) };
            // Step 2.
            // ORDERING: Acquire, to see what another publisher that is ahead has done; Release, for
            // a publisher that continues from here. Every reader sees step 2 before step 3, because
            // step 3 is a Release.
            stamp = match slot.stamp.compare_exchange(
                free,
                busy,
                Ordering::AcqRel,
                Ordering::Acquire,
            ) {
                Ok(_) => busy,
                Err(now) => now,
            };
        }
        if stamp == busy {
            // ORDERING: keeps the check of the stamp after this load.
            let word = slot.word.load(Ordering::Acquire);
            // A busy stamp before and after means that the word belongs to `block - n` or to
            // `block`; the lap bit says to which. ORDERING: Acquire, to see what the publisher that
            // made the stamp busy has seen.
            if slot.stamp.load(Ordering::Acquire) == busy {
                if word & LAP != self.lap(block) {
                    let Some(candidate) = self.candidate(block) else { return self.beyond(block) };
                    // Step 3. If the swap fails, another publisher's choice stands.
                    // ORDERING: Release, so that a thread that reads this base sees the busy stamp
                    // before it.
                    let swap = slot.word.compare_exchange(
                        word,
                        candidate | self.lap(block),
                        Ordering::AcqRel,
                        Ordering::Acquire,
                    );
                    chosen = swap.is_ok();
                }
                // Step 4.
                // ORDERING: Release, for `Slot::read`: a thread that sees this stamp sees the word.
                let _ =
                    slot.stamp.compare_exchange(busy, done, Ordering::AcqRel, Ordering::Acquire);
            }
        }
        // Step 5.
        // ORDERING: Release, so that a thread that sees the tail past the block sees its stamp.
        let _ = self.publish_state.tail.compare_exchange(
            block,
            block + 1,
            Ordering::AcqRel,
            Ordering::Acquire,
        );
        Some(chosen)
    }

    /// The result of `publish` for a block that was found beyond the window: `None`, unless the
    /// block has been published meanwhile.
    fn beyond(&self, block: u64) -> Option<bool> {
        (self.tail() != block).then_some(false)
    }

    /// Whether the UIDs of a block that begins with `base`, after one that begins with `previous`,
    /// are new and reserved. If not, the ring is closed for good, unless `block` has been published
    /// meanwhile, so that what was compared says nothing.
    #[cold]
    #[inline(never)]
    fn breaks_rule(&self, block: u64, previous: u64, base: u64, reserved: u64) -> bool {
        let is_above = base > previous || !self.codec.same_worker(base, previous);
        let result = Rule::BlockAbove
            .check(is_above, base, previous)
            .and_then(|()| Rule::BlockReserved.check(base <= reserved, base, reserved));
        let Err(broken) = result else { return false };
        if self.tail() == block {
            self.break_rule(broken);
        }
        true
    }

    /// What the candidate for the word of `block` is made of: the word of the block before, the
    /// base, and the last one that is reserved. `None` if the block lies beyond the window. If
    /// `block` has been published meanwhile the result means nothing: the swap that would use it
    /// fails, and `beyond` checks the tail.
    #[inline]
    fn next_base(&self, block: u64) -> Option<(u64, u64, u64)> {
        let word = self.slot(block - 1).word.load(Ordering::Acquire);
        // ORDERING: the thread that chose the base before had seen the lease it belongs to, so this
        // window belongs to that lease or to a later one.
        let window = self.publish_state.window.get();
        let base = window.next_base(self.base_in_word(word), &self.codec)?;
        Some((word, base, window.reserved_base))
    }

    /// The candidate for the word of `block`, without its lap bit. `None` as in `next_base`, and if
    /// a rule does not hold.
    #[inline]
    fn candidate(&self, block: u64) -> Option<u64> {
        let (word, base, reserved) = self.next_base(block)?;
        let previous = self.base_in_word(word);
        let is_gap = previous == 0 || base != previous + self.codec.stride();
        // Directly after the one before, it lies above that one.
        let is_in_doubt = is_gap || base > reserved;
        if is_in_doubt && self.breaks_rule(block, previous, base, reserved) {
            return None;
        }
        let before = if is_gap { 0 } else { (word & self.max_offset) + 1 };
        Some(base | before.min(self.max_offset))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::layout::Layout;

    const WORKER: u64 = 3;

    /// A ring with one published block, of tick 10, whose window ends with the reserved tick 20.
    fn ring() -> (Ring, TickCodec) {
        let codec = TickCodec::new(&Layout::DEFAULT);
        let [first_base, last_base] = [10, 20].map(|tick| codec.base_at(tick, WORKER));
        let window = Window { first_base, last_base, reserved_base: last_base };
        let ring = Ring::new(4, 13, codec, window);
        assert!(matches!(ring.publish_up_to(4, &Counter::default()), Block::Published(_)));
        (ring, codec)
    }

    /// The ring gives nothing any more, and says why.
    fn assert_broken(ring: &Ring, rule: Rule, found: u64, bound: u64) {
        assert_eq!(ring.broken_rule(), Some(BrokenRule { rule, found, bound }));
        assert_eq!(ring.cursor.ended(), Some(Ended::BrokenRule(rule)));
        assert!(is_closed(ring.claim_many(1).0) && is_closed(ring.take().unwrap_err()));
        ring.cursor.open();
        assert!(is_closed(ring.take().unwrap_err()), "closed for good");
    }

    #[test]
    fn a_block_past_the_reserved_ticks_ends_the_ring() {
        let (ring, codec) = ring();
        let base_at = |tick| codec.base_at(tick, WORKER);
        // A window that was set without a look at what is reserved.
        let (last_base, reserved_base) = (base_at(99), base_at(10));
        let first_base = base_at(10);
        ring.window().set(Window { first_base, last_base, reserved_base });
        assert_eq!(ring.publish_up_to(5, &Counter::default()), Block::Beyond);
        assert_broken(&ring, Rule::BlockReserved, base_at(11), base_at(10));
    }

    #[test]
    fn a_block_that_is_not_above_the_one_before_ends_the_ring() {
        let (ring, codec) = ring();
        let [before, base] = [10, 9].map(|tick| codec.base_at(tick, WORKER));
        let of_another = codec.base_at(9, WORKER + 1);
        assert!(!ring.breaks_rule(5, before, of_another, u64::MAX));
        assert!(!ring.breaks_rule(5, base, before, u64::MAX));
        // A publisher that comes late has compared what others have overwritten.
        assert!(ring.breaks_rule(4, before, base, u64::MAX));
        assert_eq!(ring.broken_rule(), None);
        assert!(ring.breaks_rule(5, before, base, u64::MAX));
        assert_broken(&ring, Rule::BlockAbove, base, before);
    }
}

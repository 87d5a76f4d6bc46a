//! How a block is published, by the steps that `docs/design/publishing.md` numbers, and how it is
//! read.

use std::num::NonZeroU64;

use super::window::SharedWindow;
use super::{BUSY, Ring};
use crate::support::rule::Rule;
use crate::sync::{AtomicU64, Counter, Ordering};

/// Set in a word whose block belongs to an odd lap round the ring.
const LAP: u64 = 1 << 63;

/// One block, on a cache line of its own. The words that takers write have a pair of lines each.
/// For slots that would double the memory and gain little, since they are written in order.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct Slot {
    /// The first ticket of the block in this slot. With `BUSY`: of the block that is about to
    /// replace it. Written by publishers.
    pub(super) stamp: AtomicU64,
    /// The base of the block, with `LAP` on odd laps. The sequence bits, which are 0 in a base,
    /// count the blocks directly before this one that follow one another without a gap; the count
    /// stops at the largest value that fits. Written by publishers.
    pub(super) word: AtomicU64,
}

impl Slot {
    /// The stamp, the word, and whether they belong together.
    #[inline]
    pub(super) fn read(&self) -> (u64, u64, bool) {
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
pub(super) struct PublishState {
    /// The next block to publish. Written by publishers.
    pub(super) tail: AtomicU64,
    /// What may be published.
    pub(super) window: SharedWindow,
}

impl Ring {
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
    /// or holds a ticket in it. Returns whether this call chose the base, and `None` if the ring is
    /// full or the window ends.
    pub fn publish_if_room(&self, current: u64, published: &Counter) -> Option<bool> {
        let tail = self.tail();
        if tail >= current + self.slots.len() as u64 {
            return None;
        }
        let is_mine = self.publish(tail)?;
        published.add(is_mine.into());
        Some(is_mine)
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

    /// The next block to publish.
    pub fn tail(&self) -> u64 {
        // ORDERING: pairs with step 5: a thread that sees the tail past a block sees the stamp of
        // that block, or a later stamp.
        self.publish_state.tail.load(Ordering::Acquire)
    }

    #[inline]
    pub(super) fn slot(&self, block: u64) -> &Slot {
        // The mask lets the compiler see that the index is in bounds. Truncating the block number
        // to `usize` keeps the bits that matter.
        #[allow(clippy::cast_possible_truncation)]
        &self.slots[block as usize & (self.slots.len() - 1)]
    }

    /// The base in a slot's word.
    pub(super) fn base_in_word(&self, word: u64) -> u64 {
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
        let (slot, slot_before) = (self.slot(block), self.slot(block - 1));
        let done = block << self.shift;
        let busy = done | BUSY;
        let free = done - ((self.slots.len() as u64) << self.shift);
        let mut chosen = false;

        // ORDERING: pairs with steps 2 and 4 of another publisher: what it saw before them, this
        // one sees.
        let mut stamp = slot.stamp.load(Ordering::Acquire);
        if stamp == free {
            // Step 1, before step 2 so that the slot stays as it is if the window has ended.
            let Some(_) = self.next_base(slot_before) else { return self.beyond(block) };
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
                    let Some(candidate) = self.candidate(block, slot_before, word) else {
                        return self.beyond(block);
                    };
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

    /// Whether `block` must not begin with `base`: it is not above the bases in `earlier` words,
    /// or not `reserved`. Then the ring is closed for good, unless `block` has been published
    /// meanwhile, so that what was compared says nothing.
    #[cold]
    #[inline(never)]
    fn breaks_rule(&self, block: u64, earlier: [u64; 2], base: u64, reserved: u64) -> bool {
        let worker = self.codec.worker_of(base);
        let earlier = earlier.map(|word| self.base_in_word(word));
        let of_worker = earlier.into_iter().filter(|other| self.codec.same_worker(base, *other));
        let last = of_worker.max().unwrap_or(0);
        let result = Rule::BlockAbove
            .check(base > last, worker, base, last)
            .and_then(|()| Rule::BlockReserved.check(base <= reserved, worker, base, reserved));
        let Err(broken) = result else { return false };
        if self.tail() == block {
            self.break_rule(broken);
        }
        true
    }

    /// What the candidate for the word of a block is made of: the word of the slot before, the
    /// base, and the last one that is reserved. `None` if the block lies beyond the window. If it
    /// has been published meanwhile the result means nothing: the swap that would use it fails, and
    /// `beyond` checks the tail.
    #[inline]
    fn next_base(&self, slot_before: &Slot) -> Option<(u64, u64, u64)> {
        let word = slot_before.word.load(Ordering::Acquire);
        // ORDERING: the thread that chose the base before had seen the lease it belongs to, so this
        // window belongs to that lease or to a later one.
        let window = self.publish_state.window.get();
        let base = window.next_base(self.base_in_word(word), &self.codec)?;
        Some((word, base, window.reserved_base))
    }

    /// The candidate for the word of `block`, without its lap bit, in place of the word `replaced`,
    /// of a lap before. `None` as in `next_base`, and if a rule does not hold.
    #[inline]
    fn candidate(&self, block: u64, slot_before: &Slot, replaced: u64) -> Option<u64> {
        let (word, base, reserved) = self.next_base(slot_before)?;
        let previous = self.base_in_word(word);
        let is_gap = previous == 0 || base != previous + self.codec.stride();
        // Directly after the one before, it lies above that one.
        let is_in_doubt = is_gap || base <= replaced & !LAP || base > reserved;
        if is_in_doubt && self.breaks_rule(block, [word, replaced], base, reserved) {
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
    use crate::ring::codec::TickCodec;
    use crate::ring::window::Window;
    use crate::ring::{Ended, is_closed};
    use crate::support::rule::BrokenRule;

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
        let worker = WORKER;
        assert_eq!(ring.broken_rule(), Some(BrokenRule { rule, worker, found, bound }));
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
    fn a_block_that_is_not_above_earlier_ones_ends_the_ring() {
        let base_at = |codec: TickCodec, tick| codec.base_at(tick, WORKER);
        // As if block 4 had been given tick 14.
        let (ring, codec) = ring();
        assert!(matches!(ring.publish_up_to(7, &Counter::default()), Block::Published(_)));
        let change = |block, tick| {
            // ORDERING: one thread, here and in the store.
            let word = ring.slot(block).word.load(Ordering::Relaxed);
            let changed = base_at(codec, tick) | (word & (LAP | ring.max_offset));
            ring.slot(block).word.store(changed, Ordering::Relaxed);
        };
        change(4, 14);
        assert_eq!(ring.publish_up_to(8, &Counter::default()), Block::Beyond);
        assert_broken(&ring, Rule::BlockAbove, base_at(codec, 14), base_at(codec, 14));
    }

    #[test]
    fn a_base_is_compared_with_earlier_ones_of_its_worker() {
        let (ring, codec) = ring();
        let [above, base] = [10, 9].map(|tick| codec.base_at(tick, WORKER));
        let of_another = codec.base_at(9, WORKER - 1);
        assert!(!ring.breaks_rule(5, [0, above], of_another, u64::MAX));
        // A publisher that comes late has compared what others have overwritten.
        assert!(ring.breaks_rule(4, [0, above], base, u64::MAX));
        assert_eq!(ring.broken_rule(), None);
        assert!(ring.breaks_rule(5, [base, 0], base, u64::MAX));
        assert_broken(&ring, Rule::BlockAbove, base, base);
    }
}

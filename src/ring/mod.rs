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

pub mod chain;
pub mod codec;
pub mod cursor;
mod front;
mod publish;
pub mod window;

use std::num::NonZeroU64;

use crossbeam_utils::CachePadded;

use crate::ring::codec::TickCodec;
pub use crate::ring::cursor::{Cursor, Ended, is_closed};
use crate::ring::front::{Front, ReadyRange};
pub use crate::ring::publish::Block;
use crate::ring::publish::{PublishState, Slot};
use crate::ring::window::{SharedWindow, Window};
use crate::support::rule::BrokenRule;
use crate::sync::{AtomicU64, Mutex, Ordering, lock};
use crate::uid::Uid;

pub const MIN_SLOTS: usize = 2;
pub const MAX_SLOTS: usize = 65_536;

/// Set in a stamp, or in the start of the front, while it is being changed. No ticket is this
/// large.
const BUSY: u64 = 1 << 63;

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

    /// The rule that did not hold, if one did not. The filler locks it each time it runs.
    broken_rule: CachePadded<Mutex<Option<BrokenRule>>>,

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
            broken_rule: CachePadded::default(),
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
            match self.cursor.claim_exactly(ticket, 1) {
                Ok(()) => return Ok((ticket, base)),
                Err(now) => ticket = now,
            }
        }
    }

    /// Claims up to `count` tickets of one block, of which it is known that they have UIDs. Returns
    /// the first UID and how many there are. `None`, and nothing is claimed, if the next ticket
    /// does not lie in the ready range.
    pub fn try_claim_many(&self, count: u64) -> Option<(Uid, u64)> {
        let range = self.front.read();
        let mut ticket = self.cursor.next();
        loop {
            let base = self.known_base(range, ticket)?;
            let end = ((ticket | self.max_offset) + 1).min(range.end).min(ticket + count);
            match self.cursor.claim_exactly(ticket, end - ticket) {
                Ok(()) => return Some((self.uid(ticket, base), end - ticket)),
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
}

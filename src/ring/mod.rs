//! The ring: a few slots, each holding a whole second of UIDs. Lock-free on both ends.
//!
//! ```text
//!   ticket = cursor.fetch_add(1)                            block = ticket >> sequence bits
//!
//!   ring of 8       slot 0     slot 1     slot 2     slot 3     slot 4     slot 5     slot 6     slot 7
//!                 ┌──────────┬──────────┬──────────┬──────────┬──────────┬──────────┬──────────┬──────────┐
//!   stamp         │ block 24 │ block 25 │ block 26 │ block 27 │ block 28 │ block 21 │ block 22 │ block 23 │
//!   word (base)   │ 09:00:16 │ 09:00:17 │ 09:00:18 │ 09:00:19 │ 09:00:20 │ 09:00:13 │ 09:00:14 │ 09:00:15 │
//!                 └──────────┴──────────┴──────────┴──────────┴────▲─────┴──────────┴────▲─────┴──────────┘
//!                                                   tail = 29 ─────┘      cursor in 22 ──┘
//! ```
//!
//! The UIDs of a second are consecutive, so a slot holds only the first of them, its *base*: the
//! UID of a ticket is the base of its block plus the ticket's place in the block. Blocks are
//! numbered on and on; block `b` lives in slot `b % n`, where it overwrites block `b - n`.
//!
//! # Take
//!
//! ```text
//!   the stretch at the front: blocks 22 to 25, of consecutive seconds
//!   end    = the first ticket behind block 25
//!   origin = what the base of block 0 would be         UID of a ticket = origin + block × second + place in the block
//! ```
//!
//! A taker first looks at the stretch at the front: end, origin. Then one `fetch_add` on the cursor
//! makes a ticket this taker's own; if the ticket lies in the stretch, its UID is known. Else the
//! taker goes out of line, to the ticket's slot, publishes the block if that is still to be done,
//! or drops the ticket if the block was overwritten meanwhile. A dropped ticket costs one UID that
//! nobody gets; it is never a UID that two get.
//!
//! Threads that share a cursor wait for each other from one claim to the next, so whatever is done
//! between ticket and UID makes all of them slower. Hence a taker reads all that it needs *before*
//! it claims, and works its UID out in few steps.
//!
//! What a stretch says is true for ever: bases are decided once. And who moved the front had a
//! ticket there, the stretch's start, so a taker, who claims after it has looked, has a later
//! ticket than that: it need not look at the start. But it may have read the end of one stretch and
//! the origin of a later one, as who moves the front writes the origin first. Then its ticket lies
//! behind the later one's start as well. If that is not before the earlier one's end, there is no
//! match. If it is, as after a stretch was drawn back, both tell the base of the one block there,
//! and so they have the same origin.
//!
//! Who comes out of line to a ticket behind the stretch moves the front there, and looks after the
//! ring.
//!
//! # Publish
//!
//! Anyone may publish the block at the tail, and anyone may finish what another began, so a stalled
//! thread holds up nobody. For block `b`:
//!
//! 1. choose the candidate base, which follows the base of `b - 1`;
//! 2. stamp: *done with `b - n`* → *busy with `b`*. From here on late readers of `b - n` see that
//!    they are late;
//! 3. word: base of `b - n` → candidate. Helpers with different candidates agree on the one whose
//!    swap came first;
//! 4. stamp: *busy with `b`* → *done with `b`*;
//! 5. tail: `b` → `b + 1`.
//!
//! Each step is a compare-and-swap, and each swaps a value that never comes back: stamps and the
//! tail only grow, and a base is used once. So a helper that was away for however long fails at its
//! next step and changes nothing. The word's top bit, which no UID uses, tells odd laps from even
//! ones: that is how a helper that finds *busy with `b`* knows whether step 3 has been done.

pub mod codec;
pub mod counter;
mod front;
pub mod window;

use std::num::NonZeroU64;
use std::ops::Range;

use crossbeam_utils::CachePadded;

use crate::ring::codec::{TickCodec, Window};
use crate::ring::counter::Counter;
use crate::ring::front::{Front, ReadyRange};
use crate::ring::window::SharedWindow;
use crate::sync::{AtomicBool, AtomicU64, Mutex, Ordering, lock};
use crate::uid::Uid;

pub const MIN_SLOTS: usize = 2;
pub const MAX_SLOTS: usize = 65_536;

/// In the cursor, and so in the tickets claimed meanwhile: the ring is closed. Tickets do not reach
/// so far (see `Ring::cursor`).
const CLOSED: u64 = 1 << 63;
/// In a stamp, or the start of the front: it is being changed. Tickets do not reach so far.
const BUSY: u64 = 1 << 63;
/// In a word: the block is of an odd lap.
const LAP: u64 = 1 << 63;

/// Whether `ticket` was claimed while the ring was closed. It is none then.
pub fn is_closed(ticket: u64) -> bool {
    ticket & CLOSED != 0
}

/// One block, on a cache line of its own. A pair of lines, as what takers write has, would be twice
/// as much memory, and slots are written in a row.
#[derive(Debug)]
#[repr(align(64))]
struct Slot {
    /// The first ticket of the block that the slot holds, or that and `BUSY` while it is replaced
    /// by that block. Written by publishers.
    stamp: AtomicU64,
    /// The base of the block, with `LAP` on odd laps, and, where the ticket's place goes, how many
    /// blocks before it follow one another without a gap up to it, as far as that is counted.
    /// Written by publishers.
    word: AtomicU64,
}

impl Slot {
    /// Stamp and word, and whether they belong together.
    #[inline]
    fn look(&self) -> (u64, u64, bool) {
        // ORDERING: pairs with step 4: who sees the block's stamp sees its word, or a later one.
        let stamp = self.stamp.load(Ordering::Acquire);
        // ORDERING: pairs with step 3: who sees a later block's word sees its busy stamp below.
        let word = self.word.load(Ordering::Acquire);
        // ORDERING: none needed; the load above keeps this one behind it.
        (stamp, word, self.stamp.load(Ordering::Relaxed) == stamp)
    }
}

/// What became of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    /// It is published and has this base.
    Published(NonZeroU64),
    /// It has been overwritten: its tickets are lost.
    Overwritten,
    /// Its second may not be published yet, or never: the window ends before it.
    Beyond,
}

/// Where blocks are published.
#[derive(Debug)]
struct PublishState {
    /// The next block to publish. Written by publishers.
    tail: AtomicU64,
    /// What may be published.
    window: SharedWindow,
    /// Tickets dropped because their block was overwritten, and those given back too late. Written
    /// by takers.
    lost: Counter,
    /// Tickets that nobody was given: the cursor was moved past them. Written by the filler.
    skipped: Counter,
    /// Where the cursor goes on from when the ring is opened. The lock is taken to close and to
    /// open the ring and to move the cursor, never by a take from an open ring.
    resume: Mutex<Resume>,
    /// Whether the ring is a copy that `fork` made, of which nobody may take. Written in the child,
    /// while it has one thread.
    is_abandoned: AtomicBool,
    /// Where the cursor stood when the ring was abandoned.
    left_at: AtomicU64,
}

/// Where a closed ring goes on.
#[derive(Debug, Default)]
struct Resume {
    /// The next ticket.
    ticket: u64,
    /// Tickets before it that were given back while others, between them and it, are still held.
    given_back: Vec<Range<u64>>,
}

#[derive(Debug)]
pub struct Ring {
    /// The next ticket. The only word that every taker writes.
    ///
    /// It stays below 2^63, whatever the layout. Takers claim the tickets of published blocks, and
    /// beyond them a ticket or a run for each thread that waits. No two blocks have the same base,
    /// and registries count worker ids from 1 (a fixed 0 is the only one), so there are at most
    /// `(2^worker_bits - 1) * 2^time_bits` blocks: that leaves `2^(time_bits + sequence_bits)`
    /// tickets or more below 2^63. The first lap, which is never published, needs at most a
    /// sixteenth of these, as a ring has at most 2^16 slots and a time field at least 20 bits.
    /// While the ring is closed, the filler takes back what claims add.
    cursor: CachePadded<AtomicU64>,
    /// Where `take` looks first.
    front: CachePadded<Front>,
    /// What takers read once a stretch.
    publish_state: CachePadded<PublishState>,

    // What follows is never written again: takers read it each time.
    slots: Box<[Slot]>,
    codec: TickCodec,
    /// The last place in a block. With `shift`, so that takes need not shift.
    max_offset: u64,
    /// log2 of the UIDs in a block.
    shift: u32,
    /// log2 of the slots.
    slot_bits: u32,
    /// log2 of the UIDs in a second that are other workers'.
    gap_bits: u32,
}

impl Ring {
    /// An empty ring of `slots` slots, a power of two, with blocks of `2^sequence_bits` UIDs.
    pub fn new(slots: usize, sequence_bits: u32, codec: TickCodec, window: Window) -> Ring {
        debug_assert!(slots.is_power_of_two() && (MIN_SLOTS..=MAX_SLOTS).contains(&slots));
        // Lap 0 is never published: its blocks stand for "nothing yet", and the first block to
        // publish is number `slots`, of lap 1. Base 0 is none that a UID has, and comes before
        // every other.
        let empty = |block: usize| Slot {
            stamp: AtomicU64::new((block as u64) << sequence_bits),
            word: AtomicU64::new(0),
        };
        Ring {
            cursor: CachePadded::new(AtomicU64::new((slots as u64) << sequence_bits)),
            front: CachePadded::default(),
            publish_state: CachePadded::new(PublishState {
                tail: AtomicU64::new(slots as u64),
                window: SharedWindow::new(window),
                lost: Counter::default(),
                skipped: Counter::default(),
                resume: Mutex::default(),
                is_abandoned: AtomicBool::new(false),
                left_at: AtomicU64::new(0),
            }),
            slots: (0..slots).map(empty).collect(),
            codec,
            max_offset: (1 << sequence_bits) - 1,
            shift: sequence_bits,
            slot_bits: slots.trailing_zeros(),
            gap_bits: codec.stride().trailing_zeros() - sequence_bits,
        }
    }

    /// Claims `count` tickets and returns the first.
    #[inline]
    pub fn claim(&self, count: u64) -> u64 {
        // ORDERING: the counter alone makes tickets distinct and ordered; what a ticket leads to is
        // ordered by the slot.
        self.cursor.fetch_add(count, Ordering::Relaxed)
    }

    /// Claims `count` tickets, and returns the first with the base of its block, if it lies in the
    /// stretch at the front. As [`take`](Ring::take).
    #[inline]
    pub fn claim_run(&self, count: u64) -> (u64, Option<NonZeroU64>) {
        let range = self.front.look();
        let ticket = self.claim(count);
        (ticket, self.known_base(range, ticket))
    }

    /// Claims a ticket and returns its UID, if it lies in the stretch at the front; else the
    /// ticket, for [`block`](Ring::block).
    #[inline]
    pub fn take(&self) -> Result<Uid, u64> {
        // All that is read is read before the claim: the next claim waits for what is done after
        // it.
        let range = self.front.look();
        let Ring { max_offset, gap_bits, .. } = *self;
        let ticket = self.claim(1);
        if !range.holds(ticket) {
            return Err(ticket);
        }
        // The base and the place in the block, which is added before the base is complete: a step
        // less to wait for. `seconds_to` would read the layout again.
        let seconds = (ticket & !max_offset) << gap_bits;
        let uid = seconds.wrapping_add(range.origin.wrapping_add(ticket & max_offset));
        NonZeroU64::new(uid).map(Uid::new).ok_or(ticket)
    }

    /// The UID of `ticket`, whose block has this base.
    #[inline]
    pub fn uid(&self, ticket: u64, base: NonZeroU64) -> Uid {
        Uid::new(base | ticket & self.max_offset)
    }

    /// The base of the block of `ticket`, if that lies in `stretch`.
    #[inline]
    fn known_base(&self, range: ReadyRange, ticket: u64) -> Option<NonZeroU64> {
        if range.holds(ticket) { NonZeroU64::new(self.base_in(range.origin, ticket)) } else { None }
    }

    /// The base of the block of `ticket`, which lies in a stretch with this origin.
    #[inline]
    fn base_in(&self, origin: u64, ticket: u64) -> u64 {
        origin.wrapping_add(self.seconds_to(ticket))
    }

    /// The number of the block of `ticket`, times one second: both are powers of two.
    #[inline]
    fn seconds_to(&self, ticket: u64) -> u64 {
        (ticket & !self.max_offset) << self.gap_bits
    }

    /// Claims the next ticket, and returns it and what [`claim_run`](Ring::claim_run) does, if the
    /// claim is not in vain: if the ticket lies in the stretch at the front, or in the block
    /// `published`, of which the caller knows that it is so. Else the ticket's block, for
    /// [`block`](Ring::block), or `None` if the ring is closed.
    pub fn try_claim(
        &self,
        published: Option<u64>,
    ) -> Result<(u64, Option<NonZeroU64>), Option<u64>> {
        let range = self.front.look();
        // ORDERING: as in `claim`; the swap makes sure that the ticket is still the next one.
        let mut ticket = self.cursor.load(Ordering::Relaxed);
        loop {
            if is_closed(ticket) {
                return Err(None);
            }
            let base = self.known_base(range, ticket);
            if base.is_none() && published != Some(ticket >> self.shift) {
                return Err(Some(ticket >> self.shift));
            }
            match self.cursor.compare_exchange_weak(
                ticket,
                ticket + 1,
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Ok((ticket, base)),
                Err(now) => ticket = now,
            }
        }
    }

    /// Whether the ring is closed.
    pub fn is_closed(&self) -> bool {
        // ORDERING: who acts on this takes the lock first.
        is_closed(self.cursor.load(Ordering::Relaxed))
    }

    /// Closes the ring: from now on claims are in vain, and use nothing up.
    pub fn close(&self) {
        let mut resume = lock(&self.publish_state.resume);
        // ORDERING: as in `claim`; the lock orders this change among those of its kind.
        let cursor = self.cursor.fetch_or(CLOSED, Ordering::Relaxed);
        if !is_closed(cursor) {
            resume.ticket = cursor;
        }
    }

    /// Gives tickets back that their holder does not use, so that they can be claimed again.
    ///
    /// They can where nobody holds a later one: at once, or, in a closed ring, as soon as all later
    /// ones have been given back too. Tickets for which that does not come about before the ring is
    /// opened are lost, as to hand them out behind later ones would break the order.
    ///
    /// A ticket with which the front was moved is never given back: the cursor stays behind the
    /// start of the front.
    pub fn give_back(&self, tickets: Range<u64>) {
        let mut resume = lock(&self.publish_state.resume);
        // ORDERING: as in `claim`; the lock keeps the ring from being closed or opened meanwhile. A
        // taker that claims these tickets next needs to see nothing that their holder did.
        if is_closed(self.cursor.load(Ordering::Relaxed)) {
            resume.given_back.push(tickets);
            let Resume { ticket, given_back } = &mut *resume;
            while let Some(last) = given_back.iter().position(|tickets| tickets.end == *ticket) {
                *ticket = given_back.swap_remove(last).start;
            }
        } else if self
            .cursor
            .compare_exchange(tickets.end, tickets.start, Ordering::Relaxed, Ordering::Relaxed)
            .is_err()
        {
            self.lose(tickets.end - tickets.start);
        }
    }

    /// Takes back what claims have added to the cursor of a closed ring: in time they would reach
    /// its top bit.
    pub fn settle(&self) {
        let resume = lock(&self.publish_state.resume);
        // ORDERING: as in `open`.
        if is_closed(self.cursor.load(Ordering::Relaxed)) {
            self.cursor.store(CLOSED | resume.ticket, Ordering::Relaxed);
        }
    }

    /// Closes the ring for good, in a child process that `fork` has just made.
    ///
    /// Nothing here waits, and nothing that takes the lock is reached from now on: a thread may
    /// hold it that the child does not have.
    #[cfg(all(unix, not(uidring_loom)))]
    pub fn abandon(&self) {
        // ORDERING: the child has one thread.
        if self.publish_state.is_abandoned.swap(true, Ordering::Relaxed) {
            return;
        }
        // ORDERING: as above.
        let before = self.cursor.fetch_or(CLOSED, Ordering::Relaxed);
        let position = match self.publish_state.resume.try_lock() {
            Ok(resume) if is_closed(before) => resume.ticket,
            _ => before & !CLOSED,
        };
        // ORDERING: a statistic.
        self.publish_state.left_at.store(position, Ordering::Relaxed);
    }

    /// Whether the ring is abandoned: it is closed then, and is never opened. As it has no filler,
    /// and each claim in vain leads here, what claims have added to the cursor is taken back here.
    pub fn is_abandoned(&self) -> bool {
        // ORDERING: written before there is a second thread that could read it.
        let is_abandoned = self.publish_state.is_abandoned.load(Ordering::Relaxed);
        if is_abandoned {
            // ORDERING: as in `claim`; all that a ticket says is that the ring is closed.
            self.cursor.store(CLOSED, Ordering::Relaxed);
        }
        is_abandoned
    }

    /// Opens the ring where it was closed.
    pub fn open(&self) {
        let mut resume = lock(&self.publish_state.resume);
        // ORDERING: as in `claim`. While the ring is closed, and the lock held, others only add to
        // the cursor. A store would do in place of the swap, but loom could not tell which of those
        // adds come before it.
        if is_closed(self.cursor.load(Ordering::Relaxed)) {
            self.cursor.swap(resume.ticket, Ordering::Relaxed);
            let left = resume.given_back.drain(..).map(|tickets| tickets.end - tickets.start);
            self.lose(left.sum());
        }
    }

    /// Moves the cursor forward to `ticket`, if it is not as far, and says whether it was moved.
    /// For the filler.
    pub fn skip_to(&self, ticket: u64) -> bool {
        let mut resume = lock(&self.publish_state.resume);
        // ORDERING: as in `claim`. The tickets passed over are nobody's: a taker has one only by
        // its own add.
        let mut from = self.cursor.load(Ordering::Relaxed);
        if is_closed(from) {
            from = resume.ticket;
            resume.ticket = from.max(ticket);
        } else {
            while from < ticket {
                match self.cursor.compare_exchange_weak(
                    from,
                    ticket,
                    Ordering::Relaxed,
                    Ordering::Relaxed,
                ) {
                    Ok(_) => break,
                    Err(now) => from = now,
                }
            }
        }
        self.publish_state.skipped.add(ticket.saturating_sub(from));
        from < ticket
    }

    /// The next ticket, also of a closed ring.
    pub fn position(&self) -> u64 {
        // ORDERING: takers move on at any time; nothing is read on the strength of this.
        let cursor = self.cursor.load(Ordering::Relaxed);
        if !is_closed(cursor) {
            cursor
        } else if self.is_abandoned() {
            // ORDERING: as in `is_abandoned`.
            self.publish_state.left_at.load(Ordering::Relaxed)
        } else {
            lock(&self.publish_state.resume).ticket
        }
    }

    /// What may be published.
    pub fn window(&self) -> &SharedWindow {
        &self.publish_state.window
    }

    /// The base of `block` if the ring holds it.
    pub fn base(&self, block: u64) -> Option<NonZeroU64> {
        let (stamp, word, steady) = self.slot(block).look();
        if stamp == block << self.shift && steady {
            NonZeroU64::new(self.base_of(word))
        } else {
            None
        }
    }

    /// The base published last; 0 if there is none.
    pub fn newest(&self) -> u64 {
        loop {
            let tail = self.tail();
            // ORDERING: keeps the second look at the tail behind it.
            let word = self.slot(tail - 1).word.load(Ordering::Acquire);
            if self.tail() == tail {
                return self.base_of(word);
            }
        }
    }

    /// Moves the front to `ticket`, whose block was found to have `base`, and over as many of the
    /// next `blocks`, which are published, as follow without a gap; unless the front is there or
    /// further on. Says whether it did so: then the caller looks after the ring.
    pub fn advance(&self, ticket: u64, base: NonZeroU64, blocks: u64) -> bool {
        let Some((start, front)) = self.front.look_to_replace() else { return false };
        if ticket < front.end {
            return false;
        }
        let block = ticket >> self.shift;
        let last = self.publish_state.window.last();
        let is_in_a_row = |blocks: &u64| {
            let (stamp, word, steady) = self.slot(block + blocks).look();
            let is_beyond = self.codec.is_beyond(self.base_of(word), last);
            stamp == (block + blocks) << self.shift
                && steady
                && word & self.max_offset >= *blocks
                && !is_beyond
        };
        // As a rule all are, and one look says so.
        let blocks = 1 + (1..blocks).rev().find(is_in_a_row).unwrap_or(0);
        let origin = base.get().wrapping_sub(self.seconds_to(ticket));
        self.front.replace(
            start,
            ticket,
            ReadyRange { end: (block + blocks) << self.shift, origin },
        )
    }

    /// Draws the end of the front back to that of the window, where the clock has gone back. For
    /// the filler.
    pub fn draw_back(&self) {
        let Some((start, ReadyRange { end, origin })) = self.front.look_to_replace() else {
            return;
        };
        let newest = self.base_in(origin, end.wrapping_sub(1));
        let last = self.publish_state.window.last();
        if start < end && self.codec.is_beyond(newest, last) {
            let beyond = (newest - last) / self.codec.stride();
            let end = end.saturating_sub(beyond << self.shift).max(start);
            self.front.replace(start, start, ReadyRange { end, origin });
        }
    }

    /// The base of `block`, in which the caller holds a ticket. Publishes it and what is missing
    /// before it; `published` counts the blocks for which this call did so.
    pub fn block(&self, block: u64, published: &Counter) -> Block {
        loop {
            let tail = self.tail();
            if block < tail {
                let Some(base) = self.base(block) else { return Block::Overwritten };
                // The clock may have gone back since it was published.
                if self.codec.is_beyond(base.get(), self.publish_state.window.last()) {
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

    /// Publishes one block if the ring has room for it: if the block that it overwrites comes
    /// before `current`, and so has been claimed to its end. The caller has found the cursor in
    /// `current`, or has a ticket in it. False when the ring is full or the window ends.
    pub fn refill(&self, current: u64, published: &Counter) -> bool {
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

    /// Counts `count` tickets that nobody will use.
    pub fn lose(&self, count: u64) {
        self.publish_state.lost.add(count);
    }

    /// Tickets dropped so far.
    pub fn lost(&self) -> u64 {
        self.publish_state.lost.get()
    }

    /// Tickets passed over so far.
    pub fn skipped(&self) -> u64 {
        self.publish_state.skipped.get()
    }

    /// The block of the next ticket.
    pub fn cursor_block(&self) -> u64 {
        self.position() >> self.shift
    }

    /// How many blocks are published from `block` on.
    pub fn blocks_from(&self, block: u64) -> u64 {
        // ORDERING: a guess at how full the ring is; nothing is read on the strength of it.
        self.publish_state.tail.load(Ordering::Relaxed).saturating_sub(block)
    }

    /// How many published UIDs nobody has claimed.
    pub fn available(&self) -> u64 {
        // ORDERING: a statistic.
        let end = self.publish_state.tail.load(Ordering::Relaxed) << self.shift;
        end.saturating_sub(self.position())
    }

    /// The next block to publish.
    pub fn tail(&self) -> u64 {
        // ORDERING: pairs with step 5: who sees a block behind the tail sees its stamp, or a later
        // one.
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

    /// The largest place that a ticket can have in its block.
    #[inline]
    pub fn max_offset(&self) -> u64 {
        self.max_offset
    }

    #[inline]
    fn slot(&self, block: u64) -> &Slot {
        // The compiler sees that the index is in bounds. Cutting a block number to `usize` keeps
        // the bits that matter.
        #[allow(clippy::cast_possible_truncation)]
        &self.slots[block as usize & (self.slots.len() - 1)]
    }

    /// The base in a slot's word.
    fn base_of(&self, word: u64) -> u64 {
        word & !LAP & !self.max_offset
    }

    /// `LAP` on odd laps.
    fn lap(&self, block: u64) -> u64 {
        block >> self.slot_bits << 63
    }

    /// Sees to it that `block`, which was at the tail, is published. `Some(true)` if its base is
    /// this caller's choice, `None` if the window ends before it.
    fn publish(&self, block: u64) -> Option<bool> {
        let slot = self.slot(block);
        let done = block << self.shift;
        let busy = done | BUSY;
        let free = done - ((self.slots.len() as u64) << self.shift);
        let mut chosen = false;

        // ORDERING: pairs with step 2 and 4 of another helper: what it saw before, this one sees.
        let mut stamp = slot.stamp.load(Ordering::Acquire);
        if stamp == free {
            // Asked first, so that a window that has ended leaves the slot as it is.
            let Some(_) = self.candidate(block) else { return self.beyond(block) };
            // ORDERING: Acquire, to see what another helper has done if it is ahead; Release, for a
            // helper that goes on from here. Step 2 comes before step 3 for every reader, as step 3
            // is a Release.
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
            // ORDERING: keeps the check of the stamp behind this load.
            let word = slot.word.load(Ordering::Acquire);
            // `busy` before and after means that the word is the one of `block - n` or the one of
            // `block`, and the lap says which. ORDERING: Acquire, to see what the helper that made
            // it busy has seen.
            if slot.stamp.load(Ordering::Acquire) == busy {
                if word & LAP != self.lap(block) {
                    let Some(candidate) = self.candidate(block) else { return self.beyond(block) };
                    // ORDERING: Release, so that who reads this base sees the busy stamp before it.
                    // A failure means that another helper's choice stands.
                    let swap = slot.word.compare_exchange(
                        word,
                        candidate | self.lap(block),
                        Ordering::AcqRel,
                        Ordering::Acquire,
                    );
                    chosen = swap.is_ok();
                }
                // ORDERING: Release, for `Slot::look`: who sees this stamp sees the word.
                let _ =
                    slot.stamp.compare_exchange(busy, done, Ordering::AcqRel, Ordering::Acquire);
            }
        }
        // ORDERING: Release, so that who sees the block behind the tail sees its stamp.
        let _ = self.publish_state.tail.compare_exchange(
            block,
            block + 1,
            Ordering::AcqRel,
            Ordering::Acquire,
        );
        Some(chosen)
    }

    /// `None`, what `publish` says of a block beyond the window, unless the block has been
    /// published meanwhile.
    fn beyond(&self, block: u64) -> Option<bool> {
        (self.tail() != block).then_some(false)
    }

    /// The word that `block` should have but for its lap, or `None` if the window ends before it.
    /// Where `block` has been published meanwhile the answer means nothing: the swap for which it
    /// is meant fails, and `beyond` looks again.
    fn candidate(&self, block: u64) -> Option<u64> {
        let word = self.slot(block - 1).word.load(Ordering::Acquire);
        let previous = self.base_of(word);
        // ORDERING: `previous` was chosen by someone who had seen its lease, so the window is of
        // that lease or a later one.
        let base = self.codec.next(previous, self.publish_state.window.get())?;
        let is_gap = previous == 0 || base != previous + self.codec.stride();
        let before = if is_gap { 0 } else { (word & self.max_offset) + 1 };
        Some(base | before.min(self.max_offset))
    }
}

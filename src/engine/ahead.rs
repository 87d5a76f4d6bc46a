//! Blocks published ahead of the takers, at ticks from a window around the clock.

use std::num::NonZeroU64;
use std::time::Duration;

use crate::engine::timing::Timing;
use crate::engine::waiters::{LONGEST_WAIT, SHORTEST_WAIT};
use crate::engine::{Engine, TakeError};
use crate::registry::Lease;
use crate::ring::Block;
use crate::ring::window::Window;
use crate::sync::{AtomicU64, Ordering};
use crate::uid::Uid;

/// The rule that decides whether takers or the filler refill the ring.
#[derive(Debug)]
pub struct Ahead {
    /// Up to this block, takers refill the ring themselves without waking the filler.
    undisturbed_until: AtomicU64,
    /// Takers wake the filler when at most this many blocks remain.
    refill_mark: u64,
    /// The longest ready range, in blocks: at most the part of the ring above the refill mark, and
    /// at most the part below it, so that takers compare the ring with the mark before it is empty.
    longest_range: u64,
}

/// The longest ready range of any ring, in blocks. A taker that refills the ring publishes as many
/// blocks, which takes microseconds.
const LONGEST_RANGE: u64 = 64;

impl Ahead {
    pub fn new(slots: u64, refill_mark: u64) -> Ahead {
        Ahead {
            undisturbed_until: AtomicU64::new(0),
            refill_mark,
            longest_range: refill_mark.min(slots - refill_mark).clamp(1, LONGEST_RANGE),
        }
    }

    /// Lets takers refill the next `blocks` blocks without waking the filler. Called by the filler.
    pub fn leave_to_takers(&self, engine: &Engine, blocks: u64) {
        let until = if blocks > 0 { engine.ring.tail() + blocks } else { 0 };
        // ORDERING: a hint.
        self.undisturbed_until.store(until, Ordering::Relaxed);
    }

    /// The tick of `ticket`: that of its block, or, if the block is not published yet, the one that
    /// it will have.
    fn tick_of_ticket(engine: &Engine, ticket: u64) -> u64 {
        let block = ticket >> engine.ring.shift();
        engine.tick_of_block(block).unwrap_or_else(|| {
            // Read in this order, a block published meanwhile makes the result too early, never too
            // late.
            let following =
                engine.ring.window().get().following_base(engine.ring.newest(), &engine.codec);
            engine.codec.tick_of(following) + block.saturating_sub(engine.ring.tail())
        })
    }

    /// Extends the window as far as the clock allows, if takers may read the clock.
    fn extend_window(engine: &Engine, now_ms: i64) {
        if engine.takers_read_clock
            && let Some(last) = engine.limits.last_tick(now_ms)
        {
            engine.ring.window().extend(last, &engine.codec);
        }
    }

    /// Whether `base` belongs to a previous worker and lies beyond the limit. The window does not
    /// cover previous workers.
    fn is_far_of_previous_worker(engine: &Engine, base: u64, now_ms: i64) -> bool {
        engine.codec.worker_of(base) != engine.worker()
            && !engine.limits.is_due(engine.codec.tick_of(base), now_ms)
    }

    /// Repeats `attempt` once, with an extended window, if the block lies beyond the window: the
    /// filler may have shortened the window by an older reading of the clock. Fails with what the
    /// clock shows if the block still lies beyond it.
    fn retry_with_clock(engine: &Engine, attempt: impl Fn() -> Block) -> Result<Block, i64> {
        match attempt() {
            Block::Beyond => {}
            found => return Ok(found),
        }
        let now_ms = engine.trusted_now_ms();
        Self::extend_window(engine, now_ms);
        match attempt() {
            Block::Beyond => Err(now_ms),
            found => Ok(found),
        }
    }
}

impl Timing for Ahead {
    fn start(&self, engine: &Engine, _: &Lease) {
        engine.refill();
    }

    fn window(&self, engine: &Engine, lease: &Lease, now_ms: i64) -> Window {
        engine.limits.window(&engine.codec, now_ms, lease)
    }

    /// The first tick of the window moves on only if the tick after the newest one is stale. So no
    /// tick is skipped for takers that wait for each one and come a little late.
    fn move_window(&self, engine: &Engine, lease: &Lease, now_ms: i64) {
        let Engine { ring, codec, limits, .. } = engine;
        let mut window = self.window(engine, lease, now_ms);
        let following = ring.window().get().following_base(ring.newest(), codec);
        if !limits.is_stale(codec.tick_of(following), now_ms) {
            // This is not before the lease: the tick that follows belongs to the lease in use.
            window.first_base = window.first_base.min(following);
        }
        engine.set_window(window, lease);
        if codec.is_beyond(ring.newest(), window.last_base) {
            ring.draw_back();
        }
    }

    fn base_of_block(&self, engine: &Engine, block: u64) -> Option<NonZeroU64> {
        engine.ring.published_base(block)
    }

    fn newest(&self, engine: &Engine) -> u64 {
        engine.ring.newest()
    }

    fn oldest_and_newest(&self, engine: &Engine, _: i64) -> (u64, u64) {
        let newest = engine.newest_tick();
        (engine.tick_of_block(engine.ring.cursor_block()).unwrap_or(newest), newest)
    }

    fn next_tick(&self, engine: &Engine) -> u64 {
        let unpublished = engine.ring.tail() << engine.ring.shift();
        Self::tick_of_ticket(engine, engine.ring.cursor.position().min(unpublished))
    }

    fn awaited_tick(&self, engine: &Engine, ticket: u64, _: i64) -> u64 {
        Self::tick_of_ticket(engine, ticket)
    }

    fn at_hand(&self, engine: &Engine) -> u64 {
        if engine.ring.cursor.is_closed() { 0 } else { engine.ring.available() }
    }

    fn available(&self, engine: &Engine) -> u64 {
        engine.ring.available()
    }

    fn skipped(&self, engine: &Engine) -> u64 {
        engine.ring.cursor.skipped()
    }

    #[inline]
    fn take_at_once(&self, _: &Engine, _: u64) -> Option<Uid> {
        None
    }

    /// Advances the front to the block of `ticket`, and then refills the ring if only the refill
    /// mark is left.
    fn resolve(&self, engine: &Engine, ticket: u64) -> Block {
        let Engine { ring, counters, .. } = engine;
        let block = ticket >> ring.shift();
        let found = ring.publish_up_to(block, &counters.refilled_inline);
        let base = match found {
            Block::Published(base) => base,
            Block::Overwritten => {
                // The cursor may have been given back to it. Then nobody claims the rest of it.
                ring.cursor.advance_to((block + 1) << ring.shift(), |_| 0);
                return found;
            }
            Block::Beyond => return found,
        };
        let left = ring.blocks_from(block);
        // The last block is a range of its own, so that the ring is refilled before it is empty.
        if ring.advance(ticket, base, self.longest_range.min(left.saturating_sub(1)))
            && left <= self.refill_mark
        {
            // ORDERING: a hint.
            let is_left_to_takers = block < self.undisturbed_until.load(Ordering::Relaxed);
            // One block is left, so the filler has been woken but has not run yet.
            if is_left_to_takers || left <= 1 {
                let current = engine.first_in_use(block);
                // It stops where another thread refills the ring as well: at each step, each of
                // the two would take the slot's cache line from the other.
                let publish = || ring.publish_if_room(current, &counters.refilled_inline);
                (0..self.longest_range).all(|_| publish() == Some(true));
            }
            if !is_left_to_takers {
                engine.signal.wake_filler();
            }
        }
        found
    }

    fn wait_for_block(&self, engine: &Engine, ticket: u64) -> Result<Block, TakeError> {
        engine.wait_until(Some(ticket), |now_ms| {
            Self::extend_window(engine, now_ms);
            match self.resolve(engine, ticket) {
                Block::Beyond => None,
                // The filler has dropped it in favour of another worker's blocks.
                Block::Published(base)
                    if Self::is_far_of_previous_worker(engine, base.get(), now_ms) =>
                {
                    Some(Block::Overwritten)
                }
                found => Some(found),
            }
        })
    }

    fn try_take(&self, engine: &Engine) -> Result<Uid, TakeError> {
        let Engine { ring, counters, .. } = engine;
        let mut published = None;
        loop {
            match ring.try_claim(published) {
                Ok((ticket, Some(base))) => return Ok(ring.uid(ticket, base)),
                Ok((ticket, None)) => {
                    match Self::retry_with_clock(engine, || self.resolve(engine, ticket)) {
                        Ok(Block::Published(base)) => return Ok(ring.uid(ticket, base)),
                        Ok(_) => ring.cursor.lose(1),
                        // The clock has just gone back.
                        Err(now_ms) => {
                            ring.cursor.give_back(ticket..ticket + 1);
                            published = None;
                            engine.report_shortage_unless_due(now_ms)?;
                        }
                    }
                }
                Err(Some(block)) => {
                    match Self::retry_with_clock(engine, || {
                        ring.publish_up_to(block, &counters.refilled_inline)
                    }) {
                        Ok(_) => published = Some(block),
                        Err(now_ms) => engine.report_shortage_unless_due(now_ms)?,
                    }
                }
                Err(None) => engine.open_or_fail()?,
            }
        }
    }

    fn drop_tickets(&self, engine: &Engine, count: u64) {
        engine.ring.cursor.lose(count);
    }

    fn is_cursor_due(&self, engine: &Engine, now_ms: i64) -> bool {
        Self::extend_window(engine, now_ms);
        let block = engine.ring.cursor_block();
        match engine.ring.publish_up_to(block, &engine.counters.refilled_inline) {
            Block::Published(base) => {
                engine.limits.is_due(engine.codec.tick_of(base.get()), now_ms)
            }
            Block::Overwritten => true,
            Block::Beyond => false,
        }
    }

    /// Always true: only the filler can provide UIDs beyond the limit.
    fn is_filler_needed(&self, _: &Engine, _: u64, _: i64) -> bool {
        true
    }

    fn is_allowed_by_takers(&self, engine: &Engine, _: u64, _: i64) -> bool {
        engine.takers_read_clock
    }

    fn taker_pause(&self, _: &Engine, _: u64, error: TakeError, _: i64) -> Duration {
        error.retry_in().unwrap_or(LONGEST_WAIT).clamp(SHORTEST_WAIT, LONGEST_WAIT)
    }

    #[inline]
    fn longest_held_claim(&self, _: &Engine) -> u64 {
        u64::MAX
    }

    #[inline]
    fn longest_held_span(&self, _: &Engine) -> u64 {
        u64::MAX
    }

    /// The tickets below this have a block.
    fn wake_end(&self, engine: &Engine) -> u64 {
        engine.ring.tail() << engine.ring.shift()
    }

    #[cfg(feature = "async")]
    fn first_task_waits(&self, _: &Engine) {}
}

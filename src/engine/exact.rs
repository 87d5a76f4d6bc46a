//! Exact time: the tick of each UID is the clock's at the take.
//!
//! No block is published ahead. The number of a block is its tick, so a ticket says by itself which
//! UID it stands for, and the ring's front never covers it: each take comes to the slow path and
//! reads the clock.
//!
//! ```text
//!                       the clock's tick
//!                              │
//!     ticket of a tick that is │ past: dropped; the cursor moves to the clock's tick
//!                              │ present: its UID is the taker's
//!                              │ to come: the tick is full; wait with the ticket, or fail
//! ```
//!
//! This says how long a take waits; `take` and, for tasks, `turn` do the waiting.
//!
//! The cursor never goes back, so no ticket is claimed twice, whatever the clock shows. And a
//! ticket's UID belongs to the lease in use, whose window is read after the claim: it is reserved.

use std::cell::Cell;
use std::num::NonZeroU64;
use std::ops::RangeInclusive;
use std::time::{Duration, SystemTime};

use crate::engine::timing::Timing;
use crate::engine::waiters::LONGEST_WAIT;
use crate::engine::{Engine, TakeError};
use crate::registry::Lease;
use crate::ring::window::Window;
use crate::ring::{Block, Ring};
use crate::uid::Uid;

/// The UIDs of a busy service have all remainders of `uid % SHARDS` in turn. A power of two, as is
/// the length of a block.
pub const SHARDS: u64 = 64;

/// The shortest sleep until a tick begins. Timers are about as exact.
const SHORTEST_SLEEP: Duration = Duration::from_micros(20);

/// A tick that this thread has seen the clock in, and when it begins and ends. Comparing two times
/// costs less than turning one into a number.
#[derive(Clone, Copy)]
struct Present {
    /// How the ticks are numbered: from when, and how long each is.
    epoch_ms: i64,
    tick_ms: u16,
    tick: u64,
    begin: SystemTime,
    end: SystemTime,
}

thread_local! {
    static PRESENT: Cell<Present> = const {
        Cell::new(Present {
            epoch_ms: 0,
            tick_ms: 0,
            tick: 0,
            begin: SystemTime::UNIX_EPOCH,
            end: SystemTime::UNIX_EPOCH,
        })
    };
}

/// The kind of generator whose UIDs have exact time.
#[derive(Debug)]
pub struct Exact;

impl Engine {
    /// Whether the clock shows a time in `tick`.
    #[inline]
    fn is_clock_in(&self, tick: u64) -> bool {
        let now = self.clock.now();
        let present = PRESENT.with(Cell::get);
        if present.tick == tick
            && present.begin <= now
            && now < present.end
            && (present.epoch_ms, present.tick_ms) == self.limits.numbering()
            && self.flags.refused_jump_ms() == 0
        {
            return true;
        }
        self.is_clock_in_by_number(tick, now)
    }

    #[cold]
    #[inline(never)]
    fn is_clock_in_by_number(&self, tick: u64, now: SystemTime) -> bool {
        let jump_ms = self.flags.refused_jump_ms();
        let now_ms = self.limits.ms_at(now).saturating_sub_unsigned(jump_ms);
        let is_in = self.limits.is_in(tick, now_ms);
        if is_in && jump_ms == 0 && tick < self.limits.final_tick {
            let [begin, end] = [tick, tick + 1].map(|tick| self.limits.layout.begin_of(tick));
            let (epoch_ms, tick_ms) = self.limits.numbering();
            PRESENT.set(Present { epoch_ms, tick_ms, tick, begin, end });
        }
        is_in
    }

    /// Records that `block` is ahead of the clock, if it is, so that operators see it.
    fn note_ahead(&self, block: u64, now_ms: i64) {
        if block > self.limits.clock_tick(now_ms) && self.flags.set_ahead() {
            self.signal.wake_filler();
        }
    }

    /// The state of the tick `block`: `Published` if it may be handed out, `Overwritten` if it is
    /// past, `Beyond` if it is to come or not reserved. A caller that has waited since the tick
    /// `since` may also use one that has passed meanwhile.
    fn state_at(&self, block: u64, since: u64, now_ms: i64) -> Block {
        let window = self.ring.window().get();
        let Some(present) = self.present_tick(window, now_ms) else { return Block::Beyond };
        let (first, last) = self.ticks_of(window).into_inner();
        if block < present.min(since.max(first)) {
            return Block::Overwritten;
        }
        if block > last || !self.limits.is_due(block, now_ms) {
            return Block::Beyond;
        }
        let base = NonZeroU64::new(self.codec.base_beside(block, window.first_base));
        base.map_or(Block::Overwritten, Block::Published)
    }

    /// The clock's tick, or the first of the window if that is later. `None` if the window ends
    /// before.
    fn present_tick(&self, window: Window, now_ms: i64) -> Option<u64> {
        let (first, last) = self.ticks_of(window).into_inner();
        let present = self.limits.clock_tick(now_ms).max(first);
        (present <= last).then_some(present)
    }

    fn ticks_of(&self, window: Window) -> RangeInclusive<u64> {
        self.codec.tick_of(window.first_base)..=self.codec.tick_of(window.last_base)
    }

    /// Moves the cursor to the present tick if it is still in an earlier one. The caller has
    /// dropped the last `dropped` tickets before the cursor.
    ///
    /// The low bits of UIDs stay even: the cursor goes on at the remainder that it has come to or,
    /// if no UID was taken in the tick before, at a place that depends on the tick, in the first
    /// quarter of the block or in the 64 UIDs after that. A tick whose predecessor is full begins
    /// at its first UID, so nothing is left out at the limit.
    fn advance_to_present(&self, dropped: u64, now_ms: i64) {
        let Some(present) = self.present_tick(self.ring.window().get(), now_ms) else { return };
        self.ring.cursor.advance_to(present << self.ring.shift(), |cursor| {
            let last_used = cursor.saturating_sub(dropped);
            if last_used >> self.ring.shift() == present - 1 {
                last_used & (SHARDS - 1) & self.ring.max_offset()
            } else {
                fresh_offset(&self.ring, present)
            }
        });
    }

    /// The state of the tick of `ticket`, which the caller holds. If it is past, moves the cursor,
    /// and the caller drops the ticket.
    fn resolve_at(&self, ticket: u64, since: u64, now_ms: i64) -> Block {
        let block = ticket >> self.ring.shift();
        let found = self.state_at(block, since, now_ms);
        match found {
            Block::Published(_) => self.note_ahead(block, now_ms),
            Block::Overwritten => self.advance_to_present(1, now_ms),
            Block::Beyond => {}
        }
        found
    }

    /// How long the filler may sleep: no longer than `pause`, and while tasks wait, until a tick
    /// may be used that has UIDs for them. Threads wake by themselves.
    #[cfg_attr(not(feature = "async"), allow(clippy::unused_self, unused_variables))]
    pub fn pause_for_tasks(&self, pause: Duration, now_ms: i64) -> Duration {
        #[cfg(feature = "async")]
        if !self.waiters.wait_queue.is_empty()
            && !self.is_past_window(self.ring.cursor.position(), now_ms)
            && let Some(last) = self.limits.last_tick(now_ms)
            && last < self.limits.final_tick
        {
            // The UIDs that may be used now are for those who have been called.
            let tick = self.ring.cursor_block().max(last + 1);
            return pause.min(self.sleep_until(tick << self.ring.shift()));
        }
        pause
    }

    /// How long it takes until the tick of `ticket` begins.
    fn sleep_until(&self, ticket: u64) -> Duration {
        let from = self.limits.allowed_from(ticket >> self.ring.shift());
        let (now, jump_ms) = (self.clock.now(), self.flags.refused_jump_ms());
        let now = now.checked_sub(Duration::from_millis(jump_ms)).unwrap_or(now);
        from.duration_since(now).unwrap_or_default().max(SHORTEST_SLEEP)
    }

    /// Whether the ticket, or the clock, is past the ticks that the filler has allowed.
    pub fn is_past_window(&self, ticket: u64, now_ms: i64) -> bool {
        let window = self.ring.window().get();
        self.present_tick(window, now_ms).is_none()
            || ticket >> self.ring.shift() > *self.ticks_of(window).end()
    }
}

/// No block is published.
impl Timing for Exact {
    fn start(&self, engine: &Engine, lease: &Lease) {
        self.move_window(engine, lease, engine.now_ms());
    }

    /// All ticks of the lease, but none that the clock could show only after a jump that is not
    /// followed.
    fn window(&self, engine: &Engine, lease: &Lease, now_ms: i64) -> Window {
        let last = match engine.limits.latest_tick(now_ms) {
            Some(latest) => latest.min(lease.last),
            None => lease.last,
        };
        // No UID has base 0.
        let first = lease.first.max(u64::from(lease.worker == 0));
        let [first_base, last_base, reserved_base] =
            [first, last, lease.last].map(|tick| engine.codec.base_at(tick, lease.worker));
        Window { first_base, last_base, reserved_base }
    }

    fn move_window(&self, engine: &Engine, lease: &Lease, now_ms: i64) {
        engine.set_window(self.window(engine, lease, now_ms), lease);
    }

    fn base_of_block(&self, engine: &Engine, tick: u64) -> Option<NonZeroU64> {
        let window = engine.ring.window().get();
        let reserved = engine.codec.tick_of(window.reserved_base);
        let first = engine.codec.tick_of(window.first_base);
        let base = engine.codec.base_beside(tick.min(reserved), window.first_base);
        NonZeroU64::new(base).filter(|_| (first..=reserved).contains(&tick))
    }

    /// The base of the tick that the cursor is in, or the nearest one that is reserved.
    fn newest(&self, engine: &Engine) -> u64 {
        let window = engine.ring.window().get();
        let reserved = engine.codec.tick_of(window.reserved_base);
        let tick = engine.ring.cursor_block().min(reserved);
        engine.codec.base_beside(tick, window.first_base).max(window.first_base)
    }

    /// Waiting takers hold tickets of ticks to come, but none of these has been handed out.
    fn oldest_and_newest(&self, engine: &Engine, now_ms: i64) -> (u64, u64) {
        let last = engine.limits.last_tick(now_ms).unwrap_or(0);
        let last = last.max(engine.limits.clock_tick(now_ms));
        let tick = self.awaited_tick(engine, engine.ring.cursor.position(), now_ms).min(last);
        (tick, tick)
    }

    fn next_tick(&self, engine: &Engine) -> u64 {
        self.awaited_tick(engine, engine.ring.cursor.position(), engine.trusted_now_ms())
    }

    fn awaited_tick(&self, engine: &Engine, ticket: u64, now_ms: i64) -> u64 {
        (ticket >> engine.ring.shift()).max(engine.limits.clock_tick(now_ms))
    }

    fn at_hand(&self, engine: &Engine) -> u64 {
        let position = engine.ring.cursor.position();
        let length = engine.ring.max_offset() + 1;
        let now_ms = engine.trusted_now_ms();
        match engine.state_at(position >> engine.ring.shift(), u64::MAX, now_ms) {
            Block::Published(_) => length - (position & engine.ring.max_offset()),
            Block::Overwritten => length,
            Block::Beyond => 0,
        }
    }

    fn available(&self, engine: &Engine) -> u64 {
        self.at_hand(engine)
    }

    fn skipped(&self, _: &Engine) -> u64 {
        0
    }

    /// Completes a take whose ticket is of the clock's tick.
    #[inline]
    fn take_at_once(&self, engine: &Engine, ticket: u64) -> Option<Uid> {
        let tick = ticket >> engine.ring.shift();
        if !engine.is_clock_in(tick) {
            return None;
        }
        // No tick of the layout is as late as the ticket of a closed ring.
        if tick > engine.limits.final_tick {
            return None;
        }
        let window = engine.ring.window().get();
        let base = engine.codec.base_beside(tick, window.first_base);
        let is_in_window = (window.first_base..=window.last_base).contains(&base);
        let base = NonZeroU64::new(base).filter(|_| is_in_window)?;
        Some(engine.ring.uid(ticket, base))
    }

    /// If the tick of `ticket` is past, moves the cursor, and the caller drops the ticket.
    fn resolve(&self, engine: &Engine, ticket: u64) -> Block {
        engine.resolve_at(ticket, u64::MAX, engine.trusted_now_ms())
    }

    fn wait_for_block(&self, engine: &Engine, ticket: u64) -> Result<Block, TakeError> {
        let since = engine.limits.clock_tick(engine.trusted_now_ms());
        engine.wait_until(Some(ticket), |now_ms| match engine.resolve_at(ticket, since, now_ms) {
            Block::Beyond => None,
            found => Some(found),
        })
    }

    fn try_take(&self, engine: &Engine) -> Result<Uid, TakeError> {
        let ring = &engine.ring;
        let mut known = None;
        loop {
            let block = match (ring.try_claim(known.map(|(block, _)| block)), known) {
                // The UID's tick was the clock's a moment ago, and belongs to the lease.
                (Ok((ticket, _)), Some((_, base))) => return Ok(ring.uid(ticket, base)),
                (Err(Some(block)), _) => block,
                (Err(None), _) => {
                    engine.open_or_fail()?;
                    continue;
                }
                // Not claimed: only a known block is.
                (Ok(_), None) => continue,
            };
            let now_ms = engine.trusted_now_ms();
            match engine.state_at(block, u64::MAX, now_ms) {
                Block::Published(base) => {
                    engine.note_ahead(block, now_ms);
                    known = Some((block, base));
                }
                Block::Overwritten => engine.advance_to_present(0, now_ms),
                Block::Beyond => {
                    return Err(engine.report_shortage(block << ring.shift(), now_ms));
                }
            }
        }
    }

    fn drop_tickets(&self, engine: &Engine, count: u64) {
        engine.ring.cursor.skip(count);
    }

    fn is_cursor_due(&self, engine: &Engine, now_ms: i64) -> bool {
        engine.state_at(engine.ring.cursor_block(), u64::MAX, now_ms) != Block::Beyond
    }

    /// For further ticks of the lease, or because the clock has gone back, which operators should
    /// know.
    fn is_filler_needed(&self, engine: &Engine, ticket: u64, now_ms: i64) -> bool {
        let wait = engine.limits.until_allowed(ticket >> engine.ring.shift(), now_ms);
        engine.is_past_window(ticket, now_ms) || wait > 2 * engine.limits.layout.tick()
    }

    /// Past the window, the filler may have to allow the tick.
    fn is_allowed_by_takers(&self, engine: &Engine, ticket: u64, now_ms: i64) -> bool {
        engine.takers_read_clock && !engine.is_past_window(ticket, now_ms)
    }

    /// If only the filler can provide the UID, the filler wakes the taker.
    fn taker_pause(&self, engine: &Engine, ticket: u64, _: TakeError, now_ms: i64) -> Duration {
        let is_past = engine.is_past_window(ticket, now_ms);
        if is_past { LONGEST_WAIT } else { engine.sleep_until(ticket).min(LONGEST_WAIT) }
    }

    /// Short, because the rest of a claim is lost when its tick ends.
    #[inline]
    fn longest_held_claim(&self, engine: &Engine) -> u64 {
        (engine.ring.max_offset() + 1) / 16
    }

    /// Each UID has the clock's tick when it is handed out.
    #[inline]
    fn longest_held_span(&self, _: &Engine) -> u64 {
        1
    }

    /// Nothing is published, and the end of the window decides.
    fn wake_end(&self, _: &Engine) -> u64 {
        u64::MAX
    }

    /// The filler then wakes when the next tick begins.
    #[cfg(feature = "async")]
    fn first_task_waits(&self, engine: &Engine) {
        engine.signal.wake_filler();
    }
}

/// The ticket with which the ticks of `lease` begin.
pub fn first_ticket(ring: &Ring, lease: &Lease) -> u64 {
    (lease.first << ring.shift()) + fresh_offset(ring, lease.first)
}

/// Where `tick` begins if no UID was taken in the one before: in the first quarter of its UIDs, or
/// in the 64 after that. The sum of two numbers is as even modulo 1000 as the one, and modulo
/// `SHARDS` as the other.
fn fresh_offset(ring: &Ring, tick: u64) -> u64 {
    let most = ((ring.max_offset() + 1) / 4).clamp(1, 1000);
    let mut random = fastrand::Rng::with_seed(tick);
    (random.u64(0..most) + random.u64(0..SHARDS)) & ring.max_offset()
}

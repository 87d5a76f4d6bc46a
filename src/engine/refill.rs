//! What the filler does to the ring. The engine owns this because it alone knows blocks, windows
//! and takers; the filler decides when it is done.

use std::time::Duration;

use crate::engine::Engine;
use crate::engine::by_kind;
use crate::engine::limits::duration_ms;
use crate::engine::timing::Timing as _;
use crate::engine::waiters::SHORTEST_WAIT;

impl Engine {
    /// Publishes as many blocks as the ring has room for. Returns whether there were any. Called by
    /// the filler.
    pub fn refill(&self) -> bool {
        // The cursor is read only once, because each read takes its cache line from the takers.
        let current = self.first_in_use(self.ring.cursor_block());
        let mut is_any = false;
        while self.ring.publish_if_room(current, &self.counters.refilled_by_filler).is_some() {
            is_any = true;
        }
        is_any
    }

    /// The block `current`, or an earlier one whose tickets waiting threads hold. A ring that is
    /// refilled from there on keeps their blocks until they have been woken.
    pub fn first_in_use(&self, current: u64) -> u64 {
        current.min(self.waiters.first_ticket() >> self.ring.shift())
    }

    /// Moves the cursor forward to `offset` in `block`, unless it is there already. Returns whether
    /// it moved.
    pub fn skip_to(&self, block: u64, offset: u64) -> bool {
        self.ring.cursor.skip_to((block << self.ring.shift()) + offset)
    }

    /// The tick of the ticket claimed last, or, if its block is not published, the newest tick. No
    /// claim has a UID of a later tick.
    pub fn claimed_tick(&self) -> u64 {
        let block = self.ring.cursor.position().saturating_sub(1) >> self.ring.shift();
        self.tick_of_block(block).unwrap_or_else(|| self.newest_tick())
    }

    /// Whether the window ends before the next tick to publish.
    pub fn is_window_used_up(&self) -> bool {
        self.ring.window().get().next_base(self.ring.newest(), &self.codec).is_none()
    }

    /// How long the filler may sleep until the next maintenance, unless it is woken.
    pub fn maintenance_pause(&self, now_ms: i64) -> Duration {
        let pause = duration_ms(self.limits.next_maintenance_ms(now_ms) - now_ms);
        if self.at_hand() > 0 || self.waiters.is_empty() {
            return pause;
        }
        // A taker waits for this tick or for a later one.
        let due = by_kind!(self, next_tick);
        let reserved = self.codec.tick_of(self.ring.window().get().reserved_base);
        if due > reserved.min(self.limits.final_tick) {
            // It depends on the registry's answer, not on time.
            return pause;
        }
        pause.min(self.limits.until_allowed(due, now_ms)).max(SHORTEST_WAIT)
    }
}

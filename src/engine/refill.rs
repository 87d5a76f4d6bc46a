//! The filler's operations on the ring: moving the window, publishing blocks and skipping stale
//! ones.

use std::time::Duration;

use crate::engine::Engine;
use crate::engine::limits::duration_ms;
use crate::engine::take::SHORTEST_WAIT;
use crate::registry::Lease;
use crate::sync::Ordering;

impl Engine {
    /// Publishes as many blocks as the ring has room for. Returns whether there were any. Called by
    /// the filler.
    pub fn refill(&self) -> bool {
        // The cursor is read only once, because each read takes its cache line from the takers.
        let current = self.ring.cursor_block();
        let mut is_any = false;
        while self.ring.publish_if_room(current, &self.counters.refilled_by_filler) {
            is_any = true;
        }
        is_any
    }

    /// Sets the window to what the lease in use and the clock allow. Called by the filler.
    ///
    /// The first tick of the window moves on only if the tick after the newest one is stale. So no
    /// tick is skipped for takers that wait for each one and come a little late.
    pub fn move_window(&self, lease: &Lease, now_ms: i64) {
        if self.is_exact {
            return self.ring.window().set(self.exact_window(lease, now_ms));
        }
        let mut window = self.limits.window(&self.codec, now_ms, lease);
        let following = self.codec.following(self.ring.newest(), self.ring.window().get());
        if !self.limits.is_stale(self.codec.tick_of(following), now_ms) {
            // This is not before the lease: the tick that follows belongs to the lease in use.
            window.first_base = window.first_base.min(following);
        }
        self.ring.window().set(window);
        if self.codec.is_beyond(self.ring.newest(), window.last_base) {
            self.ring.draw_back();
        }
    }

    /// Continues with the ticks of another lease. Called by the filler.
    pub fn take_on(&self, lease: &Lease, now_ms: i64) {
        let window = if self.is_exact {
            self.exact_window(lease, now_ms)
        } else {
            self.limits.window(&self.codec, now_ms, lease)
        };
        self.ring.window().take_on(window);
    }

    /// Moves the cursor forward to `offset` in `block`, unless it is there already. Returns whether
    /// it moved.
    pub fn skip_to(&self, block: u64, offset: u64) -> bool {
        self.ring.skip_to((block << self.ring.shift()) + offset)
    }

    /// Lets takers refill the next `blocks` blocks without waking the filler. Called by the filler.
    pub fn leave_to_takers(&self, blocks: u64) {
        let until = if blocks > 0 { self.ring.tail() + blocks } else { 0 };
        // ORDERING: a hint.
        self.undisturbed_until.store(until, Ordering::Relaxed);
    }

    /// The tick of the ticket claimed last, or, if its block is not published, the newest tick. No
    /// claim has a UID of a later tick.
    pub fn claimed_tick(&self) -> u64 {
        let block = self.ring.position().saturating_sub(1) >> self.ring.shift();
        self.tick_of_block(block).unwrap_or_else(|| self.newest_tick())
    }

    /// Whether the window ends before the next tick to publish.
    pub fn is_window_used_up(&self) -> bool {
        self.codec.next(self.ring.newest(), self.ring.window().get()).is_none()
    }

    /// How long the filler may sleep until the next maintenance, unless it is woken.
    pub fn maintenance_pause(&self, now_ms: i64) -> Duration {
        let pause = duration_ms(self.limits.next_maintenance_ms(now_ms) - now_ms);
        if self.at_hand() > 0 || self.waiters.is_empty() {
            return pause;
        }
        // Somebody waits for this tick or for a later one.
        let due = self.next_tick();
        let reserved = self.codec.tick_of(self.ring.window().get().reserved_base);
        if due > reserved.min(self.limits.final_tick) {
            // The registry's answer brings it, not the passing of time.
            return pause;
        }
        pause.min(self.limits.until_allowed(due, now_ms)).max(SHORTEST_WAIT)
    }
}

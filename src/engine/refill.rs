//! What the filler does to the ring: it moves the window, publishes blocks and passes over stale ones.

use std::time::Duration;

use crate::engine::Engine;
use crate::engine::limits::duration_ms;
use crate::engine::take::SHORTEST_WAIT;
use crate::registry::Lease;
use crate::sync::Ordering;

impl Engine {
    /// Publishes the blocks that there is room for, and says whether there were any. For the
    /// filler.
    pub fn refill(&self) -> bool {
        // One look at the cursor serves them all: each takes its cache line away from the takers.
        let current = self.ring.cursor_block();
        let mut is_any = false;
        while self.ring.refill(current, &self.counters.refilled_by_filler) {
            is_any = true;
        }
        is_any
    }

    /// Sets the window to what the lease in use and the clock allow. For the filler.
    ///
    /// Its first tick moves on only where the tick that follows the newest is stale. Else none is
    /// skipped: takers that wait for each tick, and are a little late, get the UIDs of all of them.
    pub fn move_window(&self, lease: &Lease, now_ms: i64) {
        let mut window = self.limits.window(&self.codec, now_ms, lease);
        let following = self.codec.following(self.ring.newest(), self.ring.window().get());
        if !self.limits.is_stale(self.codec.tick(following), now_ms) {
            // Not before the lease: what follows is of the lease in use.
            window.first = window.first.min(following);
        }
        self.ring.window().set(window);
        if self.codec.is_beyond(self.ring.newest(), window.last) {
            self.ring.draw_back();
        }
    }

    /// Goes on with the seconds of another lease. For the filler.
    pub fn take_on(&self, lease: &Lease, now_ms: i64) {
        self.ring.window().take_on(self.limits.window(&self.codec, now_ms, lease));
    }

    /// Moves the cursor into `block`, past what is stale; not if takers are there already.
    pub fn skip_to(&self, block: u64, offset: u64) -> bool {
        self.ring.skip_to((block << self.ring.shift()) + offset)
    }

    /// Lets takers refill the ring so many blocks far before they ask for it. For the filler.
    pub fn leave_to_takers(&self, blocks: u64) {
        let until = if blocks > 0 { self.ring.tail() + blocks } else { 0 };
        // ORDERING: a hint.
        self.undisturbed_until.store(until, Ordering::Relaxed);
    }

    /// The tick of the ticket claimed last, or, where its block is not published, the one published
    /// last: no run is of a later one.
    pub fn claimed_tick(&self) -> u64 {
        let block = (self.ring.position() - 1) >> self.ring.shift();
        self.tick(block).unwrap_or_else(|| self.newest_tick())
    }

    /// Whether the window ends before the next second.
    pub fn is_window_used_up(&self) -> bool {
        self.codec.next(self.ring.newest(), self.ring.window().get()).is_none()
    }

    /// How long the filler may sleep unless it is asked.
    pub fn next_look(&self, now_ms: i64) -> Duration {
        let pause = duration_ms(self.limits.next_look(now_ms) - now_ms);
        if self.at_hand() > 0 || self.waiters.is_empty() {
            return pause;
        }
        // The first that is not published: somebody waits for it, or for a later one.
        let due = self.next_due();
        if due > self.codec.tick(self.ring.window().get().reserved) {
            // It comes with an answer of the registry, not with time.
            return pause;
        }
        pause.min(self.limits.until_allowed(due, now_ms)).max(SHORTEST_WAIT)
    }
}

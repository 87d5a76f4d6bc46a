//! Which blocks may not be handed out any more: those beyond the lead limit, and stale ones.

use super::Maintenance;
use crate::engine::exact::SHARDS;
use crate::engine::limits::LeadLimit;
use crate::engine::{Engine, events};
use crate::sync::Arc;

impl Maintenance {
    /// If the clock has gone back so far that blocks in the ring lie beyond the limit, keeps them
    /// from being handed out: they are dropped in favour of a new worker's blocks, or held back
    /// until they are due. Returns whether the blocks at the cursor are held back.
    pub(super) fn enforce_lead_limit(&mut self, engine: &Arc<Engine>, now_ms: i64) -> bool {
        self.drop_far_blocks(engine, now_ms);
        let is_beyond = |tick: Option<u64>| {
            let is_far = |now_ms| tick.is_some_and(|tick| !engine.limits.is_due(tick, now_ms));
            // Checked with the present time as well: takers that read the clock may have moved on
            // while this thread was suspended.
            is_far(now_ms) && (!engine.takers_read_clock || is_far(engine.now_ms()))
        };
        if is_beyond(Some(engine.claimed_tick())) {
            // A local taker may have claimed UIDs of that tick.
            engine.expire_claims();
        }
        if is_beyond(engine.tick_of_block(engine.ring.cursor_block())) {
            let is_changed =
                engine.policy == LeadLimit::NewWorker && self.change_worker(engine, now_ms);
            if is_changed {
                engine.skip_to(engine.ring.tail(), 0);
            } else {
                engine.ring.cursor.close();
            }
            // After the cursor was moved, so that no claim made before counts as a later one.
            engine.expire_claims();
            if !is_changed {
                return true;
            }
        }
        if engine.ring.cursor.is_closed() {
            engine.try_open(now_ms);
        }
        false
    }

    /// Drops the blocks of previous workers up to the last one that lies beyond the limit. The
    /// window does not cover previous workers.
    fn drop_far_blocks(&self, engine: &Engine, now_ms: i64) {
        let is_of_previous = |&block: &u64| {
            let base = engine.ring.published_base(block);
            base.is_none_or(|base| engine.codec.worker_of(base.get()) != self.leases.lease().worker)
        };
        let is_far = |&block: &u64| {
            engine.tick_of_block(block).is_some_and(|tick| !engine.limits.is_due(tick, now_ms))
        };
        // They come before this worker's blocks, so usually there is none to check.
        let blocks = engine.ring.cursor_block()..engine.ring.tail();
        let of_previous = blocks.take_while(is_of_previous);
        if let Some(far) = of_previous.filter(is_far).last() {
            engine.skip_to(far + 1, 0);
            engine.expire_claims();
        }
    }

    /// Drops the blocks up to the last stale one. The next block begins at a random offset, so that
    /// the UIDs of a quiet service do not all end in the same bits.
    pub(super) fn drop_stale_blocks(&mut self, engine: &Engine, now_ms: i64) {
        let (current, tail) = (engine.ring.cursor_block(), engine.ring.tail());
        let is_stale = |block| {
            engine.tick_of_block(block).is_some_and(|tick| engine.limits.is_stale(tick, now_ms))
        };
        // The last stale block counts: after a worker's far blocks may come those of the next
        // worker, which began at the clock's tick.
        let Some(stale) = (current..tail).rev().find(|&block| is_stale(block)) else { return };
        // A quiet service begins anywhere. A busy one skips few UIDs: it goes on at the remainder
        // that it has come to.
        let offset = if self.demand.is_busy {
            engine.ring.cursor.position() & engine.ring.max_offset() & (SHARDS - 1)
        } else {
            self.rng.u64(0..=engine.ring.max_offset())
        };
        if engine.skip_to(stale + 1, offset) {
            events::stale_blocks_dropped(stale + 1 - current);
        }
    }

    /// Records whether the generator is at the lead limit. It is if takers are stopped there: they
    /// have reached the end of the window, or the blocks at the cursor are held back. It still is
    /// while takers wait for each tick, until demand falls or the window moves ahead of them.
    pub(super) fn update_lead_limit(&self, engine: &Engine, is_stopped: bool, now_ms: i64) {
        let newest = engine.newest_tick();
        let was = engine.flags.is_at_lead_limit();
        let is =
            is_stopped || was && self.demand.is_busy && !engine.limits.is_due(newest + 1, now_ms);
        if is && !was {
            events::lead_limit(engine.limits.lead(newest, now_ms), engine.policy);
        }
        engine.flags.set_at_lead_limit(is);
    }
}

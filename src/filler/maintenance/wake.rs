//! Which waiting takers are woken, and when.

use super::Maintenance;
use crate::engine::timing::Timing as _;
use crate::engine::{Engine, by_kind};

/// The end of the UIDs that can be taken.
#[derive(Default, PartialEq, Eq)]
pub struct TakeableEnd {
    pub(super) tail: u64,
    pub(super) window: u64,
    /// Whether a jump of the clock is being refused.
    pub(super) is_jump_refused: bool,
}

/// The other state that takes depend on.
#[derive(Default, PartialEq, Eq)]
pub struct State {
    pub(super) is_closed: bool,
    pub(super) is_registry_down: bool,
    pub(super) is_time_over: bool,
}

impl Maintenance {
    /// Wakes the waiting takers, but only if something has changed for them. Otherwise they and the
    /// filler would keep each other awake.
    pub(super) fn wake(&mut self, engine: &Engine, now_ms: i64) {
        let state = State {
            is_closed: engine.ring.cursor.is_closed(),
            is_registry_down: engine.flags.is_registry_down(),
            is_time_over: engine.limits.is_over(now_ms),
        };
        let end = TakeableEnd {
            tail: engine.ring.tail(),
            window: engine.ring.window().last_base(),
            is_jump_refused: engine.flags.refused_jump().is_some(),
        };
        if state != self.state {
            engine.waiters.wake_all();
        } else if end != self.end {
            engine.waiters.wake_threads(by_kind!(engine, wake_end));
        }
        (self.state, self.end) = (state, end);
        #[cfg(feature = "async")]
        wake_tasks(engine, now_ms);
    }
}

/// Calls as many tasks as there are UIDs, or all of them if it is not worth waiting for more.
#[cfg(feature = "async")]
fn wake_tasks(engine: &Engine, now_ms: i64) {
    let line = &engine.waiters.wait_queue;
    if line.is_empty() {
        return;
    }
    let uids = engine.at_hand();
    if uids == 0 && !engine.is_worth_waiting(engine.obstacle(engine.ring.cursor.position(), now_ms))
    {
        line.call_all();
    } else {
        line.call_anew(uids);
    }
}

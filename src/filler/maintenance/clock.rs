//! How the clock is followed, and what is told when it is set.

use std::time::Duration;

use super::Maintenance;
use crate::clock::Stopwatch;
use crate::engine::limits::duration_ms;
use crate::engine::{Engine, events};

/// A forward jump that is followed is reported if it is longer than this.
const NOTED_JUMP: Duration = Duration::from_secs(60);
/// A forward jump that is longer than this may be how a clock was set right.
const CORRECTION: Duration = Duration::from_secs(1);
/// How far the clock may fall behind the expected time, in addition to a thousandth of the time
/// since it was read, before it counts as set back. Clocks are corrected in small steps.
const SLACK_MS: i64 = 100;

impl Maintenance {
    /// Follows the clock from its present time `now_ms` on, so that a jump before the first
    /// maintenance is noticed, too.
    pub fn follow(&mut self, now_ms: i64) {
        self.followed = Some((now_ms, Stopwatch::start()));
    }

    /// The time that the generator follows, and the time since the last maintenance. A forward jump
    /// beyond `max_forward_jump` is not followed: until the clock comes back or the generator is
    /// rebuilt, the time continues from where it was.
    pub(super) fn read_clock(&mut self, engine: &Engine) -> (i64, Duration) {
        // Started before the clock is read, so that a thread that is suspended in between sees no
        // jump.
        let run = Stopwatch::start();
        let now_ms = engine.now_ms();
        let since = self.last_run.replace(run).map_or(Duration::MAX, Stopwatch::elapsed);
        if let Some((seen_ms, seen)) = &self.followed {
            let expected_ms =
                seen_ms.saturating_add(i64::try_from(seen.elapsed().as_millis()).unwrap_or(0));
            let jump = duration_ms(now_ms.saturating_sub(expected_ms));
            let refused = self.max_forward_jump.is_some_and(|most| jump > most);
            if engine.flags.set_refused_jump(refused.then_some(jump)) {
                events::jump_refused(jump);
            }
            if refused {
                // Always computed from the time last followed, so that rounding does not add up.
                return (expected_ms, since);
            }
            // After a long sleep, a step back can be shorter than the sleep. A clock that stands
            // still is set by hand, as in tests.
            let slack_ms = (expected_ms - seen_ms) / 1000 + SLACK_MS;
            let earliest_ms = (*seen_ms).max(expected_ms.saturating_sub(slack_ms));
            if now_ms < earliest_ms && now_ms != *seen_ms {
                engine.counters.clock_steps.add(1);
                let expected_ms = if now_ms < *seen_ms { *seen_ms } else { expected_ms };
                events::clock_back(duration_ms(expected_ms - now_ms));
                self.leases.forget_clock_skew(engine);
            } else if jump > NOTED_JUMP {
                events::clock_forward(jump);
            }
            if jump > CORRECTION {
                self.leases.forget_clock_skew(engine);
            }
        }
        self.followed = Some((now_ms, run));
        (now_ms, since)
    }
}

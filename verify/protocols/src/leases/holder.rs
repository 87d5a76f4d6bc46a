//! What a generator does with a lease, as `src/filler/lease_manager.rs` has it.
//!
//! Its clock is not part of the state, because it may show anything at any time. A generator uses
//! the ticks of its lease one after the other. One that skips some of them uses fewer.

use super::registry::{Lease, LeaseLost};
use super::{Rule, Rules, Text, Tick, Worker};

/// A lease in the hands of a generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Holder {
    pub worker: Worker,
    /// `None` for a permanent id.
    pub text: Option<Text>,
    /// The last tick that was used.
    pub used: Tick,
    /// The last tick that the generator knows to be reserved.
    pub last: Tick,
    /// Whether another generator has the id now.
    pub is_lost: bool,
    /// Whether takers may still use ticks. After the end, a taker may that came before it.
    pub is_open: bool,
}

impl Holder {
    /// Takes a lease on. A permanent id begins at the tick of the clock.
    pub fn new(lease: &Lease, now: Tick) -> Holder {
        Holder {
            worker: lease.worker,
            text: lease.text,
            used: lease.first.max(now).saturating_sub(1),
            last: lease.last,
            is_lost: false,
            is_open: true,
        }
    }

    /// The next tick that a taker may use.
    pub fn next(&self) -> Option<Tick> {
        (self.is_open && self.used < self.last).then_some(self.used + 1)
    }

    /// Whether a taker may use `tick` now.
    pub fn may_use(&self, tick: Tick) -> bool {
        self.next().is_some_and(|next| (next..=self.last).contains(&tick))
    }

    pub fn use_up_to(&mut self, tick: Tick) {
        self.used = tick;
    }

    /// Whether it asks the registry for more ticks.
    pub fn may_reserve(&self) -> bool {
        self.text.is_some() && !self.is_lost
    }

    /// Notes that ticks up to `last` were asked for.
    pub fn ask(&mut self, last: Tick, rules: Rules) {
        if !rules.have(Rule::ReserveBeforeUse) {
            self.last = self.last.max(last);
        }
    }

    /// Handles the answer to a reservation up to `last`. Without an answer nothing changes.
    pub fn answered(&mut self, last: Tick, answer: Result<(), LeaseLost>, rules: Rules) {
        match answer {
            Err(LeaseLost) if rules.have(Rule::LostIsLost) => self.is_lost = true,
            _ => self.last = last,
        }
    }

    /// The tick up to which the id counts as used when it is given back, while a taker that came
    /// before may still use ticks, or while none may.
    pub fn used_at_end(&self, has_straggler: bool, rules: Rules) -> Tick {
        if !rules.have(Rule::UsedCounts) {
            0
        } else if has_straggler && rules.have(Rule::StragglersCount) {
            self.last
        } else {
            self.used
        }
    }
}

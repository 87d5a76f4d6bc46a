//! The slow path of a take, when the ready range does not give the UID: publish, wait, or fail.

use std::num::NonZeroU64;
use std::ops::Range;

use crate::engine::by_kind;
use crate::engine::limits::LeadLimit;
use crate::engine::timing::Timing as _;
use crate::engine::waiters::LONGEST_WAIT;
use crate::engine::{Engine, TakeError, waiters};
use crate::ring::{self, Block, Ended};
use crate::uid::Uid;

impl Engine {
    /// Claims `count` tickets. Waits while the ring is closed. Returns the first, with the base of
    /// its block if the ready range contains it.
    #[inline]
    pub fn claim_many(&self, count: u64) -> Result<(u64, Option<NonZeroU64>), TakeError> {
        let claim = self.ring.claim_many(count);
        if ring::is_closed(claim.0) { self.claim_when_open(claim.0, count) } else { Ok(claim) }
    }

    /// Claims `count` tickets when the ring is open. `ticket` was claimed from the closed one.
    #[cold]
    #[inline(never)]
    fn claim_when_open(
        &self,
        mut ticket: u64,
        count: u64,
    ) -> Result<(u64, Option<NonZeroU64>), TakeError> {
        loop {
            // First of all, because the clock, which is foreign code, may panic.
            self.ring.cursor.keep_closed(ticket);
            self.wait_until(None, |now_ms| self.is_open(now_ms).then_some(()))?;
            let claim = self.ring.claim_many(count);
            if !ring::is_closed(claim.0) {
                return Ok(claim);
            }
            ticket = claim.0;
        }
    }

    /// Completes a take whose ticket does not lie in the ready range, or comes from a closed ring.
    #[cold]
    #[inline(never)]
    pub fn take_slowly(&self, ticket: u64) -> Result<Uid, TakeError> {
        // Separate from the code below, which saves more registers, because in exact time every
        // take comes here.
        match by_kind!(self, take_at_once, ticket) {
            Some(uid) => Ok(uid),
            None => self.complete(ticket),
        }
    }

    #[inline(never)]
    fn complete(&self, mut ticket: u64) -> Result<Uid, TakeError> {
        loop {
            if ring::is_closed(ticket) {
                ticket = self.claim_many(1)?.0;
            }
            match self.wait_for_base(ticket..ticket + 1)? {
                Some(base) => return Ok(self.ring.uid(ticket, base)),
                None => by_kind!(self, drop_tickets, 1),
            }
            ticket = self.ring.cursor.claim(1);
        }
    }

    /// The base of the block of the first of `tickets`, which the caller holds. `None` if the block
    /// has been overwritten.
    ///
    /// While it waits for a block beyond the window, the caller keeps its tickets, so waiting
    /// threads are served in order. A caller that may not wait closes the ring, so that the takes
    /// that fail after it claim nothing, and gives its tickets back.
    pub fn wait_for_base(&self, tickets: Range<u64>) -> Result<Option<NonZeroU64>, TakeError> {
        let ticket = tickets.start;
        let found = match by_kind!(self, resolve, ticket) {
            Block::Beyond => by_kind!(self, wait_for_block, ticket),
            found => Ok(found),
        };
        match found {
            Ok(Block::Published(base)) => Ok(Some(base)),
            Ok(_) => Ok(None),
            Err(error) => {
                // In a forked process the ring is closed, and no lock may be taken.
                if error != TakeError::Forked {
                    self.ring.cursor.close();
                    self.ring.cursor.give_back(tickets);
                }
                Err(error)
            }
        }
    }

    /// Takes the next UID, or fails at once with the reason why there is none.
    pub fn try_take(&self) -> Result<Uid, TakeError> {
        if let Ok((ticket, Some(base))) = self.ring.try_claim(None) {
            return Ok(self.ring.uid(ticket, base));
        }
        by_kind!(self, try_take)
    }

    /// Opens the closed ring, or fails if that is not possible now.
    pub fn open_or_fail(&self) -> Result<(), TakeError> {
        self.check_end()?;
        let now_ms = self.trusted_now_ms();
        if self.is_open(now_ms) { Ok(()) } else { self.report_shortage_unless_due(now_ms) }
    }

    /// Sleeps until `attempt` returns something. `attempt` is called when the filler has changed
    /// what can be taken, and when the tick of `ticket` is due; a caller without a ticket waits for
    /// the next one. Fails at once if waiting does not help, or if the policy is to fail.
    pub fn wait_until<T>(
        &self,
        ticket: Option<u64>,
        attempt: impl Fn(i64) -> Option<T>,
    ) -> Result<T, TakeError> {
        let mut waiting = None;
        loop {
            self.check_end()?;
            let now_ms = self.trusted_now_ms();
            if let Some(found) = attempt(now_ms) {
                return Ok(found);
            }
            let ticket = ticket.unwrap_or_else(|| self.ring.cursor.position());
            let error = self.report_shortage(ticket, now_ms);
            if !self.is_worth_waiting(error) {
                return Err(error);
            }
            if waiting.is_none() {
                // Then tries once more, because a change before the registration causes no wake-up.
                waiting = Some(self.waiters.wait_with(ticket));
                self.counters.waits.add(1);
            } else {
                waiters::park(by_kind!(self, taker_pause, ticket, error, now_ms));
            }
        }
    }

    /// Fails if the ring is closed for good.
    fn check_end(&self) -> Result<(), TakeError> {
        match self.ring.cursor.ended() {
            None => Ok(()),
            Some(Ended::ShutDown) => Err(TakeError::ShutDown),
            Some(Ended::Forked) => Err(TakeError::Forked),
            Some(Ended::BrokenRule(rule)) => {
                // The filler tells operators, once.
                if self.flags.set_wanted() {
                    self.signal.wake_filler();
                }
                Err(TakeError::BrokenRule { rule })
            }
        }
    }

    /// Whether a take waits instead of failing with `error`.
    pub fn is_worth_waiting(&self, error: TakeError) -> bool {
        match error {
            TakeError::LeadLimit { .. } => self.policy != LeadLimit::Fail,
            TakeError::LeaseExhausted { .. } => !self.flags.is_registry_down(),
            _ => false,
        }
    }

    /// Like `report_shortage`, but succeeds if the next tick is due: then the filler has just moved
    /// the window by what the clock showed a moment before.
    pub fn report_shortage_unless_due(&self, now_ms: i64) -> Result<(), TakeError> {
        let ticket = self.ring.cursor.position();
        match self.report_shortage(ticket, now_ms) {
            TakeError::LeadLimit { retry_in_ms: 0 }
                if by_kind!(self, is_allowed_by_takers, ticket, now_ms) =>
            {
                Ok(())
            }
            error => Err(error),
        }
    }

    /// Tells the filler that a UID is needed beyond the limit. Returns why `ticket` has none.
    pub fn report_shortage(&self, ticket: u64, now_ms: i64) -> TakeError {
        if by_kind!(self, is_filler_needed, ticket, now_ms) && self.flags.set_wanted() {
            self.signal.wake_filler();
        }
        self.obstacle(ticket, now_ms)
    }

    /// Why `ticket` has no UID.
    pub fn obstacle(&self, ticket: u64, now_ms: i64) -> TakeError {
        let layout = &self.limits.layout;
        let due = by_kind!(self, awaited_tick, ticket, now_ms);
        if self.is_past_lease(due) {
            return TakeError::LeaseExhausted { worker: self.worker() };
        }
        // A new worker id can use the rest of the time field again, except for its last tick.
        let ends = due > self.limits.final_tick && self.policy != LeadLimit::NewWorker;
        if ends || self.limits.is_over(now_ms) {
            TakeError::TimeExhausted { expires_at_ms: layout.expires_at_ms() }
        } else {
            let retry_in = if due > self.limits.final_tick {
                // It depends on another worker id, not on time.
                LONGEST_WAIT
            } else {
                self.limits.until_allowed(due, now_ms)
            };
            TakeError::LeadLimit {
                retry_in_ms: u64::try_from(retry_in.as_millis()).unwrap_or(u64::MAX),
            }
        }
    }

    /// Why a take would get no UID now. `None` also where it would wait for the next tick alone.
    pub fn lasting_obstacle(&self, now_ms: i64) -> Option<TakeError> {
        if let Err(ended) = self.check_end() {
            return Some(ended);
        }
        if self.at_hand() > 0 {
            return None;
        }
        let error = self.obstacle(self.ring.cursor.position(), now_ms);
        let is_short = |time| time <= 2 * self.limits.layout.tick();
        Some(error).filter(|error| !error.retry_in().is_some_and(is_short))
    }

    /// Whether the ring is open. Opens a closed ring if that is possible.
    fn is_open(&self, now_ms: i64) -> bool {
        !self.ring.cursor.is_closed() || self.takers_read_clock && self.try_open(now_ms)
    }
}

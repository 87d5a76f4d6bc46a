//! The slow path of a take, when the ready range does not give the UID: publish, wait, or fail.

use std::num::NonZeroU64;
use std::ops::Range;
use std::time::Duration;

use crate::engine::lead::LeadLimit;
use crate::engine::{Engine, TakeError, waiters};
use crate::ring::{self, Block, Ended};
use crate::sync::Ordering;
use crate::uid::Uid;

/// The longest sleep of a waiting taker. It then checks by itself, since the filler may be starved.
pub const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// The shortest sleep of a waiting taker, and of a filler while takers wait.
pub const SHORTEST_WAIT: Duration = Duration::from_millis(1);

impl Engine {
    /// Claims `count` tickets, and waits for that while the ring is closed. Returns the first, with
    /// the base of its block if the ready range gives it.
    #[inline]
    pub fn claim_many(&self, count: u64) -> Result<(u64, Option<NonZeroU64>), TakeError> {
        let claim = self.ring.claim_many(count);
        if ring::is_closed(claim.0) { self.claim_when_open(count) } else { Ok(claim) }
    }

    #[cold]
    #[inline(never)]
    fn claim_when_open(&self, count: u64) -> Result<(u64, Option<NonZeroU64>), TakeError> {
        loop {
            self.wait_until(None, |now_ms| self.is_open(now_ms).then_some(()))?;
            let claim = self.ring.claim_many(count);
            if !ring::is_closed(claim.0) {
                return Ok(claim);
            }
        }
    }

    /// Completes a take whose ticket does not lie in the ready range, or comes from a closed ring.
    #[cold]
    #[inline(never)]
    pub fn take_slowly(&self, ticket: u64) -> Result<Uid, TakeError> {
        // Apart from what follows, which saves more registers, because in exact time every take
        // comes here.
        if self.is_exact
            && let Some(uid) = self.take_at_present(ticket)
        {
            return Ok(uid);
        }
        self.complete(ticket)
    }

    #[inline(never)]
    fn complete(&self, mut ticket: u64) -> Result<Uid, TakeError> {
        loop {
            if ring::is_closed(ticket) {
                ticket = self.claim_many(1)?.0;
            }
            match self.wait_for_base(ticket..ticket + 1)? {
                Some(base) => return Ok(self.ring.uid(ticket, base)),
                None => self.drop_tickets(1),
            }
            ticket = self.ring.claim(1);
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
        let found = match self.resolve(ticket) {
            Block::Beyond if self.is_exact => self.wait_for_tick(ticket),
            Block::Beyond => self.wait_until(Some(ticket), |now_ms| {
                self.extend_window(now_ms);
                match self.resolve(ticket) {
                    Block::Beyond => None,
                    // The filler has dropped it in favour of another worker's blocks.
                    Block::Published(base)
                        if self.is_far_of_previous_worker(base.get(), now_ms) =>
                    {
                        Some(Block::Overwritten)
                    }
                    found => Some(found),
                }
            }),
            found => Ok(found),
        };
        match found {
            Ok(Block::Published(base)) => Ok(Some(base)),
            Ok(_) => Ok(None),
            Err(error) => {
                // A forked process's copy is closed, and takes no lock.
                if error != TakeError::Forked {
                    self.ring.close();
                    self.ring.give_back(tickets);
                }
                Err(error)
            }
        }
    }

    /// Whether `base` belongs to a previous worker and lies beyond the limit. The window does not
    /// cover previous workers.
    fn is_far_of_previous_worker(&self, base: u64, now_ms: i64) -> bool {
        self.codec.worker_of(base) != self.worker()
            && !self.limits.is_due(self.codec.tick_of(base), now_ms)
    }

    /// The state of the block of `ticket`. Advances the front there, and then refills the ring if
    /// only the refill mark is left.
    fn resolve(&self, ticket: u64) -> Block {
        if self.is_exact {
            return self.resolve_exact(ticket, u64::MAX, self.trusted_now_ms());
        }
        let block = ticket >> self.ring.shift();
        let found = self.ring.publish_up_to(block, &self.counters.refilled_inline);
        let Block::Published(base) = found else { return found };
        let left = self.ring.blocks_from(block);
        // The last block is a range of its own, so that the ring is refilled before it is empty.
        if self.ring.advance(ticket, base, self.longest_range.min(left.saturating_sub(1)))
            && left <= self.refill_mark
        {
            // ORDERING: a hint.
            let is_left_to_takers = block < self.undisturbed_until.load(Ordering::Relaxed);
            // With one block left, the filler has been woken and has not come yet.
            if is_left_to_takers || left <= 1 {
                (0..self.longest_range)
                    .all(|_| self.ring.publish_if_room(block, &self.counters.refilled_inline));
            }
            if !is_left_to_takers {
                self.signal.wake_filler();
            }
        }
        found
    }

    /// Takes the next UID, or fails at once with the reason why there is none.
    pub fn try_take(&self) -> Result<Uid, TakeError> {
        let mut published = None;
        loop {
            match self.ring.try_claim(published) {
                Ok((ticket, Some(base))) => return Ok(self.ring.uid(ticket, base)),
                Ok((ticket, None)) => match self.retry_with_clock(|| self.resolve(ticket)) {
                    Ok(Block::Published(base)) => return Ok(self.ring.uid(ticket, base)),
                    Ok(_) => self.ring.lose(1),
                    // The clock has just gone back.
                    Err(now_ms) => {
                        self.ring.give_back(ticket..ticket + 1);
                        published = None;
                        self.report_shortage_unless_due(now_ms)?;
                    }
                },
                // The front covers nothing then.
                Err(Some(_)) if self.is_exact => return self.try_take_exact(),
                Err(Some(block)) => {
                    match self.retry_with_clock(|| {
                        self.ring.publish_up_to(block, &self.counters.refilled_inline)
                    }) {
                        Ok(_) => published = Some(block),
                        Err(now_ms) => self.report_shortage_unless_due(now_ms)?,
                    }
                }
                Err(None) => self.open_or_fail()?,
            }
        }
    }

    /// Opens the closed ring, or fails if that is not possible now.
    pub fn open_or_fail(&self) -> Result<(), TakeError> {
        self.check_end()?;
        let now_ms = self.trusted_now_ms();
        if self.is_open(now_ms) { Ok(()) } else { self.report_shortage_unless_due(now_ms) }
    }

    /// Counts claimed tickets that their holder cannot use: their block was overwritten or, in
    /// exact time, their tick is past.
    pub fn drop_tickets(&self, count: u64) {
        if self.is_exact { self.ring.skip(count) } else { self.ring.lose(count) }
    }

    /// Repeats `attempt` once, with an extended window, if the block lies beyond the window: the
    /// filler may have shortened the window by an older reading of the clock. Fails with what the
    /// clock shows if the block still lies beyond it.
    fn retry_with_clock(&self, attempt: impl Fn() -> Block) -> Result<Block, i64> {
        match attempt() {
            Block::Beyond => {}
            found => return Ok(found),
        }
        let now_ms = self.trusted_now_ms();
        self.extend_window(now_ms);
        match attempt() {
            Block::Beyond => Err(now_ms),
            found => Ok(found),
        }
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
            let ticket = ticket.unwrap_or_else(|| self.ring.position());
            let error = self.report_shortage(ticket, now_ms);
            if !self.is_worth_waiting(error) {
                return Err(error);
            }
            if waiting.is_none() {
                // Then tries once more, since no wake-up comes for what has changed before.
                waiting = Some(self.waiters.wait_with(ticket));
                self.counters.waits.add(1);
            } else if self.is_exact {
                waiters::park(self.taker_pause(ticket, now_ms));
            } else {
                let due = error.retry_in().unwrap_or(LONGEST_WAIT);
                waiters::park(due.clamp(SHORTEST_WAIT, LONGEST_WAIT));
            }
        }
    }

    /// Fails if the ring is closed for good.
    fn check_end(&self) -> Result<(), TakeError> {
        match self.ring.ended() {
            None => Ok(()),
            Some(Ended::ShutDown) => Err(TakeError::ShutDown),
            Some(Ended::Forked) => Err(TakeError::Forked),
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
    fn report_shortage_unless_due(&self, now_ms: i64) -> Result<(), TakeError> {
        match self.report_shortage(self.ring.position(), now_ms) {
            // In exact time, the filler may have to allow the tick.
            TakeError::LeadLimit { retry_in_ms: 0 }
                if self.takers_read_clock
                    && !(self.is_exact && self.is_past_window(self.ring.position(), now_ms)) =>
            {
                Ok(())
            }
            error => Err(error),
        }
    }

    /// Tells the filler that a UID is needed beyond the limit. Returns why `ticket` has none.
    pub fn report_shortage(&self, ticket: u64, now_ms: i64) -> TakeError {
        let is_filler_needed = !self.is_exact || self.is_filler_needed(ticket, now_ms);
        if is_filler_needed && self.flags.set_wanted() {
            self.signal.wake_filler();
        }
        self.obstacle(ticket, now_ms)
    }

    /// Why `ticket` has no UID.
    pub fn obstacle(&self, ticket: u64, now_ms: i64) -> TakeError {
        let layout = &self.limits.layout;
        let due = if self.is_exact {
            (ticket >> self.ring.shift()).max(self.limits.clock_tick(now_ms))
        } else {
            self.tick_of_ticket(ticket)
        };
        if self.is_past_lease(due) {
            return TakeError::LeaseExhausted { worker: self.worker() };
        }
        // A new worker id can use the rest of the time field again, except for its last tick.
        let ends = due > self.limits.final_tick && self.policy != LeadLimit::NewWorker;
        if ends || self.limits.is_over(now_ms) {
            TakeError::TimeExhausted { expires_at_ms: layout.expires_at_ms() }
        } else {
            let retry_in = if due > self.limits.final_tick {
                // Another worker id brings it, not the passing of time.
                LONGEST_WAIT
            } else {
                self.limits.until_allowed(due, now_ms)
            };
            TakeError::LeadLimit {
                retry_in_ms: u64::try_from(retry_in.as_millis()).unwrap_or(u64::MAX),
            }
        }
    }

    /// Whether the ring is open. Opens a closed ring if that is possible.
    fn is_open(&self, now_ms: i64) -> bool {
        !self.ring.is_closed() || self.takers_read_clock && self.try_open(now_ms)
    }
}

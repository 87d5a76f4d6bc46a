//! What a take does when its UID is not simply at hand: it publishes, waits, or fails.

use std::num::NonZeroU64;
use std::ops::Range;
use std::time::Duration;

use crate::engine::lead::LeadLimit;
use crate::engine::{Engine, TakeError, waiters};
use crate::ring::{self, Block};
use crate::sync::Ordering;
use crate::uid::Uid;

/// Longest sleep of a waiting taker before it looks by itself: the filler may be starved.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// Shortest sleep of a waiting taker, and of a filler for which somebody waits.
pub const SHORTEST_WAIT: Duration = Duration::from_millis(1);

impl Engine {
    /// Claims `count` tickets; from a closed ring, once it is open. The first, and the base of its
    /// block if that is known.
    #[inline]
    pub fn claim_run(&self, count: u64) -> Result<(u64, Option<NonZeroU64>), TakeError> {
        let claim = self.ring.claim_run(count);
        if ring::is_closed(claim.0) { self.claim_when_open(count) } else { Ok(claim) }
    }

    #[cold]
    #[inline(never)]
    fn claim_when_open(&self, count: u64) -> Result<(u64, Option<NonZeroU64>), TakeError> {
        loop {
            self.wait_until(None, |now_ms| self.is_open(now_ms).then_some(()))?;
            let claim = self.ring.claim_run(count);
            if !ring::is_closed(claim.0) {
                return Ok(claim);
            }
        }
    }

    /// What a take does with a ticket that does not lie in the stretch at the front, and with what
    /// it gets from a closed ring.
    #[cold]
    #[inline(never)]
    pub fn take_slowly(&self, mut ticket: u64) -> Result<Uid, TakeError> {
        loop {
            if ring::is_closed(ticket) {
                ticket = self.claim_run(1)?.0;
            }
            match self.base(ticket..ticket + 1)? {
                Some(base) => return Ok(self.ring.uid(ticket, base)),
                None => self.ring.lose(1),
            }
            ticket = self.ring.claim(1);
        }
    }

    /// The base of the block of the first of `tickets`, which the caller holds; `None` if it has
    /// been overwritten.
    ///
    /// While it waits for a block beyond the window, the caller keeps its tickets, so waiters are
    /// served in order. A caller that may not wait closes the ring, so that the takes that fail
    /// after it claim nothing, and gives its tickets back.
    pub fn base(&self, tickets: Range<u64>) -> Result<Option<NonZeroU64>, TakeError> {
        let ticket = tickets.start;
        let found = match self.find(ticket) {
            Block::Beyond => self.wait_until(Some(ticket), |now_ms| {
                self.extend_window(now_ms);
                match self.find(ticket) {
                    Block::Beyond => None,
                    // The filler has dropped it for another worker's.
                    Block::Published(base) if self.is_far_of_before(base.get(), now_ms) => {
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

    /// Whether a base is of a worker before, and beyond the limit: the window says nothing of it.
    fn is_far_of_before(&self, base: u64, now_ms: i64) -> bool {
        self.codec.worker(base) != self.worker()
            && !self.limits.is_due(self.codec.tick(base), now_ms)
    }

    /// What became of the block of `ticket`. Who moves the front there looks after the ring.
    fn find(&self, ticket: u64) -> Block {
        let block = ticket >> self.ring.shift();
        let found = self.ring.block(block, &self.counters.refilled_inline);
        let Block::Published(base) = found else { return found };
        let left = self.ring.blocks_from(block);
        // The last one by itself, so that the ring is looked after before it is used up.
        if self.ring.advance(ticket, base, self.range.min(left.saturating_sub(1)))
            && left <= self.refill_mark
        {
            // ORDERING: a hint.
            let is_left_to_takers = block < self.undisturbed_until.load(Ordering::Relaxed);
            // Or the filler has been asked and has not come yet.
            if is_left_to_takers || left <= 1 {
                (0..self.range).all(|_| self.ring.refill(block, &self.counters.refilled_inline));
            }
            if !is_left_to_takers {
                self.signal.ask();
            }
        }
        found
    }

    /// Takes the next UID, or says at once why there is none.
    pub fn try_take(&self) -> Result<Uid, TakeError> {
        let mut published = None;
        loop {
            match self.ring.try_claim(published) {
                Ok((ticket, Some(base))) => return Ok(self.ring.uid(ticket, base)),
                Ok((ticket, None)) => match self.look_by_the_clock(|| self.find(ticket)) {
                    Ok(Block::Published(base)) => return Ok(self.ring.uid(ticket, base)),
                    Ok(_) => self.ring.lose(1),
                    // The clock has just gone back.
                    Err(now_ms) => {
                        self.ring.give_back(ticket..ticket + 1);
                        published = None;
                        self.want_unless_due(now_ms)?;
                    }
                },
                Err(Some(block)) => {
                    match self.look_by_the_clock(|| {
                        self.ring.block(block, &self.counters.refilled_inline)
                    }) {
                        Ok(_) => published = Some(block),
                        Err(now_ms) => self.want_unless_due(now_ms)?,
                    }
                }
                Err(None) if self.is_forked() => return Err(TakeError::Forked),
                Err(None) => {
                    let now_ms = self.trusted_now_ms();
                    if !self.is_open(now_ms) {
                        self.want_unless_due(now_ms)?;
                    }
                }
            }
        }
    }

    /// What became of a block. If it is beyond the window, the window is moved on first: it may
    /// have been drawn back by what the filler had read of the clock before. If it still is, what
    /// the clock shows.
    fn look_by_the_clock(&self, look: impl Fn() -> Block) -> Result<Block, i64> {
        match look() {
            Block::Beyond => {}
            found => return Ok(found),
        }
        let now_ms = self.trusted_now_ms();
        self.extend_window(now_ms);
        match look() {
            Block::Beyond => Err(now_ms),
            found => Ok(found),
        }
    }

    /// Sleeps until `look` finds something, looking when the filler has something new, and when the
    /// tick of `ticket` is due: of the next one, for a caller that has none. Fails at once where
    /// waiting does not help, or is not wanted.
    fn wait_until<T>(
        &self,
        ticket: Option<u64>,
        look: impl Fn(i64) -> Option<T>,
    ) -> Result<T, TakeError> {
        if self.is_forked() {
            return Err(TakeError::Forked);
        }
        let mut waiting = None;
        loop {
            let now_ms = self.trusted_now_ms();
            if let Some(found) = look(now_ms) {
                return Ok(found);
            }
            let ticket = ticket.unwrap_or_else(|| self.ring.position());
            let error = self.want(ticket, now_ms);
            if !self.is_worth_waiting(error) {
                return Err(error);
            }
            if waiting.is_none() {
                // Looks once more: nobody wakes this thread for what has changed before.
                waiting = Some(self.waiters.wait_with(ticket));
            } else {
                let due = error.retry_in().unwrap_or(LONGEST_WAIT);
                waiters::park(due.clamp(SHORTEST_WAIT, LONGEST_WAIT));
            }
        }
    }

    /// Whether a take waits where it would fail with `error`.
    pub fn is_worth_waiting(&self, error: TakeError) -> bool {
        match error {
            TakeError::LeadLimit { .. } => self.policy != LeadLimit::Fail,
            TakeError::LeaseExhausted { .. } => !self.flags.is_registry_down(),
            _ => false,
        }
    }

    /// As `want`, but no error where the next second is due: the filler has just moved the window
    /// by what the clock showed a moment before.
    fn want_unless_due(&self, now_ms: i64) -> Result<(), TakeError> {
        match self.want(self.ring.position(), now_ms) {
            TakeError::LeadLimit { retry_in_ms: 0 } if self.takers_read_clock => Ok(()),
            error => Err(error),
        }
    }

    /// Lets the filler know that a UID is wanted beyond the limit, and says why `ticket` has none.
    fn want(&self, ticket: u64, now_ms: i64) -> TakeError {
        if self.flags.want() {
            self.signal.ask();
        }
        self.obstacle(ticket, now_ms)
    }

    /// Why `ticket` has no UID.
    fn obstacle(&self, ticket: u64, now_ms: i64) -> TakeError {
        let layout = &self.limits.layout;
        let due = self.due(ticket);
        if self.is_behind_lease(due) {
            return TakeError::LeaseExhausted { worker: self.worker() };
        }
        // A new worker can use what is left of the time field once more, but for its last second.
        let ends = due > layout.max_tick() && self.policy != LeadLimit::NewWorker;
        if ends || self.limits.is_over(now_ms) {
            TakeError::TimeExhausted { expires_at_ms: layout.expires_at_ms() }
        } else {
            let retry_in = self.limits.until_allowed(due, now_ms);
            TakeError::LeadLimit {
                retry_in_ms: u64::try_from(retry_in.as_millis()).unwrap_or(u64::MAX),
            }
        }
    }

    /// Whether a ring that was closed is open, or can be opened.
    fn is_open(&self, now_ms: i64) -> bool {
        !self.ring.is_closed() || self.takers_read_clock && self.try_open(now_ms)
    }
}

//! [`TagEngine`]: the state of one tag that takers and the loader share, and the slow path of a
//! take.

mod receive;

pub use receive::Level;

use std::mem;
use std::num::NonZeroU64;
use std::ops::Range;
use std::time::Duration;

use crate::clock::Stopwatch;
#[cfg(feature = "async")]
use crate::engine::wait_queue::WaitQueue;
use crate::engine::{EXPIRY_STEP, FIRST_CLAIMS_END, SegmentFailure, TakeError};
use crate::number::Number;
use crate::ring::chain::{Found, ReadyRange, SegmentChain, Unclaimed};
use crate::ring::cursor::{Ended, is_closed};
use crate::segment::tag::claim::{Claim, ClaimedNumbers, LONGEST, Numbers};
use crate::segment::tag::request_list::{Entry, RequestList};
use crate::segment::tag::supply::Supply;
use crate::sync::Counter;
use crate::sync::{Arc, AtomicU8, AtomicU64, Mutex, MutexGuard, Ordering, lock};

/// How much later than its `max_wait` a thread may wake, so that it wakes together with others.
const LATEST: Duration = Duration::from_millis(5);

/// One tag.
#[derive(Debug)]
#[repr(C)]
pub struct TagEngine {
    /// It comes first: local takers read the word after it, and every taker writes its first word.
    pub chain: SegmentChain,
    /// Works as in a generator's engine. Local takers number their claim so that its last number
    /// comes directly before this word. Lowering the word makes them drop their claims.
    claims_end: AtomicU64,
    pub entry: Entry,
    pub requests: Arc<RequestList>,
    /// The numbers that are not yet in the chain, and the threads that wait for numbers.
    pub supply: Mutex<Supply>,
    /// The waiting tasks. Threads are served first.
    #[cfg(feature = "async")]
    pub tasks: WaitQueue,
    /// Numbers loaded so far. Written by the loader, under the lock of the supply.
    pub loaded: Counter,
    /// A [`SegmentFailure`] that says why the last load failed, or 0 if it succeeded. Written by
    /// the loader.
    failure: AtomicU8,
    pub counters: Counters,
    /// How long a take waits, in nanoseconds. A `Duration` would be twice as large.
    max_wait_ns: u64,
}

/// Statistics.
#[derive(Debug, Default)]
pub struct Counters {
    /// Segments loaded.
    pub loads: Counter,
    /// Loads that failed.
    pub failures: Counter,
    /// Takes that had to wait.
    pub waits: Counter,
    /// The longest wait, in microseconds.
    longest_wait_us: AtomicU64,
}

impl Counters {
    fn waited(&self, time: Duration) {
        self.waits.add(1);
        let us = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        // ORDERING: a statistic.
        self.longest_wait_us.fetch_max(us, Ordering::Relaxed);
    }

    pub fn longest_wait(&self) -> Duration {
        // ORDERING: a statistic.
        Duration::from_micros(self.longest_wait_us.load(Ordering::Relaxed))
    }
}

impl TagEngine {
    pub fn new(requests: Arc<RequestList>, max_wait: Duration) -> TagEngine {
        TagEngine {
            chain: SegmentChain::default(),
            claims_end: AtomicU64::new(FIRST_CLAIMS_END),
            entry: Entry::default(),
            requests,
            supply: Mutex::default(),
            #[cfg(feature = "async")]
            tasks: WaitQueue::default(),
            loaded: Counter::default(),
            failure: AtomicU8::new(0),
            counters: Counters::default(),
            max_wait_ns: u64::try_from(max_wait.as_nanos()).unwrap_or(u64::MAX),
        }
    }

    /// How long a take waits.
    pub fn max_wait(&self) -> Duration {
        Duration::from_nanos(self.max_wait_ns)
    }

    /// Claims up to `count` numbers. Some or all of its tickets may turn out to have no number.
    #[inline]
    pub fn claim(&self, count: u64) -> Result<Claim, TakeError> {
        let count = count.clamp(1, LONGEST);
        let (next, range) = self.chain.claim_many(count);
        if is_closed(next) {
            return self.claim_slowly(count);
        }
        Ok(Claim { next, end: next + count, range })
    }

    /// The next numbers of `claim`, or `None` at its end.
    #[inline]
    pub fn next_numbers(&self, claim: &mut Claim) -> Option<Numbers> {
        self.next_numbers_by(claim, TagEngine::resolve)
    }

    /// Like [`next_numbers`](TagEngine::next_numbers), for a caller that may still give the numbers
    /// back.
    pub fn next_unused(&self, claim: &mut Claim) -> Option<Numbers> {
        self.next_numbers_by(claim, |tag, ticket| tag.chain.find(ticket))
    }

    #[inline]
    fn next_numbers_by(
        &self,
        claim: &mut Claim,
        find: fn(&TagEngine, u64) -> Found,
    ) -> Option<Numbers> {
        while claim.next < claim.end {
            let known = claim.range.take();
            match known.map_or_else(|| self.look_up(claim.next..claim.end, find), Ok) {
                Ok(range) => {
                    let numbers = self.numbers(claim.next, range.end.min(claim.end), range.origin);
                    claim.next = range.end.min(claim.end);
                    if numbers.is_some() {
                        return numbers;
                    }
                }
                Err(dropped) => claim.next += dropped,
            }
        }
        None
    }

    /// The numbers of `tickets`, which [`next_unused`](TagEngine::next_unused) returned. The caller
    /// now uses the first of them.
    pub fn use_later(&self, tickets: &Range<u64>, origin: u64) -> Option<Numbers> {
        self.resolve(tickets.start);
        self.numbers(tickets.start, tickets.end, origin)
    }

    /// The numbers of the tickets up to `end`, which share this origin.
    #[inline]
    fn numbers(&self, ticket: u64, end: u64, origin: u64) -> Option<Numbers> {
        let first = NonZeroU64::new(self.chain.number(ticket, origin))?;
        Some(Numbers { first, count: end - ticket, delta: self.chain.delta() })
    }

    /// Looks up the first of `tickets`, which the caller has claimed, with `find`. If it has no
    /// number, drops it together with those after it that have none either, and returns how many
    /// these are.
    #[cold]
    #[inline(never)]
    fn look_up(
        &self,
        tickets: Range<u64>,
        find: fn(&TagEngine, u64) -> Found,
    ) -> Result<ReadyRange, u64> {
        if let Found::Ready(range) = find(self, tickets.start) {
            return Ok(range);
        }
        let mut supply = lock(&self.supply);
        // If the ticket lies past the end of the chain, this closes the chain there, unless numbers
        // have arrived meanwhile. From then on the ticket is void.
        supply.open(&self.chain);
        let gone = match find(self, tickets.start) {
            Found::Ready(range) => return Ok(range),
            Found::Beyond => tickets.end - tickets.start,
            Found::Gone => self.chain.gone(&tickets),
        };
        supply.drop_tickets(&self.chain, gone);
        Err(gone)
    }

    /// Completes a take whose ticket does not lie in the ready range, or comes from a closed chain.
    #[cold]
    #[inline(never)]
    pub fn take_slowly(&self, ticket: u64) -> Result<Number, TakeError> {
        let mut claim = if is_closed(ticket) {
            self.claim_slowly(1)?
        } else {
            Claim { next: ticket, end: ticket + 1, range: None }
        };
        loop {
            if let Some(numbers) = self.next_numbers(&mut claim) {
                return Ok(Number::from_nonzero(numbers.first));
            }
            claim = self.claim_slowly(1)?;
        }
    }

    /// Claims up to `count` numbers under the lock of the supply. If there are none, waits in order
    /// with the others, without holding a ticket.
    #[cold]
    #[inline(never)]
    fn claim_slowly(&self, count: u64) -> Result<Claim, TakeError> {
        loop {
            let Some(mut supply) = self.lock_closed()? else {
                let (next, range) = self.chain.claim_many(count);
                if is_closed(next) {
                    continue;
                }
                return Ok(Claim { next, end: next + count, range });
            };
            if let Some(claim) = self.hand_out(&mut supply, count) {
                return Ok(claim);
            }
            let error = self.shortage(&mut supply);
            if self.max_wait().is_zero() || !is_worth_waiting(error) {
                return Err(error);
            }
            let position = supply.join(count);
            drop(supply);
            return self.wait(position);
        }
    }

    /// Locks the supply. `None` if the chain has numbers again. Fails if the chain is closed for
    /// good.
    fn lock_closed(&self) -> Result<Option<MutexGuard<'_, Supply>>, TakeError> {
        // Checked before locking: in a forked process, the lock's holder may not exist.
        self.check_end()?;
        let mut supply = lock(&self.supply);
        self.check_end()?;
        Ok((!supply.open(&self.chain)).then_some(supply))
    }

    /// Hands out the next numbers of a closed chain, at most `count`.
    fn hand_out(&self, supply: &mut Supply, count: u64) -> Option<Claim> {
        let claim = supply.hand_out(&self.chain, count)?;
        self.request_maintenance();
        Some(claim)
    }

    /// Sleeps until the thread at this position in line has been served, at most for `max_wait`.
    /// Fails at once if waiting does not help.
    fn wait(&self, position: u64) -> Result<Claim, TakeError> {
        let since = Stopwatch::start();
        let result = loop {
            crate::sync::park_timeout(self.pause(since));
            let is_over = since.elapsed() >= self.max_wait();
            let mut supply = lock(&self.supply);
            if let Some(claim) = supply.served(position) {
                break Ok(claim);
            }
            let error = self.check_end().err().unwrap_or_else(|| self.exhausted());
            if is_over || !is_worth_waiting(error) {
                supply.leave(position);
                break Err(error);
            }
        };
        self.counters.waited(since.elapsed());
        result
    }

    /// How long a thread sleeps that has waited since `since`. Threads whose time ends at about the
    /// same moment wake together, because waking an idle processor takes longer than a failing
    /// take.
    pub(crate) fn pause(&self, since: Stopwatch) -> Duration {
        let left = self.max_wait().saturating_sub(since.elapsed());
        let now = self.requests.clock.elapsed();
        let together = (self.max_wait() / 2).min(LATEST).as_nanos().max(1);
        let end = now.saturating_add(left).as_nanos().next_multiple_of(together);
        let pause = end.saturating_sub(now.as_nanos());
        u64::try_from(pause).map_or(Duration::MAX, Duration::from_nanos)
    }

    /// Takes back the unused tickets of a claim. Each part consists of its tickets and their
    /// origin. The last part comes first.
    pub fn give_back(&self, parts: impl Iterator<Item = (Range<u64>, u64)>) {
        let mut supply = lock(&self.supply);
        for (tickets, origin) in parts {
            supply.take_back(&self.chain, tickets, origin);
        }
        supply.open(&self.chain);
        drop(supply);
        if self.has_tasks() {
            // The loader calls the tasks.
            self.request_maintenance();
        }
    }

    /// Looks `ticket` up. If that advances the front, wakes the loader, which then measures the
    /// demand and appends what it has.
    fn resolve(&self, ticket: u64) -> Found {
        let (found, has_advanced) = self.chain.resolve(ticket);
        if has_advanced {
            self.request_maintenance();
        }
        found
    }

    /// Asks the loader to maintain this tag.
    pub fn request_maintenance(&self) {
        self.requests.add(&self.entry);
    }

    /// Takes the next number, or fails at once with the reason why there is none.
    pub fn try_take(&self) -> Result<Number, TakeError> {
        let claimed = self.chain.try_claim();
        if let Ok((ticket, Some(range))) = claimed
            && let Some(number) = NonZeroU64::new(self.chain.number(ticket, range.origin))
        {
            return Ok(Number::from_nonzero(number));
        }
        self.try_take_slowly(claimed)
    }

    /// Claims up to `count` numbers that are there at once, for a program that hands them out.
    pub fn try_claim(&self, count: u64) -> Result<ClaimedNumbers, TakeError> {
        // Read before the claim, so that an expiry in between ends the claim as well.
        let end = self.claims_end();
        if let Some((tickets, range)) = self.chain.try_claim_many(count.clamp(1, LONGEST))
            && let Some(numbers) = self.numbers(tickets.start, tickets.end, range.origin)
        {
            let Numbers { first, count: length, delta: step } = numbers;
            let first = Number::from_nonzero(first);
            return Ok(ClaimedNumbers { first, length, step, end, ticket: tickets.start });
        }
        let first = self.try_take()?;
        Ok(ClaimedNumbers { first, length: 1, step: self.chain.delta(), end, ticket: 0 })
    }

    /// Takes back what is left of a claim of which so many were used.
    pub fn give_back_claimed(&self, claimed: &ClaimedNumbers, used: u64) {
        // As what a local taker gives back.
        if self.claims_end() == claimed.end
            && self.chain.cursor.ended().is_none()
            && (1..claimed.length).contains(&used)
        {
            let tickets = claimed.ticket + used..claimed.ticket + claimed.length;
            let origin = self.chain.origin(claimed.ticket, claimed.first.get());
            self.give_back([(tickets, origin)].into_iter());
        }
    }

    #[cold]
    #[inline(never)]
    fn try_take_slowly(
        &self,
        mut claimed: Result<(u64, Option<ReadyRange>), Unclaimed>,
    ) -> Result<Number, TakeError> {
        loop {
            let claim = match claimed {
                Ok((ticket, range)) => Some(Claim { next: ticket, end: ticket + 1, range }),
                Err(_) => self.try_claim_slowly()?,
            };
            if let Some(numbers) = claim.and_then(|mut claim| self.next_numbers(&mut claim)) {
                return Ok(Number::from_nonzero(numbers.first));
            }
            claimed = self.chain.try_claim();
        }
    }

    /// Claims the next number under the lock of the supply, if the chain has none. Returns `None`
    /// if it has numbers again.
    fn try_claim_slowly(&self) -> Result<Option<Claim>, TakeError> {
        let Some(mut supply) = self.lock_closed()? else { return Ok(None) };
        self.hand_out(&mut supply, 1)
            .map_or_else(|| Err(self.shortage(&mut supply)), |claim| Ok(Some(claim)))
    }

    /// Fails if the chain is closed for good.
    fn check_end(&self) -> Result<(), TakeError> {
        match self.chain.cursor.ended() {
            None => Ok(()),
            Some(Ended::ShutDown) => Err(TakeError::ShutDown),
            Some(Ended::Forked) => Err(TakeError::Forked),
            Some(Ended::BrokenRule(rule)) => Err(TakeError::BrokenRule { rule }),
        }
    }

    /// Wakes the loader because a number is needed, unless it already knows. Returns why there is
    /// none.
    fn shortage(&self, supply: &mut Supply) -> TakeError {
        if !mem::replace(&mut supply.is_requested, true) {
            self.request_maintenance();
        }
        self.exhausted()
    }

    /// Why there is no number.
    fn exhausted(&self) -> TakeError {
        TakeError::SegmentExhausted { cause: self.failure().unwrap_or(SegmentFailure::Loading) }
    }

    /// Why takes fail now, if they do, with `left` numbers to take.
    pub fn lasting_obstacle(&self, left: u64) -> Option<TakeError> {
        if let Err(ended) = self.check_end() {
            return Some(ended);
        }
        let cause = self.failure().filter(|_| left == 0)?;
        Some(TakeError::SegmentExhausted { cause })
    }

    /// Why the last load failed, if it did.
    fn failure(&self) -> Option<SegmentFailure> {
        // ORDERING: a taker that reads an old value waits a little longer, or fails once more.
        Some(match self.failure.load(Ordering::Relaxed) {
            0 => return None,
            1 => SegmentFailure::Loading,
            2 => SegmentFailure::Unreachable,
            3 => SegmentFailure::NoSuchTag,
            4 => SegmentFailure::RanOut,
            5 => SegmentFailure::WentBack,
            6 => SegmentFailure::BadRow,
            _ => SegmentFailure::Failed,
        })
    }

    /// The distance from one number to the next.
    pub fn delta(&self) -> u64 {
        self.chain.delta()
    }

    /// How many numbers were lost with their tickets.
    pub fn lost(&self) -> u64 {
        self.chain.cursor.lost()
    }

    /// How many loaded numbers are not claimed.
    pub fn left(&self) -> u64 {
        lock(&self.supply).left(&self.chain)
    }

    /// Whether a task waits.
    #[cfg_attr(not(feature = "async"), allow(clippy::unused_self))] // there are none
    pub fn has_tasks(&self) -> bool {
        #[cfg(feature = "async")]
        return !self.tasks.is_empty();
        #[cfg(not(feature = "async"))]
        false
    }

    /// Whether this is a copy in a process that was forked from the one that loads.
    pub fn is_forked(&self) -> bool {
        self.chain.cursor.ended() == Some(Ended::Forked)
    }

    /// Makes local takers drop their claims.
    fn expire_claims(&self) {
        // ORDERING: Release, as in the generator's engine.
        self.claims_end.fetch_sub(EXPIRY_STEP, Ordering::Release);
    }

    /// The word that holds [`claims_end`](TagEngine::claims_end).
    pub fn claims_end_word(&self) -> &AtomicU64 {
        &self.claims_end
    }

    /// The number past the last UID of a claim made from now on.
    pub fn claims_end(&self) -> u64 {
        // ORDERING: see `expire_claims`.
        self.claims_end.load(Ordering::Acquire)
    }

    /// Whether a claim whose next UID has this number is used up or has expired.
    #[inline]
    pub fn is_used_up(&self, number: u64) -> bool {
        // ORDERING: as in the generator's engine.
        number >= self.claims_end.load(Ordering::Relaxed)
    }
}

/// Whether a take waits instead of failing with `error`. It fails at once if only an operator can
/// help.
pub fn is_worth_waiting(error: TakeError) -> bool {
    let TakeError::SegmentExhausted { cause } = error else { return false };
    matches!(cause, SegmentFailure::Loading | SegmentFailure::Unreachable)
}

//! [`TagEngine`]: what takers and the loader share of one tag, and the slow path of a take.

use std::num::NonZeroU64;
use std::ops::Range;
use std::time::Duration;

use crate::clock::Stopwatch;
#[cfg(all(unix, not(uidring_loom)))]
use crate::engine::fork::Abandon;
use crate::engine::waiters::{self, Waiters};
use crate::engine::{EXPIRY_STEP, SegmentFailure, TakeError};
use crate::number::Number;
use crate::ring::counter::Counter;
use crate::ring::cursor::{Ended, is_closed};
use crate::ring::segments::{Found, ReadyRange, SegmentChain, Unclaimed};
use crate::segment::request_list::{Entry, RequestList};
use crate::segment::stock::Stock;
use crate::sync::{Arc, AtomicU8, AtomicU64, Mutex, Ordering};

/// One tag.
#[derive(Debug)]
pub struct TagEngine {
    pub chain: SegmentChain,
    /// As the generator's: local takers number the UIDs of a claim so that the last one comes
    /// directly before this number. It is lowered when they must drop their claims.
    claims_end: AtomicU64,
    pub name: Box<str>,
    pub entry: Entry,
    pub requests: Arc<RequestList>,
    pub waiters: Waiters,
    /// The first ticket past all that has been loaded. Written by the loader.
    loaded_end: AtomicU64,
    /// A [`SegmentFailure`]: why the last load failed; 0 if it succeeded. Written by the loader.
    failure: AtomicU8,
    pub counters: Counters,
    /// How long a take waits.
    pub max_wait: Duration,
    /// What the loader knows. Only the loader and `status` lock it.
    pub stock: Mutex<Stock>,
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
    /// The longest of these waits, in microseconds.
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
    pub fn new(
        name: &str,
        requests: Arc<RequestList>,
        max_wait: Duration,
        stock: Stock,
    ) -> TagEngine {
        TagEngine {
            chain: SegmentChain::default(),
            claims_end: AtomicU64::new(u64::MAX),
            name: name.into(),
            entry: Entry::default(),
            requests,
            waiters: Waiters::default(),
            loaded_end: AtomicU64::new(0),
            failure: AtomicU8::new(0),
            counters: Counters::default(),
            max_wait,
            stock: Mutex::new(stock),
        }
    }

    /// Claims `count` tickets of a closed chain, once it opens. Returns the first, with the ready
    /// range if that holds it.
    #[cold]
    #[inline(never)]
    pub(crate) fn claim_when_open(
        &self,
        count: u64,
        since: Stopwatch,
    ) -> Result<(u64, Option<ReadyRange>), TakeError> {
        loop {
            self.wait_until(since, None, || self.is_open().then_some(()))?;
            let claim = self.chain.claim_many(count);
            if !is_closed(claim.0) {
                return Ok(claim);
            }
        }
    }

    /// Completes a take whose ticket does not lie in the ready range, or comes from a closed chain.
    #[cold]
    #[inline(never)]
    pub fn take_slowly(&self, mut ticket: u64) -> Result<Number, TakeError> {
        // It may wait more than once, but no longer than `max_wait` in all.
        let since = Stopwatch::start();
        loop {
            if is_closed(ticket) {
                ticket = self.claim_when_open(1, since)?.0;
            }
            if let Some(range) = self.wait_for_range(ticket..ticket + 1, since)?
                && let Some(number) = NonZeroU64::new(self.chain.number(ticket, range.origin))
            {
                return Ok(Number::from_nonzero(number));
            }
            self.chain.lose(1);
            ticket = self.chain.claim(1);
        }
    }

    /// The range of the first of `tickets`, which the caller holds. `None` if its segment has been
    /// overwritten.
    ///
    /// While it waits for a load, the caller keeps its tickets, so waiting threads are served in
    /// order. A caller that has waited long enough closes the chain, so that the takes that fail
    /// after it claim nothing, and gives its tickets back.
    pub(crate) fn wait_for_range(
        &self,
        tickets: Range<u64>,
        since: Stopwatch,
    ) -> Result<Option<ReadyRange>, TakeError> {
        let ticket = tickets.start;
        let found = match self.resolve(ticket) {
            Found::Beyond => self.wait_until(since, Some(ticket), || match self.resolve(ticket) {
                Found::Beyond => None,
                found => Some(found),
            }),
            found => Ok(found),
        };
        match found {
            Ok(Found::Ready(range)) => Ok(Some(range)),
            Ok(_) => Ok(None),
            Err(error) => {
                // A forked process's copy is closed, and takes no lock.
                if error != TakeError::Forked {
                    self.chain.close();
                    self.chain.give_back(tickets);
                }
                Err(error)
            }
        }
    }

    /// Where `ticket` leads. If that advances the front, the loader is told: it measures the demand
    /// and appends what it has.
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
        loop {
            match self.chain.try_claim() {
                Ok((ticket, _)) => {
                    if let Found::Ready(range) = self.resolve(ticket)
                        && let Some(number) =
                            NonZeroU64::new(self.chain.number(ticket, range.origin))
                    {
                        return Ok(Number::from_nonzero(number));
                    }
                    self.chain.lose(1);
                }
                Err(Unclaimed::Beyond) => return Err(self.shortage()),
                Err(Unclaimed::Closed) => {
                    self.check_end()?;
                    if !self.is_open() {
                        return Err(self.shortage());
                    }
                }
            }
        }
    }

    /// Sleeps until `attempt` returns something, at most until `max_wait` after `since`. `attempt`
    /// is called when the loader has appended a segment in which `ticket` may lie; a caller without
    /// a ticket waits for the next one. Fails at once if waiting does not help.
    fn wait_until<T>(
        &self,
        since: Stopwatch,
        ticket: Option<u64>,
        attempt: impl Fn() -> Option<T>,
    ) -> Result<T, TakeError> {
        let mut waiting = None;
        let result = loop {
            if let Err(error) = self.check_end() {
                break Err(error);
            }
            if let Some(found) = attempt() {
                break Ok(found);
            }
            let error = self.shortage();
            let left = self.max_wait.saturating_sub(since.elapsed());
            if left.is_zero() || !is_worth_waiting(error) {
                break Err(error);
            }
            if waiting.is_none() {
                // Then tries once more, since no wake-up comes for what has changed before.
                // Without a ticket, the next one may be any, if others give theirs back.
                waiting = Some(self.waiters.wait_with(ticket.unwrap_or(0)));
            } else {
                waiters::park(left);
            }
        };
        if waiting.is_some() {
            self.counters.waited(since.elapsed());
        }
        result
    }

    /// Fails if the chain is closed for good.
    fn check_end(&self) -> Result<(), TakeError> {
        match self.chain.ended() {
            None => Ok(()),
            Some(Ended::ShutDown) => Err(TakeError::ShutDown),
            Some(Ended::Forked) => Err(TakeError::Forked),
        }
    }

    /// Tells the loader that a number is needed. Returns why there is none.
    fn shortage(&self) -> TakeError {
        self.request_maintenance();
        TakeError::SegmentExhausted { cause: self.failure().unwrap_or(SegmentFailure::Loading) }
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

    /// Records how the last load ended. Called by the loader.
    pub fn set_failure(&self, failure: Option<SegmentFailure>) {
        // ORDERING: see `failure`.
        self.failure.store(failure.map_or(0, |failure| failure as u8), Ordering::Relaxed);
    }

    /// Whether the chain is open. Opens a closed chain if its next ticket has a number.
    fn is_open(&self) -> bool {
        !self.chain.is_closed() || self.try_open()
    }

    /// Opens a closed chain if its next ticket has a number.
    pub fn try_open(&self) -> bool {
        let has_numbers = self.chain.position() < self.chain.end();
        if has_numbers {
            self.chain.open();
        }
        has_numbers
    }

    /// Wakes those that wait for what has been appended. Called by the loader.
    pub fn wake(&self) {
        self.waiters.wake_threads(self.chain.end());
        #[cfg(feature = "async")]
        self.waiters.line.call_anew(self.at_hand());
    }

    /// The number of numbers that takes can get now.
    #[cfg(feature = "async")]
    pub fn at_hand(&self) -> u64 {
        let end = self.chain.end();
        if self.chain.is_closed() { 0 } else { end.saturating_sub(self.chain.position()) }
    }

    /// Ends the tag: takes fail from now on.
    pub fn shut_down(&self) {
        self.chain.shut_down();
        self.expire_claims();
        // Last, because a task's waker may panic.
        self.waiters.wake_all();
    }

    /// Whether this is a copy in a process that was forked from the one that loads.
    pub fn is_forked(&self) -> bool {
        self.chain.ended() == Some(Ended::Forked)
    }

    /// Makes local takers drop their claims.
    fn expire_claims(&self) {
        // ORDERING: Release, as in the generator's engine.
        self.claims_end.fetch_sub(EXPIRY_STEP, Ordering::Release);
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

    /// The first ticket past all that has been loaded.
    pub fn loaded_end(&self) -> u64 {
        // ORDERING: written by the loader, which alone relies on it.
        self.loaded_end.load(Ordering::Relaxed)
    }

    /// Called by the loader.
    pub fn set_loaded_end(&self, end: u64) {
        // ORDERING: see `loaded_end`.
        self.loaded_end.store(end, Ordering::Relaxed);
    }
}

/// Whether a take waits instead of failing with `error`: not where only a person can help.
pub fn is_worth_waiting(error: TakeError) -> bool {
    let TakeError::SegmentExhausted { cause } = error else { return false };
    matches!(cause, SegmentFailure::Loading | SegmentFailure::Unreachable)
}

#[cfg(all(unix, not(uidring_loom)))]
impl Abandon for TagEngine {
    fn abandon(&self) {
        self.chain.abandon();
        self.expire_claims();
    }
}

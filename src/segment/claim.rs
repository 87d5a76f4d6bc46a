//! Tickets of a tag that were claimed together.

use std::num::NonZeroU64;

use crate::clock::Stopwatch;
use crate::engine::TakeError;
use crate::number::Number;
use crate::ring::cursor::is_closed;
use crate::ring::segments::ReadyRange;
use crate::segment::tag::TagEngine;

/// Tickets that were claimed together and are not used yet.
#[derive(Debug)]
pub struct Claim {
    pub next: u64,
    pub end: u64,
    /// The ready range, if it held the first ticket.
    range: Option<ReadyRange>,
    /// Since when the claim has waited, if the chain was closed.
    since: Option<Stopwatch>,
}

/// The part of a claim that lies in one segment: numbers at the same distance from each other.
#[derive(Clone, Copy, Debug)]
pub struct Numbers {
    pub first: NonZeroU64,
    pub count: u64,
    pub delta: u64,
}

/// The most tickets that are claimed together. Local takers rely on it.
pub const LONGEST: u64 = crate::engine::EXPIRY_STEP;

impl Claim {
    pub const EMPTY: Claim = Claim { next: 0, end: 0, range: None, since: None };

    /// Claims up to `count` tickets.
    #[inline]
    pub fn new(tag: &TagEngine, count: u64) -> Result<Claim, TakeError> {
        let count = count.clamp(1, LONGEST);
        let (mut claimed, mut since) = (tag.chain.claim_many(count), None);
        if is_closed(claimed.0) {
            claimed = tag.claim_when_open(count, *since.insert(Stopwatch::start()))?;
        }
        let (next, range) = claimed;
        Ok(Claim { next, end: next + count, range, since })
    }

    /// The next numbers of the claim, or `None` at its end. If it fails, the rest of the claim has
    /// been given back.
    #[inline]
    pub fn next_numbers(&mut self, tag: &TagEngine) -> Result<Option<Numbers>, TakeError> {
        // Only a wait that follows at once goes on from there: a local taker may rest in between.
        let mut since = self.since.take();
        while self.next < self.end {
            let ticket = self.next;
            let range = match self.range.take() {
                None => {
                    let since = since.take().unwrap_or_else(Stopwatch::start);
                    tag.wait_for_range(ticket..self.end, since)
                        .inspect_err(|_| self.next = self.end)?
                }
                known => known,
            };
            let first =
                range.and_then(|range| NonZeroU64::new(tag.chain.number(ticket, range.origin)));
            if let (Some(range), Some(first)) = (range, first) {
                self.next = range.end.min(self.end);
                let delta = tag.chain.delta();
                return Ok(Some(Numbers { first, count: self.next - ticket, delta }));
            }
            tag.chain.lose(1);
            self.next += 1;
        }
        Ok(None)
    }
}

impl Numbers {
    // The length is at most what the caller asked for, so it fits.
    #[allow(clippy::cast_possible_truncation)]
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Writes the numbers to `buffer`, which has room for them and no more.
    pub fn write(&self, buffer: &mut [Number]) {
        if self.delta == 1 {
            crate::engine::claim::write_consecutive(self.first, buffer);
            return;
        }
        let mut next = self.first;
        for place in buffer {
            *place = Number::from_nonzero(next);
            next = next.saturating_add(self.delta);
        }
    }
}

#[cfg(all(test, not(uidring_loom)))]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::segment::request_list::RequestList;
    use crate::segment::stock::Stock;
    use crate::sync::Arc;

    #[test]
    fn a_claim_that_has_rested_waits_as_long_as_any_other() {
        let max_wait = Duration::from_millis(20);
        let (requests, _parker) = RequestList::new();
        let tag = TagEngine::new("a", Arc::new(requests), max_wait, Stock::new(Duration::ZERO));
        tag.chain.append(1, 1);
        tag.chain.claim_many(2);
        // As after a wait for a closed chain to open.
        let since = Stopwatch::start();
        let range = Some(ReadyRange { end: 1, origin: 1 });
        let mut claim = Claim { next: 0, end: 2, range, since: Some(since) };
        assert_eq!(claim.next_numbers(&tag).unwrap().unwrap().first.get(), 1);
        while since.elapsed() < max_wait {}
        assert!(claim.next_numbers(&tag).is_err());
        assert_eq!(tag.counters.waits.get(), 1, "it failed at once");
    }
}

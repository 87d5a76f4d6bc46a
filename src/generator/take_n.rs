//! [`TakeN`]: a batch of UIDs, one by one.

use std::iter::FusedIterator;
use std::num::NonZeroU64;

use crate::engine::claim::{Claim, Span};
use crate::engine::{Engine, TakeError};
use crate::uid::Uid;

/// The UIDs of [`UidGenerator::take_n`](crate::UidGenerator::take_n).
#[derive(Debug)]
#[must_use = "iterators are lazy: UIDs are taken by `next`"]
pub struct TakeN<'a> {
    engine: &'a Engine,
    /// How many UIDs are still to be taken.
    left: usize,
    claim: Claim,
    /// The UIDs of the claim that come next.
    span: Span,
    /// [`Engine::claims_end`] before the claim was made. When it changes, the claim is dropped: the
    /// process was forked, the generator shut down, or its UIDs have become stale.
    claims_end: u64,
}

impl<'a> TakeN<'a> {
    pub(crate) fn new(engine: &'a Engine, count: usize) -> TakeN<'a> {
        let span = Span { base: NonZeroU64::MIN, from: 0, to: 0 };
        let claims_end = engine.claims_end();
        TakeN { engine, left: count, claim: Claim::EMPTY, span, claims_end }
    }

    #[cold]
    fn next_span(&mut self) -> Result<(), TakeError> {
        // Read before the claim, so that an expiry in between drops the claim as well.
        let claims_end = self.engine.claims_end();
        if claims_end != self.claims_end {
            self.claims_end = claims_end;
            self.claim = Claim::EMPTY;
            self.span.from = self.span.to;
        }
        while self.span.from == self.span.to {
            match self.claim.next_held(self.engine)? {
                Some(span) => self.span = span,
                None => self.claim = Claim::held(self.engine, self.left as u64)?,
            }
        }
        Ok(())
    }
}

impl Iterator for TakeN<'_> {
    type Item = Result<Uid, TakeError>;

    #[inline]
    fn next(&mut self) -> Option<Result<Uid, TakeError>> {
        if self.left == 0 {
            return None;
        }
        let is_expired = self.engine.claims_end() != self.claims_end;
        if (is_expired || self.span.from == self.span.to)
            && let Err(error) = self.next_span()
        {
            self.left = 0;
            return Some(Err(error));
        }
        let uid = self.span.base | self.span.from;
        self.span.from += 1;
        self.left -= 1;
        Some(Ok(Uid::from_nonzero(uid)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left.min(1), Some(self.left))
    }
}

impl FusedIterator for TakeN<'_> {}

//! [`SegmentTaker`]: numbers of a tag that one thread has claimed together, and [`SegmentTakeN`],
//! which takes so many of them.

use std::collections::VecDeque;
use std::fmt;
use std::iter::FusedIterator;
use std::num::NonZeroU64;
use std::ops::Range;

use scopeguard::ScopeGuard;

use crate::engine::TakeError;
use crate::number::Number;
use crate::segment::load::loaded_tag::LoadedTag;
use crate::segment::load::loader::running::Running;
use crate::segment::tag::claim::{Claim, LONGEST, Numbers};
use crate::segment::tag::engine::TagEngine;
use crate::sync::Arc;

/// A tag, and the loader that keeps it supplied.
#[derive(Clone)]
pub struct Handle {
    pub tag: Arc<LoadedTag>,
    /// The last handle ends the loader.
    pub running: Arc<Running>,
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("tag", &self.tag.name).finish_non_exhaustive()
    }
}

/// Claims many numbers at once for one thread, so that most takes write to no shared memory.
///
/// The numbers of one taker strictly increase. There is no order between two takers, since each
/// holds a claim. The first claim has 64 numbers, and each further one twice as many, up to 4,096.
/// When the taker is dropped, the rest of its claim goes back if nobody has taken a number since,
/// and is lost otherwise. A shutdown cannot know how far a taker has come, so the claim of one that
/// is still there is lost: drop local takers before
/// [`Segments::shutdown`](crate::segment::Segments::shutdown).
///
/// ```
/// # #[cfg(feature = "sqlite")] {
/// # use uidring::segment::{Segments, SqliteSegments, Tag};
/// # let dir = tempfile::tempdir()?;
/// # let source = SqliteSegments::open(dir.path().join("uidring.db"))?;
/// # let segments = Segments::builder().source(source).build()?;
/// # let orders = segments.create("orders", Tag::new())?;
/// let mut mine = orders.local();
/// assert_eq!(mine.take()?.get(), 1);
/// assert_eq!(orders.take()?.get(), 65, "the others are claimed");
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SegmentTaker {
    // The rest of the numbers of one segment: the number of the next UID, as with the generator's
    // local taker, the UID itself, and the distance to the one after it. A loop keeps these fields
    // in registers, since no reference to them is passed to a function.
    next: u64,
    uid: u64,
    delta: u64,

    // A reference to a field would make the compiler keep the whole taker in memory. Hence a box,
    // and a guard that moves the rest out to drop it.
    claims: Box<Claims>,
    handle: ScopeGuard<Handle, fn(Handle)>,
}

/// Where the next numbers come from.
#[derive(Debug)]
struct Claims {
    /// The part of the claim that is being used.
    part: Part,
    /// The later parts.
    rest: VecDeque<Part>,
    /// `TagEngine::claims_end` before the claim was made.
    end: u64,
    /// The length of the next claim.
    length: u64,
    /// The length to which claims grow.
    longest: u64,
}

/// The part of a claim that lies in one segment: its tickets, and the number of ticket 0.
type Part = (Range<u64>, u64);

impl SegmentTaker {
    /// The length of the first claim, unless
    /// [`with_claim_length`](SegmentTaker::with_claim_length) says otherwise.
    pub const FIRST_CLAIM: u32 = 64;

    /// The length to which claims grow, unless
    /// [`with_claim_length`](SegmentTaker::with_claim_length) says otherwise.
    pub const LONGEST_CLAIM: u32 = 4096;

    pub(crate) fn new(handle: Handle) -> SegmentTaker {
        let claims = Claims {
            part: (0..0, 0),
            rest: VecDeque::new(),
            end: 0,
            length: SegmentTaker::FIRST_CLAIM.into(),
            longest: SegmentTaker::LONGEST_CLAIM.into(),
        };
        let handle = scopeguard::guard(handle, drop as fn(_));
        SegmentTaker { next: u64::MAX, uid: 0, delta: 1, claims: Box::new(claims), handle }
    }

    /// The same taker with claims of `length` numbers each, from the next one on. 0 counts as 1. No
    /// claim is longer than 65,536 numbers.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::segment::{Segments, SqliteSegments, Tag};
    /// # let dir = tempfile::tempdir()?;
    /// # let source = SqliteSegments::open(dir.path().join("uidring.db"))?;
    /// # let segments = Segments::builder().source(source).build()?;
    /// # let orders = segments.create("orders", Tag::new())?;
    /// let mut mine = orders.local().with_claim_length(8);
    /// mine.take()?;
    /// assert_eq!(orders.take()?.get(), 9);
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_claim_length(mut self, length: u32) -> SegmentTaker {
        let length = u64::from(length).clamp(1, LONGEST);
        (self.claims.length, self.claims.longest) = (length, length);
        self
    }

    /// Takes the next number.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::segment::{Segments, SqliteSegments, Tag};
    /// # let dir = tempfile::tempdir()?;
    /// # let source = SqliteSegments::open(dir.path().join("uidring.db"))?;
    /// # let segments = Segments::builder().source(source).build()?;
    /// # let orders = segments.create("orders", Tag::new())?;
    /// let (mut mine, mut yours) = (orders.local(), orders.local());
    /// assert_ne!(mine.take()?, yours.take()?);
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`SegmentGenerator::take`](crate::segment::SegmentGenerator::take).
    #[inline]
    pub fn take(&mut self) -> Result<Number, TakeError> {
        let tag = &self.handle.tag.engine;
        if !tag.is_used_up(self.next)
            && let Some(uid) = NonZeroU64::new(self.uid)
        {
            self.next += 1;
            self.uid = self.uid.wrapping_add(self.delta);
            return Ok(Number::from_nonzero(uid));
        }
        let Numbers { first, count, delta } = self.claims.next_numbers(tag)?;
        (self.next, self.delta) = (self.claims.end - count + 1, delta);
        self.uid = first.get().wrapping_add(delta);
        Ok(Number::from_nonzero(first))
    }
}

impl SegmentTaker {
    /// Takes the next number of `left` that are still wanted: the next claim has no more.
    #[inline]
    pub(crate) fn take_of(&mut self, left: u64) -> Result<Number, TakeError> {
        self.claims.length = left.min(LONGEST);
        self.take()
    }
}

impl Claims {
    #[cold]
    #[inline(never)]
    fn next_numbers(&mut self, tag: &TagEngine) -> Result<Numbers, TakeError> {
        loop {
            // Read before the claim, so that an expiry in between drops the claim as well.
            let end = tag.claims_end();
            if end != self.end {
                (self.part, self.end) = ((0..0, 0), end);
                self.rest.clear();
            }
            if let Some(part) = self.rest.pop_front() {
                self.part = part;
                let (tickets, origin) = &self.part;
                if let Some(numbers) = tag.use_later(tickets, *origin) {
                    return Ok(numbers);
                }
                continue;
            }
            let mut claim = tag.claim(self.length)?;
            self.length = (self.length * 2).min(self.longest);
            // All of it is looked up now, because the taker may rest before it uses the later
            // parts, and their segments do not stay for ever.
            let part = |claim: &Claim, numbers: Numbers| {
                let tickets = claim.next - numbers.count..claim.next;
                let origin = tag.chain.origin(tickets.start, numbers.first.get());
                (tickets, origin)
            };
            let Some(numbers) = tag.next_numbers(&mut claim) else { continue };
            self.part = part(&claim, numbers);
            while let Some(later) = tag.next_unused(&mut claim) {
                self.rest.push_back(part(&claim, later));
            }
            return Ok(numbers);
        }
    }

    /// Gives the rest of the claim back, where `next` is the number of the next UID.
    fn give_back(&mut self, next: u64, tag: &TagEngine) {
        // In a forked process the claim is the parent's, and after a shutdown it has expired.
        if tag.claims_end() != self.end || tag.chain.cursor.ended().is_some() {
            return;
        }
        let (tickets, _) = &mut self.part;
        tickets.start = tickets.end - self.end.saturating_sub(next);
        if !tickets.is_empty() || !self.rest.is_empty() {
            let parts = self.rest.drain(..).rev().chain([self.part.clone()]);
            tag.give_back(parts.filter(|(tickets, _)| !tickets.is_empty()));
        }
    }
}

impl Drop for SegmentTaker {
    #[inline]
    fn drop(&mut self) {
        self.claims.give_back(self.next, &self.handle.tag.engine);
    }
}

/// The numbers of [`SegmentGenerator::take_n`](crate::segment::SegmentGenerator::take_n).
#[derive(Debug)]
#[must_use = "iterators are lazy: numbers are taken by `next`"]
pub struct SegmentTakeN {
    taker: SegmentTaker,
    /// How many numbers are still to be taken.
    left: usize,
}

impl SegmentTakeN {
    pub(crate) fn new(taker: SegmentTaker, count: usize) -> SegmentTakeN {
        SegmentTakeN { taker, left: count }
    }
}

impl Iterator for SegmentTakeN {
    type Item = Result<Number, TakeError>;

    #[inline]
    fn next(&mut self) -> Option<Result<Number, TakeError>> {
        if self.left == 0 {
            return None;
        }
        let result = self.taker.take_of(self.left as u64);
        self.left = if result.is_ok() { self.left - 1 } else { 0 };
        Some(result)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left.min(1), Some(self.left))
    }
}

impl FusedIterator for SegmentTakeN {}

//! [`LocalTaker`]: UIDs that one thread has claimed together.

use std::num::NonZeroU64;

use scopeguard::ScopeGuard;

use crate::engine::TakeError;
use crate::engine::claim::{Claim, Span};
use crate::engine::{EXPIRY_STEP, Engine};
use crate::generator::UidGenerator;
use crate::uid::Uid;

/// Claims many UIDs at once for one thread, so that most takes write to no shared memory.
///
/// The UIDs of one taker strictly increase within one worker id. There is no order between two
/// takers, since each holds a claim. The rest of a claim is lost when the taker drops, and when its
/// ticks become older than [`max_lag`](crate::Builder::max_lag). A thread that takes a UID only now
/// and then should use [`take`](UidGenerator::take). The first claim has 64 UIDs, and each further
/// one twice as many, up to 4,096. So busy takers seldom contend, and a taker loses at most 63 UIDs
/// more than it has handed out.
///
/// ```
/// # use uidring::{UidGenerator, registry::FixedWorker};
/// # let uids = UidGenerator::builder().registry(FixedWorker::new(1)).build()?;
/// std::thread::scope(|scope| {
///     for _ in 0..4 {
///         scope.spawn(|| {
///             let mut mine = uids.local();
///             let first = mine.take()?;
///             assert!(first < mine.take()?);
///             Ok::<(), uidring::TakeError>(())
///         });
///     }
/// });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct LocalTaker {
    // The rest of the span, see `Position`. A loop keeps these two fields in registers, since no
    // reference to them is passed to a function.
    next: u64,
    shift: u64,

    // A reference to a field would make the compiler keep the whole taker in memory. Hence a box,
    // and a guard that moves the generator out to drop it.
    claims: Box<Claims>,
    uids: ScopeGuard<UidGenerator, fn(UidGenerator)>,
}

const _: () = assert!(LocalTaker::LONGEST_CLAIM as u64 <= EXPIRY_STEP);

/// The rest of a span.
#[derive(Clone, Copy, Debug)]
pub struct Position {
    /// The number of the next UID. The last one comes directly before the value that
    /// [`Engine::claims_end`] had before the claim.
    pub next: u64,
    /// The difference between a UID and its number. The sum may wrap.
    pub shift: u64,
}

/// Where the next spans come from.
#[derive(Debug)]
pub struct Claims {
    /// The rest of the claim: its spans in later blocks.
    rest: Claim,
    /// `Engine::claims_end` before the claim was made.
    end: u64,
    /// The length of the next claim.
    length: u64,
    /// The length of the first claim, and of the first one after an expiry.
    shortest: u64,
    /// The length to which claims grow.
    longest: u64,
}

impl LocalTaker {
    /// The length of the first claim, in UIDs, unless
    /// [`with_claim_length`](LocalTaker::with_claim_length) says otherwise.
    pub const FIRST_CLAIM: u32 = 64;

    /// The length to which claims grow, in UIDs, unless
    /// [`with_claim_length`](LocalTaker::with_claim_length) says otherwise.
    pub const LONGEST_CLAIM: u32 = 4096;

    pub(crate) fn new(uids: UidGenerator) -> LocalTaker {
        let uids = scopeguard::guard(uids, drop as fn(_));
        let Position { next, shift } = Position::NONE;
        LocalTaker { next, shift, claims: Box::default(), uids }
    }

    /// The same taker with claims of `length` UIDs each, from the next one on. 0 counts as 1. No
    /// claim is longer than 65,536 UIDs or half a block. Longer claims mean less contention, but
    /// lose more when the taker drops.
    ///
    /// ```
    /// # use uidring::{UidGenerator, registry::FixedWorker};
    /// # let uids = UidGenerator::builder().registry(FixedWorker::new(1)).build()?;
    /// let mut mine = uids.local().with_claim_length(8);
    /// let first = mine.take()?;
    /// assert!(uids.take()?.get() >= first.get() + 8); // the other seven are still to be taken
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_claim_length(mut self, length: u32) -> LocalTaker {
        let length = u64::from(length).clamp(1, EXPIRY_STEP);
        (self.claims.length, self.claims.shortest, self.claims.longest) = (length, length, length);
        self
    }

    /// Takes the next UID.
    ///
    /// ```
    /// # use uidring::{UidGenerator, registry::FixedWorker};
    /// # let uids = UidGenerator::builder().registry(FixedWorker::new(1)).build()?;
    /// let (mut mine, mut yours) = (uids.local(), uids.local());
    /// assert!(mine.take()? < mine.take()?);
    /// assert_ne!(mine.take()?, yours.take()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`UidGenerator::take`].
    #[inline]
    pub fn take(&mut self) -> Result<Uid, TakeError> {
        let engine = self.uids.engine();
        // The sum is never zero. Checking that costs less than keeping the base for an `or`, which
        // would need no check.
        if !engine.is_used_up(self.next)
            && let Some(uid) = NonZeroU64::new(self.next.wrapping_add(self.shift))
        {
            self.next += 1;
            return Ok(Uid::from_nonzero(uid));
        }
        let span = self.claims.next_span(engine)?;
        let (uid, position) = self.claims.enter(span);
        (self.next, self.shift) = (position.next, position.shift);
        Ok(uid)
    }
}

impl Position {
    /// Before the first span.
    pub const NONE: Position = Position { next: u64::MAX, shift: 0 };
}

impl Default for Claims {
    fn default() -> Claims {
        Claims {
            rest: Claim::EMPTY,
            end: 0,
            length: LocalTaker::FIRST_CLAIM.into(),
            shortest: LocalTaker::FIRST_CLAIM.into(),
            longest: LocalTaker::LONGEST_CLAIM.into(),
        }
    }
}

impl Claims {
    /// The first UID of `span`, which was claimed last, and where those after it are.
    #[inline]
    pub fn enter(&self, span: Span) -> (Uid, Position) {
        let Span { base, from, to } = span;
        debug_assert!(to - from <= EXPIRY_STEP);
        let (uid, number) = (base | from, self.end - (to - from));
        let shift = uid.get().wrapping_sub(number);
        (Uid::from_nonzero(uid), Position { next: number + 1, shift })
    }

    #[cold]
    #[inline(never)]
    pub fn next_span(&mut self, engine: &Engine) -> Result<Span, TakeError> {
        loop {
            // Read before the claim, so that an expiry in between drops the claim as well.
            let end = engine.claims_end();
            if end != self.end {
                (self.rest, self.end) = (Claim::EMPTY, end);
                // What expires is lost, so a taker that takes this seldom makes short claims.
                self.length = self.shortest;
            }
            // Near a limit claims are short.
            let span = self.rest.next_held(engine).inspect_err(|_| self.length = self.shortest)?;
            if let Some(span) = span {
                return Ok(span);
            }
            self.rest = Claim::held(engine, self.length)?;
            self.length = (self.length * 2).min(self.longest);
        }
    }
}

//! [`LocalTaker`]: UIDs that one thread has claimed together.

use std::num::NonZeroU64;

use scopeguard::ScopeGuard;

use crate::engine::TakeError;
use crate::engine::claim::{Claim, ClaimSegment};
use crate::engine::{EXPIRY_STEP, Engine};
use crate::generator::UidGenerator;
use crate::uid::Uid;

/// Claims many UIDs at once for one thread, so that most takes write to no shared memory.
///
/// The UIDs of one taker strictly increase. There is no order between two takers, since each holds
/// a claim. The rest of a claim is lost when the taker drops, and when its ticks become older than
/// [`max_lag`](crate::Builder::max_lag). A thread that takes a UID only now and then should use
/// [`take`](UidGenerator::take). The first claim has 64 UIDs, and each further one twice as many,
/// up to 4,096. So busy takers seldom contend, and a taker loses at most 63 UIDs more than it has
/// handed out.
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
    // The rest of the segment. A loop keeps these two fields in registers, since no reference to
    // them is passed to a function that is not inlined.
    /// The number of the next UID. The last one comes directly before the value that
    /// [`Engine::claims_end`] had before the claim.
    next: u64,
    /// The difference between a UID and its number. The sum may wrap.
    shift: u64,

    // A reference to a field would make the compiler keep the whole taker in memory. Hence a box,
    // and a guard that moves the generator out to drop it.
    claims: Box<Claims>,
    uids: ScopeGuard<UidGenerator, fn(UidGenerator)>,
}

const _: () = assert!(LocalTaker::LONGEST_RUN as u64 <= EXPIRY_STEP);

/// Where the next segments come from.
#[derive(Debug)]
struct Claims {
    /// The rest of the claim: its segments in later blocks.
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
    /// [`with_run_length`](LocalTaker::with_run_length) says otherwise.
    pub const RUN_LENGTH: u32 = 64;

    /// The length to which claims grow, in UIDs, unless
    /// [`with_run_length`](LocalTaker::with_run_length) says otherwise.
    pub const LONGEST_RUN: u32 = 4096;

    pub(crate) fn new(uids: UidGenerator) -> LocalTaker {
        let claims = Claims {
            rest: Claim::EMPTY,
            end: 0,
            length: Self::RUN_LENGTH.into(),
            shortest: Self::RUN_LENGTH.into(),
            longest: Self::LONGEST_RUN.into(),
        };
        let uids = scopeguard::guard(uids, drop as fn(_));
        LocalTaker { next: u64::MAX, shift: 0, claims: Box::new(claims), uids }
    }

    /// The same taker with claims of `length` UIDs each, from the next one on. 0 counts as 1. No
    /// claim is longer than 65,536 UIDs or half a block. Longer claims mean less contention, but
    /// lose more when the taker drops.
    #[must_use]
    pub fn with_run_length(mut self, length: u32) -> LocalTaker {
        let length = u64::from(length).clamp(1, EXPIRY_STEP);
        (self.claims.length, self.claims.shortest, self.claims.longest) = (length, length, length);
        self
    }

    /// Takes the next UID.
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
            return Ok(Uid::new(uid));
        }
        let ClaimSegment { base, from, to } = self.claims.next_segment(engine)?;
        debug_assert!(to - from <= EXPIRY_STEP);
        let (uid, number) = (base | from, self.claims.end - (to - from));
        (self.next, self.shift) = (number + 1, uid.get().wrapping_sub(number));
        Ok(Uid::new(uid))
    }
}

impl Claims {
    #[cold]
    #[inline(never)]
    fn next_segment(&mut self, engine: &Engine) -> Result<ClaimSegment, TakeError> {
        loop {
            // Read before the claim, so that an expiry in between drops the claim as well.
            let end = engine.claims_end();
            if end != self.end {
                (self.rest, self.end) = (Claim::EMPTY, end);
                // What expires is lost, so a taker that takes this seldom makes short claims.
                self.length = self.shortest;
            }
            // Near a limit claims are short.
            let segment =
                self.rest.next_segment(engine).inspect_err(|_| self.length = self.shortest)?;
            if let Some(segment) = segment {
                return Ok(segment);
            }
            self.rest = Claim::new(engine, self.length)?;
            self.length = (self.length * 2).min(self.longest);
        }
    }
}

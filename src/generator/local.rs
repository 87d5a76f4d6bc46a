//! [`LocalTaker`]: a thread's own run of UIDs.

use std::num::NonZeroU64;

use scopeguard::ScopeGuard;

use crate::engine::TakeError;
use crate::engine::claim::{Claim, ClaimSegment};
use crate::engine::{EXPIRY_STEP, Engine};
use crate::generator::UidGenerator;
use crate::uid::Uid;

/// Takes UIDs in runs, for one thread: most takes write to no shared memory.
///
/// Its own UIDs strictly increase. Between two takers there is no order, since each holds a run.
/// The rest of a run is lost when the taker drops, and when its seconds have become old
/// ([`max_lag`](crate::Builder::max_lag)): who takes one UID now and then uses
/// [`take`](UidGenerator::take). A run is 64 UIDs long at first; each is twice as long as the one
/// before, up to 4,096, so that a busy taker seldom meets another, and loses no more than 63 UIDs
/// beyond as many as it has handed out.
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
    // The UIDs at hand. A loop keeps these two in registers, as no reference to them goes out of
    // line.
    /// The number of the next one. They are numbered up to where [`Engine::runs_end`] was before
    /// their claim.
    next: u64,
    /// Added to a number, it gives the UID. The sum may wrap.
    shift: u64,

    // With a reference to a field, the compiler would see all of the taker go out of line. Hence a
    // box, and a guard that moves the generator out to drop it.
    runs: Box<Runs>,
    uids: ScopeGuard<UidGenerator, fn(UidGenerator)>,
}

const _: () = assert!(LocalTaker::LONGEST_RUN as u64 <= EXPIRY_STEP);

/// Where the next UIDs come from.
#[derive(Debug)]
struct Runs {
    /// What the run has beyond the UIDs at hand, in later blocks.
    rest: Claim,
    /// `Engine::runs_end` before the run was claimed.
    end: u64,
    /// Of the next run.
    length: u64,
    shortest: u64,
    longest: u64,
}

impl LocalTaker {
    /// The first run is this long unless [`with_run_length`](LocalTaker::with_run_length) says
    /// otherwise.
    pub const RUN_LENGTH: u32 = 64;

    /// Runs grow to this length unless [`with_run_length`](LocalTaker::with_run_length) says
    /// otherwise.
    pub const LONGEST_RUN: u32 = 4096;

    pub(crate) fn new(uids: UidGenerator) -> LocalTaker {
        let runs = Runs {
            rest: Claim::EMPTY,
            end: 0,
            length: Self::RUN_LENGTH.into(),
            shortest: Self::RUN_LENGTH.into(),
            longest: Self::LONGEST_RUN.into(),
        };
        let uids = scopeguard::guard(uids, drop as fn(_));
        LocalTaker { next: u64::MAX, shift: 0, runs: Box::new(runs), uids }
    }

    /// The same taker with runs of `length` UIDs, all of them, from the next run on; 0 counts as 1,
    /// and no run is longer than 65,536 UIDs, nor than half a second's. A longer run shares less
    /// and loses more when the taker drops.
    #[must_use]
    pub fn with_run_length(mut self, length: u32) -> LocalTaker {
        let length = u64::from(length).clamp(1, EXPIRY_STEP);
        (self.runs.length, self.runs.shortest, self.runs.longest) = (length, length, length);
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
        // The sum is never zero. To see that costs less than to keep the base for an `or`, which
        // could not be.
        if !engine.is_used_up(self.next)
            && let Some(uid) = NonZeroU64::new(self.next.wrapping_add(self.shift))
        {
            self.next += 1;
            return Ok(Uid::new(uid));
        }
        let ClaimSegment { base, from, to } = self.runs.next_segment(engine)?;
        debug_assert!(to - from <= EXPIRY_STEP);
        let (uid, number) = (base | from, self.runs.end - (to - from));
        (self.next, self.shift) = (number + 1, uid.get().wrapping_sub(number));
        Ok(Uid::new(uid))
    }
}

impl Runs {
    #[cold]
    #[inline(never)]
    fn next_segment(&mut self, engine: &Engine) -> Result<ClaimSegment, TakeError> {
        loop {
            // Asked before the claim: what expires in between is dropped as well.
            let end = engine.runs_end();
            if end != self.end {
                (self.rest, self.end) = (Claim::EMPTY, end);
                // What expires is lost, and a taker that takes so seldom loses little.
                self.length = self.shortest;
            }
            // Near a limit a run is short.
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

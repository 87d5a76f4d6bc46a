//! [`LocalTaker`]: a thread's own run of UIDs.

use std::num::NonZeroU64;

use crate::error::TakeError;
use crate::generator::UidGenerator;
use crate::run::{Piece, Run};
use crate::shared::EXPIRY_STEP;
use crate::uid::Uid;

/// Takes UIDs in runs, for one thread: most takes write to no shared memory.
///
/// Its own UIDs strictly increase. Between two takers there is no order, since each holds a run. The rest of a run is
/// lost when the taker drops, and when its seconds have become old ([`max_lag`](crate::Builder::max_lag)): who takes one
/// UID now and then uses [`take`](UidGenerator::take). A run is 64 UIDs long at first; each is twice as long as the one
/// before, up to 4,096, so that a busy taker seldom meets another, and loses no more than 63 UIDs beyond as many as it
/// has handed out.
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
    // The UIDs at hand. No reference to these three goes out of line, so a loop need not load them again.
    /// The base of their block.
    base: NonZeroU64,
    /// The place of the next one in the block.
    next: u64,
    /// For [`Shared::is_used_up`](crate::shared::Shared::is_used_up).
    limit: u64,

    /// In a box: by a reference to a field, the compiler would see all of the taker go out of line.
    runs: Box<Runs>,
}

const _: () = assert!(LocalTaker::LONGEST_RUN as u64 <= EXPIRY_STEP);

/// Where the next UIDs come from.
#[derive(Debug)]
struct Runs {
    /// What the run has beyond the UIDs at hand, in later blocks.
    rest: Run,
    /// `Shared::runs_expired` when the run was claimed.
    claimed_at: u64,
    /// Of the next run.
    length: u64,
    shortest: u64,
    longest: u64,
    uids: UidGenerator,
}

impl LocalTaker {
    /// The first run is this long unless [`with_run_length`](LocalTaker::with_run_length) says otherwise.
    pub const RUN_LENGTH: u32 = 64;

    /// Runs grow to this length unless [`with_run_length`](LocalTaker::with_run_length) says otherwise.
    pub const LONGEST_RUN: u32 = 4096;

    pub(crate) fn new(uids: UidGenerator) -> LocalTaker {
        let runs = Runs {
            rest: Run::EMPTY,
            claimed_at: 0,
            length: Self::RUN_LENGTH.into(),
            shortest: Self::RUN_LENGTH.into(),
            longest: Self::LONGEST_RUN.into(),
            uids,
        };
        LocalTaker { base: NonZeroU64::MIN, next: 0, limit: 0, runs: Box::new(runs) }
    }

    /// The same taker with runs of `length` UIDs, all of them, from the next run on; 0 counts as 1, and
    /// no run is longer than 65,536 UIDs, nor than half a second's. A longer run shares less and loses
    /// more when the taker drops.
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
        if self.runs.uids.shared().is_used_up(self.next, self.limit) {
            let Piece { base, from, to } = self.runs.next_piece()?;
            debug_assert!(to - from <= EXPIRY_STEP);
            (self.base, self.next, self.limit) = (base, from, self.runs.claimed_at.wrapping_add(to));
        }
        let uid = Uid::new(self.base | self.next);
        self.next += 1;
        Ok(uid)
    }
}

impl Runs {
    #[cold]
    #[inline(never)]
    fn next_piece(&mut self) -> Result<Piece, TakeError> {
        let shared = self.uids.shared();
        loop {
            // Asked before the claim: what expires in between is dropped as well.
            let expired = shared.runs_expired();
            if expired != self.claimed_at {
                (self.rest, self.claimed_at) = (Run::EMPTY, expired);
                // What expires is lost, and a taker that takes so seldom loses little.
                self.length = self.shortest;
            }
            if let Some(piece) = self.rest.next_piece(shared)? {
                return Ok(piece);
            }
            self.rest = Run::claim(shared, self.length)?;
            self.length = (self.length * 2).min(self.longest);
        }
    }
}

//! [`LocalTaker`]: a thread's own run of UIDs.

use crate::error::TakeError;
use crate::generator::UidGenerator;
use crate::run::{Piece, Run};
use crate::uid::Uid;

/// Takes UIDs in runs, for one thread: most takes touch no shared memory.
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
    /// The UIDs at hand.
    piece: Piece,
    /// What the run has beyond them, in later blocks.
    rest: Run,
    /// Of the next run.
    run_length: u64,
    shortest_run: u64,
    longest_run: u64,
    /// `Shared::runs_expired` when the run was claimed.
    claimed_at: u64,
    uids: UidGenerator,
}

impl LocalTaker {
    /// The first run is this long unless [`with_run_length`](LocalTaker::with_run_length) says otherwise.
    pub const RUN_LENGTH: u32 = 64;

    /// Runs grow to this length unless [`with_run_length`](LocalTaker::with_run_length) says otherwise.
    pub const LONGEST_RUN: u32 = 4096;

    pub(crate) fn new(uids: UidGenerator) -> LocalTaker {
        LocalTaker {
            piece: Piece::EMPTY,
            rest: Run::EMPTY,
            run_length: Self::RUN_LENGTH.into(),
            shortest_run: Self::RUN_LENGTH.into(),
            longest_run: Self::LONGEST_RUN.into(),
            claimed_at: 0,
            uids,
        }
    }

    /// The same taker with runs of `length` UIDs, all of them, from the next run on; 0 counts as 1, and
    /// no run is longer than half a second's UIDs. A longer run shares less and loses
    /// more when the taker drops.
    #[must_use]
    pub fn with_run_length(self, length: u32) -> LocalTaker {
        let length = length.max(1).into();
        LocalTaker { run_length: length, shortest_run: length, longest_run: length, ..self }
    }

    /// Takes the next UID.
    ///
    /// # Errors
    ///
    /// As [`UidGenerator::take`].
    #[inline]
    pub fn take(&mut self) -> Result<Uid, TakeError> {
        let is_valid = self.uids.shared().runs_expired() == self.claimed_at;
        if is_valid && let Some(uid) = self.piece.pop() {
            return Ok(uid);
        }
        self.take_from_next_piece()
    }

    #[cold]
    #[inline(never)]
    fn take_from_next_piece(&mut self) -> Result<Uid, TakeError> {
        let shared = self.uids.shared();
        loop {
            // Asked before the claim: what expires in between is dropped as well.
            let expired = shared.runs_expired();
            if expired != self.claimed_at {
                (self.piece, self.rest, self.claimed_at) = (Piece::EMPTY, Run::EMPTY, expired);
                // What expires is lost, and a taker that takes so seldom loses little.
                self.run_length = self.shortest_run;
            }
            if let Some(piece) = self.rest.next_piece(shared)? {
                self.piece = piece;
                if let Some(uid) = self.piece.pop() {
                    return Ok(uid);
                }
            }
            self.rest = Run::claim(shared, self.run_length)?;
            self.run_length = (self.run_length * 2).min(self.longest_run);
        }
    }
}

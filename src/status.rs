//! [`Status`]: what a generator is doing.

pub use crate::filler::FillerState;

/// A generator's state at one moment, from [`UidGenerator::status`](crate::UidGenerator::status).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Status {
    /// The worker id in the UIDs.
    pub worker_id: u64,
    /// UIDs in the ring that nobody has taken.
    pub available: u64,
    /// UIDs that nobody will get: their block was overwritten before their taker, stopped in the middle of a take, came
    /// back for them.
    pub lost: u64,
    /// Blocks published by takers that found the ring empty.
    pub refilled_inline: u64,
    /// Blocks published by the filler, with those of the start.
    pub refilled_by_filler: u64,
    /// What the filler thread is doing.
    pub filler: FillerState,
}

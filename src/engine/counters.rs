//! [`Counters`]: statistics, for `status` alone.

use crate::ring::counter::Counter;

/// Counts since the generator was built.
#[derive(Debug, Default)]
pub struct Counters {
    /// Blocks published by takers.
    pub refilled_inline: Counter,
    /// Blocks published by the filler.
    pub refilled_by_filler: Counter,
    /// Worker ids taken on after the first.
    pub new_workers: Counter,
}

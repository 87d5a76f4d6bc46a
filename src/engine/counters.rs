//! [`Counters`]: statistics that only `status` reads.

use crate::ring::counter::Counter;

/// Statistics since the generator was built.
#[derive(Debug, Default)]
pub struct Counters {
    /// Blocks published by takers.
    pub refilled_inline: Counter,
    /// Blocks published by the filler.
    pub refilled_by_filler: Counter,
    /// Takes that waited, once for each time.
    pub waits: Counter,
    /// How often the clock was seen to have gone back.
    pub clock_steps: Counter,
    /// Worker ids taken on after the first one.
    pub new_workers: Counter,
}

//! How a registry gives worker ids.

use std::ops::RangeInclusive;
use std::time::Duration;

/// How a registry gives worker ids.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    /// How long a lease lasts; `None` for permanent ids.
    pub lease: Option<Duration>,
    /// The part of the ids with this index, and the number of parts.
    pub partition: Option<(u64, u64)>,
    /// The only ids that are given.
    pub worker_ids: Option<RangeInclusive<u64>>,
    /// The ids come from `UidGenerator`'s table `WORKER_NODE`, to which the terms above do not
    /// apply.
    pub uid_generator: bool,
}

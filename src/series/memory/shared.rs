//! [`Shared`], what all series of a store share in a process.

use std::time::SystemTime;

use super::series_cache::SeriesCache;
use crate::clock::{Clock, saturated, unix_ms};
use crate::engine::TakeError;
use crate::segment::Segments;
use crate::series::error::SeriesError;
use crate::sync::Arc;

/// What all series of a store share.
pub(crate) struct Shared {
    pub cache: Arc<SeriesCache>,
    pub segments: Segments,
    pub clock: Arc<dyn Clock>,
}

impl Shared {
    /// Fails after a shutdown, and as [`check_fork`](Shared::check_fork) does.
    pub fn check_end(&self) -> Result<(), SeriesError> {
        self.check_fork()?;
        if self.segments.has_ended() { Err(TakeError::ShutDown.into()) } else { Ok(()) }
    }

    /// Fails in a forked process, where the store's connections belong to the parent, and where
    /// another thread of it may have held a lock.
    pub fn check_fork(&self) -> Result<(), SeriesError> {
        if self.segments.is_forked() { Err(TakeError::Forked.into()) } else { Ok(()) }
    }

    /// The time, in milliseconds since 1970.
    pub fn now_ms(&self) -> i64 {
        in_ms(self.clock.now())
    }
}

/// Milliseconds since 1970.
pub fn in_ms(time: SystemTime) -> i64 {
    saturated(unix_ms(time))
}

//! A counter with one writer, and counts as floats.

use std::sync::atomic::{AtomicU64, Ordering};

/// A counter that one thread writes and others read.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self, count: u64) {
        // ORDERING: a statistic. There is one writer, so no addition is lost.
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(count), Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        // ORDERING: a statistic.
        self.0.load(Ordering::Relaxed)
    }
}

/// A count for rates, charts and metrics, which show 53 bits of it at most.
#[allow(clippy::cast_precision_loss)]
pub(crate) fn float(count: u64) -> f64 {
    count as f64
}

//! [`Counter`]: a number for statistics.

use crate::sync::{AtomicU64, Ordering};

/// A number on which no other state depends.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    pub fn add(&self, count: u64) {
        // ORDERING: a statistic.
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    /// Takes back what was added.
    pub fn take_back(&self, count: u64) {
        // ORDERING: a statistic.
        self.0.fetch_sub(count, Ordering::Relaxed);
    }

    pub fn get(&self) -> u64 {
        // ORDERING: a statistic.
        self.0.load(Ordering::Relaxed)
    }
}

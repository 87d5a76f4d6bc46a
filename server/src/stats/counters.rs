//! What each thread has done. A thread writes its own counters alone, so no cache line is shared.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::stats::requests::Requests;

/// A counter that one thread writes and others read.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self, count: u64) {
        // ORDERING: a statistic. One thread writes it, so no addition is lost.
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(count), Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        // ORDERING: a statistic.
        self.0.load(Ordering::Relaxed)
    }
}

/// The counters of one thread.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Counters {
    pub(crate) requests: Requests,
    /// UIDs of time, snowflakes included.
    pub(crate) uids: Counter,
    /// Dense numbers, one by one.
    pub(crate) numbers: Counter,
    /// Segments that went to clients, and the numbers in them.
    pub(crate) segments: Counter,
    pub(crate) numbers_in_segments: Counter,
    pub(crate) connections: Counter,
    /// Connections that were turned away at the limit.
    pub(crate) turned_away: Counter,
}

impl Counters {
    /// A segment of `count` numbers went to a client.
    pub(crate) fn segment(&self, count: u64) {
        self.segments.add(1);
        self.numbers_in_segments.add(count);
    }
}

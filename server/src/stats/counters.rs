//! What each thread has done. A thread writes its own counters alone, so no cache line is shared.

use crate::stats::counter::Counter;
use crate::stats::requests::Requests;

/// The counters of one thread.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Counters {
    pub(crate) requests: Requests,
    /// Time-ordered ids, snowflakes included.
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

/// What all threads have counted.
pub(crate) fn sum(threads: &[Counters], of: fn(&Counters) -> &Counter) -> u64 {
    threads.iter().map(|thread| of(thread).get()).fold(0, u64::wrapping_add)
}

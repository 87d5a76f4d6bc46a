//! The counters of each thread. Only the thread itself writes them, so no cache line is contended.

use crate::stats::counter::Counter;
use crate::stats::requests::Requests;

/// The counters of one thread.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Counters {
    pub(crate) requests: Requests,
    /// Time-ordered ids, snowflakes included.
    pub(crate) uids: Counter,
    /// Dense numbers that were handed out one by one.
    pub(crate) numbers: Counter,
    /// Numbers of series.
    pub(crate) series_numbers: Counter,
    /// Segments handed to clients, and the numbers in them.
    pub(crate) segments: Counter,
    pub(crate) numbers_in_segments: Counter,
    /// Worker ids that were lent, renewed and returned.
    pub(crate) worker_ids: Counter,
    pub(crate) renewals: Counter,
    pub(crate) returns: Counter,
    pub(crate) connections: Counter,
    /// Connections of the Redis protocol.
    pub(crate) resp_connections: Counter,
    /// Connections closed because of the limit.
    pub(crate) turned_away: Counter,
}

impl Counters {
    /// Records a segment of `count` numbers that was handed to a client.
    pub(crate) fn segment(&self, count: u64) {
        self.segments.add(1);
        self.numbers_in_segments.add(count);
    }
}

/// The sum of one counter over all threads.
pub(crate) fn sum(threads: &[Counters], of: fn(&Counters) -> &Counter) -> u64 {
    threads.iter().map(|thread| of(thread).get()).fold(0, u64::wrapping_add)
}

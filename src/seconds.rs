//! Which second may be handed out next. Pure arithmetic on bases.
//!
//! A *base* is the first UID of one worker's second as a plain number: time and worker in their places, sequence
//! 0. Bases of one worker compare as their seconds do, which lets one word say "this worker, up to this second".

use crate::layout::Layout;

/// The arithmetic of one layout's bases.
#[derive(Clone, Copy, Debug)]
pub struct Seconds {
    /// From one second's base to the next.
    stride: u64,
    /// The bits of the worker field.
    worker_mask: u64,
}

/// The seconds that may be published now, as two bases of one worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// No earlier second is published: the clock has passed it.
    pub first: u64,
    /// No later second is published.
    pub last: u64,
}

impl Seconds {
    pub fn new(layout: &Layout) -> Seconds {
        Seconds { stride: 1 << layout.time_shift(), worker_mask: layout.max_worker() << layout.sequence_bits() }
    }

    /// The base of `worker`'s second `tick`. Both fit the layout.
    pub fn base(&self, tick: u64, worker: u64) -> u64 {
        (tick * self.stride) | (worker << self.worker_mask.trailing_zeros())
    }

    /// The second of a base.
    pub fn tick(&self, base: u64) -> u64 {
        base / self.stride
    }

    /// The base to publish after `previous`: `max(previous + 1, now)`, or the first of a worker that has just
    /// been taken on. `None` when that lies beyond the window.
    pub fn next(&self, previous: u64, window: Window) -> Option<u64> {
        let Window { first, last } = window;
        let next = if self.same_worker(last, previous) {
            let following = previous + self.stride;
            // While another worker is being taken on, `first` is its, and says nothing about this one.
            if self.same_worker(last, first) { following.max(first) } else { following }
        } else if self.same_worker(last, first) {
            first
        } else {
            return None;
        };
        (next <= last).then_some(next)
    }

    fn same_worker(&self, a: u64, b: u64) -> bool {
        (a ^ b) & self.worker_mask == 0
    }
}

//! [`TickCodec`]: bases from ticks and workers, and back; [`Window`]: the ticks that may be
//! published.
//!
//! A *base* is the first UID of one worker's tick as a plain number: time and worker in their
//! places, sequence 0. Bases of one worker compare as their ticks do, so a single word can say
//! "this worker, up to this tick".

use crate::layout::Layout;

/// Converts between ticks and bases of one layout.
#[derive(Clone, Copy, Debug)]
pub struct TickCodec {
    /// The distance from one tick's base to the next.
    stride: u64,
    /// The bits of the worker field.
    worker_mask: u64,
}

/// The ticks of one lease that may be published now. Each is told by its base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The first tick that may be published. Earlier ones are stale, or belong to another lease.
    pub first: u64,
    /// The last tick that may be published.
    pub last: u64,
    /// The last tick of the lease: `last` is never moved past it.
    pub reserved: u64,
}

impl TickCodec {
    pub fn new(layout: &Layout) -> TickCodec {
        TickCodec {
            stride: 1 << layout.time_shift(),
            worker_mask: layout.max_worker() << layout.sequence_bits(),
        }
    }

    /// The distance from one tick's base to the next, a power of two.
    #[inline]
    pub fn stride(&self) -> u64 {
        self.stride
    }

    /// The base of `tick` for `worker`. The caller has checked that both fit the layout.
    pub fn base_at(&self, tick: u64, worker: u64) -> u64 {
        (tick * self.stride) | (worker << self.worker_mask.trailing_zeros())
    }

    /// The tick of `base`.
    pub fn tick_of(&self, base: u64) -> u64 {
        base / self.stride
    }

    /// The worker of `base`.
    pub fn worker_of(&self, base: u64) -> u64 {
        (base & self.worker_mask) >> self.worker_mask.trailing_zeros()
    }

    /// The base to publish after `previous`: one tick later, or the first of the window if that is
    /// later still or belongs to another worker. `None` if it lies beyond the window.
    pub fn next(&self, previous: u64, window: Window) -> Option<u64> {
        let next = self.following(previous, window);
        (next <= window.last).then_some(next)
    }

    /// Like `next`, but also beyond the window.
    pub fn following(&self, previous: u64, window: Window) -> u64 {
        if self.same_worker(window.first, previous) {
            window.first.max(previous + self.stride)
        } else {
            window.first
        }
    }

    /// Whether `base` lies beyond the window that ends with `last`. A base of another worker never
    /// does: it was published before this worker was taken on.
    pub fn is_beyond(&self, base: u64, last: u64) -> bool {
        self.same_worker(base, last) && base > last
    }

    fn same_worker(&self, a: u64, b: u64) -> bool {
        (a ^ b) & self.worker_mask == 0
    }
}

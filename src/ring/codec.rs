//! Which second may be handed out next. Pure arithmetic, given what the clock shows.
//!
//! A *base* is the first UID of one worker's second as a plain number: time and worker in their
//! places, sequence
//! 0. Bases of one worker compare as their seconds do, which lets one word say "this worker, up to
//!    this second".
//!
//! ```text
//!                   lag ◀──────┤ now ├──────▶ lead
//!  ───────┼─────────┼──────────┼─────────────────────────┼────────▶ seconds
//!      stale     max_lag     fresh                   max_lead
//!   never handed   │           │  where a refill begins    │  what nobody publishes
//!       out        └───────────┴── handed out ─────────────┘
//! ```

use crate::layout::Layout;

/// The arithmetic of one layout's bases.
#[derive(Clone, Copy, Debug)]
pub struct TickCodec {
    /// From one second's base to the next.
    stride: u64,
    /// The bits of the worker field.
    worker_mask: u64,
}

/// The seconds of one lease that may be published now, as bases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// No earlier second is published: the clock has passed it, or it was another's.
    pub first: u64,
    /// No later second is published.
    pub last: u64,
    /// As far as `last` may be moved: the last second of the lease.
    pub reserved: u64,
}

impl TickCodec {
    pub fn new(layout: &Layout) -> TickCodec {
        TickCodec {
            stride: 1 << layout.time_shift(),
            worker_mask: layout.max_worker() << layout.sequence_bits(),
        }
    }

    /// From one second's base to the next: a power of two.
    #[inline]
    pub fn stride(&self) -> u64 {
        self.stride
    }

    /// The base of `worker`'s second `tick`. Both fit the layout.
    pub fn base(&self, tick: u64, worker: u64) -> u64 {
        (tick * self.stride) | (worker << self.worker_mask.trailing_zeros())
    }

    /// The second of a base.
    pub fn tick(&self, base: u64) -> u64 {
        base / self.stride
    }

    /// The worker of a base.
    pub fn worker(&self, base: u64) -> u64 {
        (base & self.worker_mask) >> self.worker_mask.trailing_zeros()
    }

    /// The base to publish after `previous`: `max(previous + 1, now)`, or the first of a worker
    /// that has just been taken on. `None` when that lies beyond the window.
    pub fn next(&self, previous: u64, window: Window) -> Option<u64> {
        let next = self.following(previous, window);
        (next <= window.last).then_some(next)
    }

    /// As `next`, also beyond the window.
    pub fn following(&self, previous: u64, window: Window) -> u64 {
        if self.same_worker(window.first, previous) {
            window.first.max(previous + self.stride)
        } else {
            window.first
        }
    }

    /// Whether `base` lies beyond the window that ends with `last`. A base of another worker does
    /// not: it was published before this one was taken on.
    pub fn is_beyond(&self, base: u64, last: u64) -> bool {
        self.same_worker(base, last) && base > last
    }

    fn same_worker(&self, a: u64, b: u64) -> bool {
        (a ^ b) & self.worker_mask == 0
    }
}

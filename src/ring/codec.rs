//! [`TickCodec`]: bases from ticks and workers, and back.
//!
//! A *base* is the first UID of one worker's tick as a plain number: time and worker in their
//! fields, sequence 0. Bases of one worker compare as their ticks do, so a single word can say
//! "this worker, up to this tick".

use crate::layout::{FieldOrder, Layout};

/// Converts between ticks and bases of one layout.
#[derive(Clone, Copy, Debug)]
pub struct TickCodec {
    /// The distance from one tick's base to the next.
    stride: u64,
    /// The bits of the time field, and those above it if it is on top: there the tick after the
    /// last one has its highest bit.
    time_mask: u64,
    /// The bits of the worker field.
    worker_mask: u64,
}

impl TickCodec {
    pub fn new(layout: &Layout) -> TickCodec {
        let last_tick = match layout.order() {
            FieldOrder::TimeFirst => u64::MAX,
            FieldOrder::WorkerFirst => layout.max_tick(),
        };
        TickCodec {
            stride: 1 << layout.time_shift(),
            time_mask: last_tick << layout.time_shift(),
            worker_mask: layout.max_worker() << layout.worker_shift(),
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

    /// The base of `tick` for the worker of `other`. The caller has checked that the tick fits.
    pub fn base_beside(&self, tick: u64, other: u64) -> u64 {
        (tick * self.stride) | (other & self.worker_mask)
    }

    /// The tick of `base`.
    pub fn tick_of(&self, base: u64) -> u64 {
        (base & self.time_mask) >> self.stride.trailing_zeros()
    }

    /// The worker of `base`.
    pub fn worker_of(&self, base: u64) -> u64 {
        (base & self.worker_mask) >> self.worker_mask.trailing_zeros()
    }

    /// Whether `base` lies beyond the window that ends with `last_base`. A base of another worker
    /// never does: it was published before this worker was taken on.
    pub fn is_beyond(&self, base: u64, last_base: u64) -> bool {
        self.same_worker(base, last_base) && base > last_base
    }

    /// Whether both bases are of one worker.
    pub fn same_worker(&self, a: u64, b: u64) -> bool {
        (a ^ b) & self.worker_mask == 0
    }
}

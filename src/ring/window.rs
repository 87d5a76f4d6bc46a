//! [`Window`]: the ticks that may be published; [`SharedWindow`]: the window of the lease in use,
//! which the filler moves while takers read it.
//!
//! A window is three words, so a taker may read a mixture of two windows. They must never be of two
//! leases. Therefore the shared window is a double buffer, and readers check afterwards that the
//! lease in use is still the same. docs/design/publishing.md has a picture and the reasons.

use crate::ring::codec::TickCodec;
use crate::sync::{AtomicU64, Ordering};

/// The ticks of one lease that may be published now, each as the base of its block.
// Elsewhere such numbers are ticks, so the names say that these are bases.
#[allow(clippy::struct_field_names)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The first tick that may be published. Earlier ones are stale, or belong to another lease.
    pub first_base: u64,
    /// The last tick that may be published.
    pub last_base: u64,
    /// The last reserved tick of the lease: `last_base` is never moved past it.
    pub reserved_base: u64,
}

impl Window {
    /// The base to publish after `previous`: one tick later, or the first of the window if that is
    /// later still or belongs to another worker. `None` if it lies beyond the window.
    pub fn next_base(&self, previous: u64, codec: &TickCodec) -> Option<u64> {
        let next = self.following_base(previous, codec);
        (next <= self.last_base).then_some(next)
    }

    /// Like [`next_base`](Window::next_base), but also beyond the window.
    pub fn following_base(&self, previous: u64, codec: &TickCodec) -> u64 {
        if codec.same_worker(self.first_base, previous) {
            self.first_base.max(previous + codec.stride())
        } else {
            self.first_base
        }
    }
}

/// The window of the lease in use.
#[derive(Debug)]
pub struct SharedWindow {
    /// How often another lease has been taken on. Written by the filler.
    takeovers: AtomicU64,
    /// After `n` takeovers, the lease in use has buffer `n % 2`.
    buffers: [Buffer; 2],
}

/// The words of one [`Window`], which are bases.
#[derive(Debug)]
struct Buffer {
    /// Written by the filler.
    first: AtomicU64,
    /// Written by the filler, and by takers that extend the window.
    last: AtomicU64,
    /// Written by the filler.
    reserved: AtomicU64,
}

impl SharedWindow {
    pub fn new(window: Window) -> SharedWindow {
        SharedWindow {
            takeovers: AtomicU64::new(0),
            buffers: [Buffer::new(window), Buffer::new(window)],
        }
    }

    /// What may be published. Lock-free: it reads again only if another lease has been taken on
    /// meanwhile.
    pub fn get(&self) -> Window {
        self.read_current().1
    }

    /// `Window::last_base` alone. A single word cannot be a mixture.
    pub fn last_base(&self) -> u64 {
        // ORDERING: as in `read_current`; a word of a later lease is a valid answer too.
        self.buffer(self.takeovers.load(Ordering::Acquire)).last.load(Ordering::Acquire)
    }

    /// Changes what may be published of the lease in use. Called only by the filler.
    pub fn set(&self, window: Window) {
        // ORDERING: written by the filler alone.
        self.buffer(self.takeovers.load(Ordering::Relaxed)).write(window);
    }

    /// Takes on another lease. Called only by the filler.
    pub fn take_on(&self, window: Window) {
        // ORDERING: written by the filler alone.
        let next = self.takeovers.load(Ordering::Relaxed) + 1;
        self.buffer(next).write(window);
        // ORDERING: Release, see `read_current`.
        self.takeovers.store(next, Ordering::Release);
    }

    /// Extends the window up to `last_tick`, at most to the end of the lease. Does nothing if the
    /// window does not end earlier, or if another thread moves its end meanwhile. Called by takers.
    pub fn extend(&self, last_tick: u64, codec: &TickCodec) {
        let (buffer, seen) = self.read_current();
        let worker = codec.worker_of(seen.last_base);
        let last_base = codec.base_at(last_tick, worker).min(seen.reserved_base);
        if last_base > seen.last_base {
            // ORDERING: Release, as in `Buffer::write`. By now the buffer may belong to the lease
            // after the next one. If its window ends with exactly this tick, it has the same
            // worker id, and it is empty, because that lease begins after the end of this one. It
            // stays empty.
            let _ = buffer.last.compare_exchange(
                seen.last_base,
                last_base,
                Ordering::AcqRel,
                Ordering::Relaxed,
            );
        }
    }

    /// The buffer of the lease in use, and its window.
    fn read_current(&self) -> (&Buffer, Window) {
        loop {
            // ORDERING: pairs with `take_on`: a thread that sees the number sees the window written
            // before it.
            let takeovers = self.takeovers.load(Ordering::Acquire);
            let buffer = self.buffer(takeovers);
            let window = buffer.read();
            // ORDERING: the loads of `read` keep this one after them. A thread that has read a word
            // of a later lease sees that the number has changed.
            if self.takeovers.load(Ordering::Relaxed) == takeovers {
                return (buffer, window);
            }
        }
    }

    fn buffer(&self, takeovers: u64) -> &Buffer {
        &self.buffers[usize::from(takeovers % 2 == 1)]
    }
}

impl Buffer {
    fn new(window: Window) -> Buffer {
        let [first, last, reserved] =
            [window.first_base, window.last_base, window.reserved_base].map(AtomicU64::new);
        Buffer { first, last, reserved }
    }

    fn read(&self) -> Window {
        // ORDERING: pairs with `write`. A thread that sees `first` sees the `last` written before
        // it, so a mixture of two windows is empty only if one of them is.
        let first_base = self.first.load(Ordering::Acquire);
        let last_base = self.last.load(Ordering::Acquire);
        let reserved_base = self.reserved.load(Ordering::Acquire);
        Window { first_base, last_base, reserved_base }
    }

    fn write(&self, window: Window) {
        // ORDERING: Release, for `read` and `read_current`.
        self.reserved.store(window.reserved_base, Ordering::Release);
        self.last.store(window.last_base, Ordering::Release);
        self.first.store(window.first_base, Ordering::Release);
    }
}

//! The shared window: what may be published, moved by the filler while takers read it.
//!
//! ```text
//!   leases = 7 ──────────────────────────────┐
//!                                            ▼
//!   buffers     0: worker 3, 09:00 to 09:05     1: worker 3, 11:20 to 11:25
//!               lease 6, no longer in use,      lease 7, in use
//!               or lease 8, about to be
//! ```
//!
//! A window is three words. Takers never wait for a filler that has stopped between two of them, so
//! they may read a mixture of two windows. If both windows are of one lease, the mixture does no
//! harm, since all ticks of the lease belong to this generator. A mixture of two leases could: if
//! both have the same worker id, another generator may have had the ticks between them. Therefore
//! this is a double buffer, and readers check afterwards that the lease in use is still the same.

use crate::ring::codec::{TickCodec, Window};
use crate::sync::{AtomicU64, Ordering};

/// The window of the lease in use.
#[derive(Debug)]
pub struct SharedWindow {
    /// How many leases have been taken on after the first one. Written by the filler.
    leases: AtomicU64,
    /// Lease `n` uses buffer `n % 2`.
    buffers: [Buffer; 2],
}

/// The words of one [`Window`].
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
            leases: AtomicU64::new(0),
            buffers: [Buffer::new(window), Buffer::new(window)],
        }
    }

    /// What may be published. Lock-free: it reads again only if another lease has been taken on
    /// meanwhile.
    pub fn get(&self) -> Window {
        self.read_current().1
    }

    /// `Window::last` alone. A single word cannot be a mixture.
    pub fn last(&self) -> u64 {
        // ORDERING: as in `read_current`; a word of a later lease is a valid answer too.
        self.buffer(self.leases.load(Ordering::Acquire)).last.load(Ordering::Acquire)
    }

    /// Changes what may be published of the lease in use. Called only by the filler.
    pub fn set(&self, window: Window) {
        // ORDERING: written by the filler alone.
        self.buffer(self.leases.load(Ordering::Relaxed)).write(window);
    }

    /// Takes on another lease. Called only by the filler.
    pub fn take_on(&self, window: Window) {
        // ORDERING: written by the filler alone.
        let next = self.leases.load(Ordering::Relaxed) + 1;
        self.buffer(next).write(window);
        // ORDERING: Release, see `read_current`.
        self.leases.store(next, Ordering::Release);
    }

    /// Extends the window up to the tick `last`, at most to the end of the lease. Does nothing if
    /// the window does not end earlier, or if another thread moves its end meanwhile. Called by
    /// takers.
    pub fn extend(&self, last: u64, codec: &TickCodec) {
        let (buffer, seen) = self.read_current();
        let last = codec.base_at(last, codec.worker_of(seen.last)).min(seen.reserved);
        if last > seen.last {
            // ORDERING: Release, as in `Buffer::write`. By now the buffer may belong to the lease
            // after the next one. If its window ends with exactly this tick, it has the same
            // worker id, and it is empty, because that lease begins after the end of this one. It
            // stays empty.
            let _ =
                buffer.last.compare_exchange(seen.last, last, Ordering::AcqRel, Ordering::Relaxed);
        }
    }

    /// The buffer of the lease in use, and its window.
    fn read_current(&self) -> (&Buffer, Window) {
        loop {
            // ORDERING: pairs with `take_on`: a thread that sees the number sees the window written
            // before it.
            let lease = self.leases.load(Ordering::Acquire);
            let buffer = self.buffer(lease);
            let window = buffer.read();
            // ORDERING: the loads of `read` keep this one after them. A thread that has read a word
            // of a later lease sees that the number has changed.
            if self.leases.load(Ordering::Relaxed) == lease {
                return (buffer, window);
            }
        }
    }

    fn buffer(&self, lease: u64) -> &Buffer {
        &self.buffers[usize::from(lease % 2 == 1)]
    }
}

impl Buffer {
    fn new(window: Window) -> Buffer {
        let [first, last, reserved] =
            [window.first, window.last, window.reserved].map(AtomicU64::new);
        Buffer { first, last, reserved }
    }

    fn read(&self) -> Window {
        // ORDERING: pairs with `write`. A thread that sees `first` sees the `last` written before
        // it, so a mixture of two windows is empty only if one of them is.
        let first = self.first.load(Ordering::Acquire);
        let last = self.last.load(Ordering::Acquire);
        Window { first, last, reserved: self.reserved.load(Ordering::Acquire) }
    }

    fn write(&self, window: Window) {
        // ORDERING: Release, for `read` and `read_current`.
        self.reserved.store(window.reserved, Ordering::Release);
        self.last.store(window.last, Ordering::Release);
        self.first.store(window.first, Ordering::Release);
    }
}

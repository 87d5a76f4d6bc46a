//! What may be published, while the filler moves it and takers read it.
//!
//! ```text
//!   leases = 7 ──────────────────────────────┐
//!                                            ▼
//!   panes       0: worker 3, 09:00 to 09:05     1: worker 3, 11:20 to 11:25
//!               lease 6, left, or lease 8,      lease 7, in use
//!               not taken on yet
//! ```
//!
//! A window is three words, and takers never wait for a filler that stopped between two of them. So
//! they may read a mixture. A mixture of one lease's windows does no harm: all its seconds are the
//! generator's. One of two leases' would: if both are of the same worker id, another generator may
//! have had the seconds between them. Hence two panes, and a second look at whose turn it is.

use crate::ring::codec::{TickCodec, Window};
use crate::sync::{AtomicU64, Ordering};

/// The window of the lease in use.
#[derive(Debug)]
pub struct SharedWindow {
    /// How many leases have been taken on since the first. Written by the filler.
    leases: AtomicU64,
    /// Lease `n` is in pane `n % 2`.
    buffers: [Buffer; 2],
}

/// A [`Window`].
#[derive(Debug)]
struct Buffer {
    /// Written by the filler.
    first: AtomicU64,
    /// Written by the filler, and by takers that move it on.
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

    /// What may be published. Lock-free: it looks again only if another lease has been taken on
    /// meanwhile.
    pub fn get(&self) -> Window {
        self.look_through().1
    }

    /// `Window::last` by itself, which is no mixture.
    pub fn last(&self) -> u64 {
        // ORDERING: as in `look_through`; a word of a later lease says what may be published as
        // well.
        self.buffer(self.leases.load(Ordering::Acquire)).last.load(Ordering::Acquire)
    }

    /// Changes what may be published of the lease in use. For the filler alone.
    pub fn set(&self, window: Window) {
        // ORDERING: written by the filler alone.
        self.buffer(self.leases.load(Ordering::Relaxed)).write(window);
    }

    /// Goes on with another lease. For the filler alone.
    pub fn take_on(&self, window: Window) {
        // ORDERING: written by the filler alone.
        let next = self.leases.load(Ordering::Relaxed) + 1;
        self.buffer(next).write(window);
        // ORDERING: Release, see `look_through`.
        self.leases.store(next, Ordering::Release);
    }

    /// Moves the end of the window to the second `last`, or to what is reserved, if that is later
    /// and nobody else moves it. For takers.
    pub fn extend(&self, last: u64, codec: &TickCodec) {
        let (buffer, seen) = self.look_through();
        let last = codec.base(last, codec.worker(seen.last)).min(seen.reserved);
        if last > seen.last {
            // ORDERING: Release, as in `Pane::write`. By now the pane may be that of the lease
            // after the next. If its window ends in just this second, it is of the same worker id;
            // it is empty, as that lease begins behind what was reserved of this one; and so it
            // stays.
            let _ =
                buffer.last.compare_exchange(seen.last, last, Ordering::AcqRel, Ordering::Relaxed);
        }
    }

    /// The pane of the lease in use, and what is in it.
    fn look_through(&self) -> (&Buffer, Window) {
        loop {
            // ORDERING: pairs with `take_on`: with the number comes the window that was written
            // before it.
            let lease = self.leases.load(Ordering::Acquire);
            let buffer = self.buffer(lease);
            let window = buffer.read();
            // ORDERING: the loads of `read` keep this one behind them. Who read a word of a later
            // lease sees that its turn has come.
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
        // ORDERING: pairs with `write`. With the first second comes the last one that was written
        // before it, so that a mixture of two windows is empty only if one of them is.
        let first = self.first.load(Ordering::Acquire);
        let last = self.last.load(Ordering::Acquire);
        Window { first, last, reserved: self.reserved.load(Ordering::Acquire) }
    }

    fn write(&self, window: Window) {
        // ORDERING: Release, for `read` and `look_through`.
        self.reserved.store(window.reserved, Ordering::Release);
        self.last.store(window.last, Ordering::Release);
        self.first.store(window.first, Ordering::Release);
    }
}
